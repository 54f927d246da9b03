import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../adapters/store/memory.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import { landEntries } from "./land-entries.ts";

test("a task that is over, or gone, is not merged any more, though it still stands in line", async () => {
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
    return { task, project: "coffee", target: "main", strategy: "merge", at: 0, priority: 0 } as const;
  });
  const ports = {
    ...{ store, workspacesOf: async () => workspaces, where: () => "here" as const },
    landingOf: async () => ({ where: "here", workspaces: "", signal: AbortSignal.abort(), test: undefined }) as const,
  };
  const outcomes = await landEntries(ports, "coffee", "main", entries);
  const over = { kind: "refused", reason: "The task is over.", files: [] };
  expect(entries.map((entry) => outcomes.get(entry))).toEqual([over, over]);
  expect(looked).toEqual([]);
});
