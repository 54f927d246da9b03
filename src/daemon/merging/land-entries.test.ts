import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import { createTurns } from "../../keyed.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import { landEntries } from "./land.ts";

test("an ended or deleted task is not merged, even if its entry is still queued", async () => {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  await store.createTask("coffee", sampleTask("t1", { phase: "over" }));
  const looked: string[] = [];
  const workspaces = {
    control: {
      async commitAt(ref: string) {
        looked.push(ref);
        return undefined;
      },
      syncFrom: async () => ({ branches: {} }),
    },
  } as unknown as ProjectWorkspaces;
  const entries = ["t1", "t2"].map((task) => {
    return { task, project: "coffee", target: "main", strategy: "merge", at: 0, stay: 0, priority: 0 } as const;
  });
  const ports = {
    ...{ store, workspacesOf: async () => workspaces, where: () => "here" as const },
    testing: <T>(_: readonly string[], test: () => Promise<T>) => test(),
    publishing: <T>(_: readonly string[], publish: () => Promise<T>) => publish(),
    landingOf: async () =>
      ({ where: "here", workspaces: "", signal: AbortSignal.abort(), inTurn: createTurns(), test: undefined }) as const,
  };
  const outcomes = await landEntries(ports, "coffee", { target: "main" }, entries);
  const over = { kind: "refused", reason: "The task has ended.", files: [] };
  expect(entries.map((entry) => outcomes.get(entry))).toEqual([over, over]);
  expect(looked).toEqual([]);
});
