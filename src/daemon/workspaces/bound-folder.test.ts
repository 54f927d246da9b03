import { expect, test } from "vitest";
import { sampleDecision, sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import type { Task } from "../../engine/task.ts";
import type { Workspace } from "../../ports/records.ts";
import { performInWorkspace } from "./trouble.ts";

/** Carries out a task's effects in order, and returns the workspace that each of them sees. */
async function performed(action: string, { workspace, isWhole }: { workspace: string; isWhole: boolean }) {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  const { task } = await store.createTask("coffee", sampleTask("t1", { workspace }));
  const bind = (path: string) =>
    store.workspaces.put({ id: path, project: "coffee", task: "t1", at: 0, path } as unknown as Workspace);
  if (workspace !== "") await bind(workspace);
  const seen: string[] = [];
  const performers = performInWorkspace(
    store,
    {
      async acquire_workspace() {
        seen.push("acquire_workspace");
        const stored = await store.getTask("t1");
        if (stored !== undefined) await store.saveDecision(sampleDecision(stored, { workspace: "/w/2" }));
        await bind("/w/2");
      },
      [action]: async (_, { task: { workspace: at } }: { readonly task: Task }) => void seen.push(`${action} ${at}`),
    },
    async () => isWhole,
  );
  await performers[action]?.({ action, params: {} }, { task, key: "t1:1" });
  return seen;
}

test("an effect that needs a workspace gets the bound one", async () => {
  expect(await performed("run_tests", { workspace: "/w/1", isWhole: true })).toEqual(["run_tests /w/1"]);
});

test("if the workspace is missing or broken, another one is acquired first", async () => {
  const again = ["acquire_workspace", "run_tests /w/2"];
  expect(await performed("run_tests", { workspace: "", isWhole: true })).toEqual(again);
  expect(await performed("run_tests", { workspace: "/w/1", isWhole: false })).toEqual(again);
});

test("an effect that needs no workspace acquires none, but replaces a broken one first", async () => {
  expect(await performed("run_command", { workspace: "", isWhole: false })).toEqual(["run_command "]);
  expect(await performed("run_command", { workspace: "/w/1", isWhole: false })).toEqual([
    "acquire_workspace",
    "run_command /w/2",
  ]);
});
