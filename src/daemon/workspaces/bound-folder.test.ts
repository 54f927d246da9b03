import { expect, test } from "vitest";
import { sampleDecision, sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../adapters/store/memory.ts";
import type { Task } from "../../engine/task.ts";
import type { Workspace } from "../../ports/records.ts";
import { performInWorkspace } from "./bound-folder.ts";

/** What happens for a task whose effects are carried out in order, and the workspace that each of them sees. */
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

test("what happens in a workspace happens in the one that is bound", async () => {
  expect(await performed("run_tests", { workspace: "/w/1", isWhole: true })).toEqual(["run_tests /w/1"]);
});

test("where there is no workspace, or it is not whole any more, another one is acquired first", async () => {
  const again = ["acquire_workspace", "run_tests /w/2"];
  expect(await performed("run_tests", { workspace: "", isWhole: true })).toEqual(again);
  expect(await performed("run_tests", { workspace: "/w/1", isWhole: false })).toEqual(again);
});

test("what can do without a workspace acquires none, but does not go on in one that is not whole", async () => {
  expect(await performed("run_command", { workspace: "", isWhole: false })).toEqual(["run_command "]);
  expect(await performed("run_command", { workspace: "/w/1", isWhole: false })).toEqual([
    "acquire_workspace",
    "run_command /w/2",
  ]);
});
