import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../test/contracts/samples.ts";
import { builtIn, drive } from "../../test/engine/drive.ts";
import { createMemoryStore } from "../../test/memory-store/memory-store.ts";
import type { Held } from "../engine/task.ts";
import type { Core } from "./core.ts";
import { viewOf } from "./views.ts";

async function sessionAt(held: Held, mode: "session" | "turn" = "session"): Promise<string> {
  const workflow = builtIn("pipeline");
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  const state = Object.values(workflow.states).find(
    ({ wait, evidence }) => wait.kind === "agent" && evidence.length > 0,
  );
  if (state?.wait.kind !== "agent") throw new Error("There is no such state.");
  const own = { ...state, wait: { ...state.wait, run: { ...state.wait.run, mode } } };
  const changed = { ...workflow, states: { ...workflow.states, [state.name]: own } };
  const at = {
    ...drive(workflow).task,
    status: state.name,
    phase: "waiting",
    runs: {},
    runCount: 1,
    held,
  } as const;
  const stored = await store.createTask("coffee", sampleTask("t1", at));
  const [workflows, needs] = [{ get: async () => changed }, { of: async () => [] }];
  const core = { store, workflows, needs, clock: { now: () => 9 } } as unknown as Core;
  return (await viewOf(core, stored)).session;
}

test("the agent of a held task is dead only if the task is held for the agent's end", async () => {
  expect(await sessionAt({ reason: "", word: "error", again: "wait" })).toBe("dead");
  expect(await sessionAt({ reason: "", word: "error", again: "wait" }, "turn")).toBe("none");
  expect(await sessionAt({ reason: "", word: "missing", again: "wait" })).toBe("none");
  expect(await sessionAt({ reason: "", word: "tests", again: "do" })).toBe("none");
});
