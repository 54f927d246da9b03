import { expect, test, vi } from "vitest";
import { row, stateWith } from "../../test/tui/sample.ts";
import { createClient } from "../api/client.ts";
import { Fault } from "../fault.ts";
import type { Change } from "./feed.ts";
import { emptyLine, lineOf } from "./line-editor.ts";
import type { ActionView, Asking, State } from "./state.ts";
import { createTaker } from "./take-action.ts";

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/** A dashboard whose daemon answers as it is told; what it is asked to do is kept. */
function stage(begin: State, answer: (asked: Asked) => unknown) {
  let state = begin;
  const sent: Asked[] = [];
  const call = createClient(async ({ method, path, body }) => {
    const asked = { method, path, body: body === undefined ? undefined : JSON.parse(body) };
    if (method !== "GET") sent.push(asked);
    return { status: 200, headers: {}, body: JSON.stringify(await answer(asked)) };
  });
  const apply = (change: Change) => {
    state = change(state);
  };
  const reread: (readonly string[])[] = [];
  const taker = createTaker({
    ports: { call } as never,
    state: () => state,
    apply,
    runCommand: async () => {},
    reread: async (ids) => void reread.push(ids),
  });
  return { taker, apply, sent, reread, state: () => state };
}

function action(name: string, more: Partial<ActionView> = {}): ActionView {
  const command = `signalbox task ${name} t1 "Your message"`;
  return { name, label: name, key: "k", command, to: "", consequence: "none", allowed: true, why: "", ...more };
}

const actionsOf = (number: number, status: string, actions: readonly ActionView[]) => ({
  task: { id: `t${number}`, project: "coffee", number, status, revision: 7 },
  actions,
});

const sending = (number: number): Asking => ({
  action: action("send"),
  tasks: [{ id: `t${number}`, name: `coffee#${number}`, revision: 7, action: action("send") }],
});

test("a key that is pressed for a task that has moved meanwhile does nothing, and says where the task is", async () => {
  const { taker, sent, reread, state } = stage(stateWith([row(1, { status: "building" })]), () =>
    actionsOf(1, "reviewing", [action("approve")]),
  );
  taker.press("k", ["t1"]);
  await vi.waitFor(() => expect(state().notice?.text).toMatch(/^coffee#1 has moved to reviewing meanwhile/));
  expect(sent).toEqual([]);
  expect(reread).toEqual([["t1"]]);
});

test("a key is for the revision that its actions were read at", async () => {
  const { taker, sent } = stage(stateWith([row(1, { status: "building" })]), ({ method }) =>
    method === "GET"
      ? actionsOf(1, "building", [action("retry")])
      : { retried: 1, task: { id: "t1" }, kind: "moved", why: "" },
  );
  taker.press("k", ["t1"]);
  await vi.waitFor(() => expect(sent.map(({ path }) => path)).toEqual(["/v1/tasks/t1/retry?revision=7"]));
});

test("what a person wrote comes back when the daemon refuses it", async () => {
  const { taker, state, reread } = stage(stateWith([row(1)]), () => {
    throw new Fault("daemon.error", "The disk is full.");
  });
  taker.perform(sending(1), "Use more beans");
  await vi.waitFor(() => expect(reread).toEqual([["t1"]]));
  expect(state().overlay).toMatchObject({ kind: "say", line: lineOf("Use more beans"), prompt: "The disk is full." });
  expect(state().notice).toMatchObject({ text: "The disk is full.", role: "bad" });
  expect(state().deeds).toEqual([]);
});

test("a late answer about one task is not taken for the task that is peeked at by then", async () => {
  const answered = Promise.withResolvers<void>();
  const { taker, apply, state } = stage(stateWith([row(1), row(2)]), async ({ path }) => {
    if (path.includes("/t1/")) await answered.promise;
    const number = path.includes("/t1/") ? 1 : 2;
    return path.includes("/actions")
      ? actionsOf(number, "building", [action("send")])
      : { text: `Screen ${number}`, lines: [] };
  });
  const peekAt = (task: string) => {
    apply((before) => ({ ...before, overlay: { kind: "peek", task, line: emptyLine, screen: [] } }));
    taker.peek(task);
  };
  peekAt("t1");
  peekAt("t2");
  const shown = { kind: "peek", task: "t2", screen: ["Screen 2"], ask: { tasks: [{ id: "t2" }] } };
  await vi.waitFor(() => expect(state().overlay).toMatchObject(shown));
  answered.resolve();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(state().overlay).toMatchObject(shown);
});
