import { expect, test } from "vitest";
import { createClient } from "../api/client.ts";
import { daemonGone } from "../api/socket-request.ts";
import type { EventView } from "../api/tasks.ts";
import { commentTask, moveTask } from "./unanswered-requests.ts";

const named = { params: { task: "t1" }, query: {} };

/** A daemon with this history, which ends before it answers a request that changes something. */
function begin(history: readonly Partial<EventView>[]) {
  const sent: unknown[] = [];
  const call = createClient(async ({ method, path, body }) => {
    if (method !== "GET") {
      sent.push(JSON.parse(body ?? ""));
      if (sent.length > 5) throw new Error("It is sent without end.");
      throw daemonGone();
    }
    const events = history.map((event, place) => ({ position: place + 1, task: "t1", ...event }));
    const { searchParams } = new URL(path, "http://daemon");
    const page = searchParams.has("task") ? events.slice(Number(searchParams.get("after") ?? 0)) : [];
    const answer = path.includes("/events")
      ? { events: page, last: events.length }
      : { task: { id: "t1" }, entry: 3, effects: [] };
    return { status: 200, headers: {}, body: JSON.stringify(answer) } as never;
  });
  return { call, sent };
}

const at = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();
const lost = { message: expect.stringContaining("The daemon ended before it answered.") };

test("a request that no history shows is sent twice, and not more often", async () => {
  const { call, sent } = begin([]);
  await expect(moveTask(call, named, { to: "done" })).rejects.toMatchObject(lost);
  expect(sent).toEqual([{ to: "done" }, { to: "done" }]);
});

test("the same comment that was made before is not taken for this one", async () => {
  const { call, sent } = begin([{ type: "task.commented", data: { text: "It is bitter." }, at: at(-60_000) }]);
  await expect(commentTask(call, named, "It is bitter.")).rejects.toMatchObject(lost);
  expect(sent).toHaveLength(2);
});

test("a move that was sent before is looked for before it is sent again", async () => {
  const data = { from: "busy", to: "done", cause: "asked" };
  const { call, sent } = begin([{ type: "task.moved", by: "human", data, at: at(-1_000) }]);
  expect(await moveTask(call, named, { to: "done" }, Date.now() - 5_000)).toMatchObject({
    kind: "moved",
    from: "busy",
  });
  expect(sent).toEqual([]);
});

test("a move of the engine to the same state is not taken for the person's", async () => {
  const data = { from: "busy", to: "done", cause: "next" };
  const { call, sent } = begin([{ type: "task.moved", by: "engine", data, at: at(60_000) }]);
  await expect(moveTask(call, named, { to: "done" })).rejects.toMatchObject(lost);
  expect(sent).toHaveLength(2);
});
