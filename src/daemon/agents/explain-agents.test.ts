import { expect, test } from "vitest";
import { atWork, builtIn } from "../../../test/engine/drive.ts";
import { builtIn as builtInText, edit, load } from "../../../test/language/workflow-texts.ts";
import { explain } from "../../engine/explain.ts";
import type { Store } from "../../ports/store.ts";
import type { Agents } from "./agents.ts";
import { explainAgents } from "./explain-agents.ts";

const workflow = builtIn("default");

/** The explanation of a task whose worker has this activity. */
async function explained(activity: "busy" | "idle", reminded: number, status = "working", flow = workflow) {
  const { task: working, facts } = atWork();
  const task = { ...working, status, wait: { ...working.wait, reminded } };
  const run = { id: `${task.id}/worker#1`, task: task.id, key: "worker#1", role: "worker", harness: "scripted" };
  const signs = { activity, since: Date.parse("2026-11-15T12:00:00Z"), error: undefined };
  const agents = {
    dispatch: { limits: () => [], waiting: () => [] },
    pauses: { why: () => undefined },
    watches: () => [{ run, signs, since: signs.since, started: { mode: "session", name: "t-1" }, trouble: "" }],
    terminalTrouble: () => undefined,
    ports: { places: { runs: "/nowhere" } },
  } as unknown as Agents;
  const store = { messages: { list: async () => [] } } as unknown as Store;
  const { moves } = explain(flow, task, facts());
  return explainAgents(store, agents, { task, workflow: flow, moves }, false);
}

test("an idle agent that the task waits for is named with what it has not brought, and with what follows by itself", async () => {
  expect(await explained("idle", 1)).toMatchObject({
    blocked: [
      {
        reason: expect.stringMatching(/^worker#1 has been idle since .*\. ## Handoff is missing from the task file\.$/),
        fix: expect.stringMatching(/ task send .* --role worker#1\n.* task attach /),
      },
    ],
    next: [{ what: expect.stringMatching(/^Remind worker#1 every 5 minutes .*1 of 2 times so far; then call you$/) }],
  });
  expect((await explained("idle", 2)).next[0]?.what).toMatch(/^Call you if worker#1 stays idle for 5 minutes/);
});

test("a busy agent, and one that is idle while a person decides, blocks nothing", async () => {
  for (const each of [await explained("busy", 0), await explained("idle", 0, "reviewing")])
    expect(each.blocked).toEqual([]);
  expect((await explained("idle", 0, "reviewing")).next).toEqual([]);
});

test("a busy agent that the task waits for is named with the time since then, and with its limit or how to set one", async () => {
  const since = "Wait for worker#1, which has been busy since 2026-11-15 12:00:00 UTC";
  expect((await explained("busy", 0)).next).toEqual([
    {
      what: `${since} and has no time limit; to set one in the workflow: worker: { limits: { time: 2h } } below roles`,
      at: null,
    },
  ]);
  const limited = load(
    edit(builtInText("default"), "window: worker, keep: true }", "window: worker, keep: true, limits: { time: 90m } }"),
  );
  expect((await explained("busy", 0, "working", limited)).next[0]?.what).toBe(
    `${since}, and is ended once it has run for 90m`,
  );
});
