import { expect, test, vi } from "vitest";
import { row, stateWith } from "../../test/tui/sample.ts";
import { createClient } from "../api/client.ts";
import type { TaskRow } from "../api/task-lists.ts";
import { createFeed } from "./feed.ts";
import type { FeedListener } from "./ports.ts";

/** A dashboard's feed of a daemon that has these tasks. */
function stage(tasks: () => readonly TaskRow[]) {
  let state = stateWith([]);
  let listener: FeedListener | undefined;
  const ending = new AbortController();
  const status = {
    ...{ storeProblem: "", configProblems: [], budgets: [], calls: { channels: [] } },
    ...{ savingProblem: { reason: "", fix: "" }, terminalProblem: { reason: "", fix: "" } },
  };
  const call = createClient(async ({ path }) => {
    const { pathname, searchParams } = new URL(path, "http://daemon");
    const ids = searchParams.get("ids")?.split(",");
    const group = searchParams.get("group");
    const answers: Readonly<Record<string, unknown>> = {
      "/v1/tasks": {
        tasks: tasks().filter((each) => (group ?? each.group) === each.group && (ids ?? [each.id]).includes(each.id)),
        next: null,
      },
      "/v1/counts": { all: { "needs-me": 0, running: 0, queued: 0, over: 0 }, projects: [] },
      "/v1/runs": { runs: [] },
      "/v1/events": { events: [] },
      "/v1/harnesses": { harnesses: [] },
      "/v1/status": status,
    };
    return { status: 200, headers: {}, body: JSON.stringify(answers[pathname]) };
  });
  const follow = (given: FeedListener) =>
    new Promise<void>((resolve) => {
      listener = given;
      ending.signal.addEventListener("abort", () => resolve());
    });
  const change = (how: (before: typeof state) => typeof state) => {
    state = how(state);
  };
  const feed = createFeed(
    { call, follow } as never,
    { state: () => state, apply: change, later: change, onTask: () => {}, onCall: () => {} },
    ending.signal,
  );
  return {
    feed,
    shown: () => state.tasks.map(({ id, status }) => `${id} ${status}`).sort(),
    state: () => state,
    listener: async () => {
      await vi.waitFor(() => expect(listener).toBeDefined());
      return listener as FeedListener;
    },
    stop: () => ending.abort(),
  };
}

test("what has happened while the daemon was gone is shown once it is back", async () => {
  let tasks: readonly TaskRow[] = [row(1)];
  const { feed, shown, state, listener, stop } = stage(() => tasks);
  const going = feed.start();
  const { onConnected, onLost } = await listener();
  onConnected();
  expect(shown()).toEqual(["t1 building"]);
  onLost();
  expect(state().goneSince).toEqual(expect.any(Number));
  tasks = [row(1, { status: "reviewing" }), row(2)];
  onConnected();
  await vi.waitFor(() => expect(shown()).toEqual(["t1 reviewing", "t2 building"]));
  expect(state().goneSince).toBeUndefined();
  stop();
  await going;
});

test("what changes after the first reading and before events are followed is shown", async () => {
  let tasks: readonly TaskRow[] = [row(1)];
  const { feed, shown, listener, stop } = stage(() => tasks);
  const going = feed.start();
  const { onConnected } = await listener();
  expect(shown()).toEqual(["t1 building"]);
  tasks = [row(1, { status: "reviewing" }), row(2)];
  onConnected();
  await vi.waitFor(() => expect(shown()).toEqual(["t1 reviewing", "t2 building"]));
  stop();
  await going;
});
