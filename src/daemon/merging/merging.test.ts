import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../adapters/store/memory.ts";
import { createScriptedClock } from "../../testing/scripted-clock.ts";
import { createTurns } from "../turns.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import { createMerging, type MergingPorts, newMerge } from "./merging.ts";

/** An agent that goes on committing: so many times there is more when somebody looks what it has done. */
async function merge(commits: number, cutShort?: number) {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  const { task } = await store.createTask("coffee", sampleTask("t1", { workspace: "/w" }));
  let [tip, looks, published] = ["base", 0, 0];
  const dates: number[] = [];
  const wanted = { target: "main", strategy: "merge", to: "", by: "engine" } as const;
  if (cutShort !== undefined) await store.merges.put(newMerge(task, wanted, cutShort));
  const control = {
    collect: async () => ({ commit: `<${Math.min(looks++, commits)}>` }),
    commitAt: async () => tip,
    syncFrom: async () => ({ branches: { main: tip } }),
    // A commit's name has in it whatever it contains.
    isAncestor: async (one: string, other: string) => other.includes(one),
    inTheWay: async () => undefined,
    mergeAll: async ({
      onto,
      entries: [entry],
    }: {
      onto: string;
      entries: readonly { branch: string; date: number }[];
    }) => {
      dates.push(entry?.date ?? 0);
      return [{ kind: "merged", commit: `${onto}+${entry?.branch}`, tree: "" }];
    },
    async publish({ commit }: { commit: string }) {
      published++;
      tip = commit;
      return { kind: "published", at: commit };
    },
  };
  const kind = {
    inspect: async () => ({ kind: "there", branch: "mine", head: "", dirty: false, operation: undefined }),
    isTaskFileTracked: async () => false,
    taskFileName: async () => "TASK.md",
  };
  const git = { identityOf: async () => ({ name: "", email: "" }), leftBehind: async () => undefined };
  const own = { control, kind, git } as unknown as ProjectWorkspaces;
  const landing = { where: "here", workspaces: "/", signal: new AbortController().signal, test: undefined } as const;
  const merging = createMerging({
    ...{ store, clock: createScriptedClock(1_000), inTurn: createTurns(), workspacesOf: async () => own },
    ...{
      where: () => "here",
      landingOf: async () => landing,
      onError: (error: unknown) => expect(error).toBe(undefined),
    },
  } as unknown as MergingPorts);
  const { state } = await merging.askAndWait(task, wanted);
  return { state, published, tip, dates };
}

test("what is committed while a task is merged is merged too", async () => {
  expect(await merge(0)).toEqual({ state: "merged", published: 1, tip: "base+<0>", dates: [1_000] });
  expect(await merge(1)).toMatchObject({ state: "merged", published: 2, tip: expect.stringContaining("<1>") });
});

test("an agent that never ceases to commit keeps nobody else from the branch for ever", async () => {
  expect(await merge(1_000)).toMatchObject({ state: "merged", published: 5 });
});

test("a merge that a crash cut short has the date it had, so that it is the same commit", async () => {
  expect(await merge(0, 700)).toMatchObject({ state: "merged", dates: [700] });
});
