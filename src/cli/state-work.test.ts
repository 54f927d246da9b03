import { expect, test } from "vitest";
import type { Call } from "../api/client.ts";
import type { ChangeView } from "../api/tasks.ts";
import type { Context } from "./context.ts";
import { awaitWork, tellWork } from "./state-work.ts";

const doing = { id: "k2m4p", project: "coffee", number: 1, status: "merge", phase: "doing", held: null, needs: [] };
const change = { entry: 3, from: "merge", task: doing } as unknown as ChangeView;

/** A daemon that shows the task in these ways, one after the other, and the last one from then on. */
function daemon(seen: readonly object[], worked: object = { word: "ok", reason: "" }): Call {
  let asked = 0;
  const call = async (
    { name }: { readonly name: string },
    { query }: { readonly query: { readonly after?: string } },
  ) => {
    if (name === "getTask") return seen[Math.min(asked++, seen.length - 1)];
    const event = (position: number, type: string, data: object) => ({ position, type, data, by: "engine" });
    const events = [
      event(1, "task.worked", { word: "conflict", reason: "An earlier try." }),
      event(2, "task.approved", {}),
      event(3, "task.worked", worked),
    ];
    return { events: query.after === "0" ? events : [], last: 3 };
  };
  return call as unknown as Call;
}

const at = (task: object, entry = 3) => ({ task: { ...doing, ...task }, entry });

test("an approval waits for the workflow's merge, and ends well only if the work of the state did", async () => {
  const done = at({ status: "done", phase: "over" }, 4);
  expect(await awaitWork(daemon([at({}), at({}), done]), change)).toMatchObject({
    ...{ word: "ok", task: { status: "done" } },
  });
  const back = at({ status: "review", phase: "waiting" }, 4);
  const unreviewed = { word: "unreviewed", reason: "Nobody has reviewed it." };
  expect(await awaitWork(daemon([at({}), back], unreviewed), change)).toMatchObject(unreviewed);
  const held = { reason: "It conflicts.", word: "conflict", again: "do" };
  expect(await awaitWork(daemon([at({}), at({ phase: "waiting", held })]), change)).toMatchObject({
    ...{ word: "conflict", reason: "It conflicts." },
  });
});

test("an approval does not wait for ever for a merge that waits for a file of the person's", async () => {
  const needs = [{ reason: "merge", text: "It waits to be merged." }];
  expect(await awaitWork(daemon([at({ needs })]), change)).toMatchObject({
    ...{ word: "waits", reason: "It waits to be merged." },
  });
});

test("the end of the workflow's merge is told with where the task is", () => {
  const told = (word: string, isMerged = false) => {
    const lines: string[] = [];
    const plain = new Proxy({}, { get: () => String });
    const print = (line: string) => lines.push(line);
    const context = { print, say: print, paint: plain, talkPaint: plain } as unknown as Context;
    tellWork(context, "merge", { word, reason: "Why.", isMerged, task: { ...doing, status: "done" } as never });
    return lines;
  };
  expect(told("ok")).toEqual(["merge → done"]);
  expect(told("waits")[0]).toBe("Not merged yet. Why.");
  expect(told("promise", true)[0]).toBe("Merged, but the task has not moved on. Why.");
  expect(told("conflict")).toEqual([
    "Not merged. Why.",
    "coffee#1 is in done. To see what can be done: signalbox task explain k2m4p",
  ]);
});
