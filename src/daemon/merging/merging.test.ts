import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import { createScriptedClock } from "../../../test/scripted-ports.ts";
import { createTurns } from "../../keyed.ts";
import type { Merge } from "../../ports/records.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import { newMerge } from "./merge-record.ts";
import { createMerging, type MergingPorts } from "./merging.ts";

/** An agent that keeps committing: each of the first `commits` reads of its work finds a new commit. */
async function merge(commits: number, cutShort?: number, dirty = false) {
  const memory = createMemoryStore();
  const recorded: string[] = [];
  const noteRecord = ({ endedAt, state }: Merge) => recorded.push(endedAt === undefined ? state : `${state}, ended`);
  const put: typeof memory.merges.put = async (record) => {
    noteRecord(record);
    return memory.merges.put(record);
  };
  const addEvents: typeof memory.addEvents = async (...given) => {
    const [, , , record] = given;
    if (record !== undefined) noteRecord(record);
    return memory.addEvents(...given);
  };
  const store = { ...memory, addEvents, merges: { ...memory.merges, put } };
  await store.addProject(sampleProject());
  const { task } = await store.createTask("coffee", sampleTask("t1", { workspace: "/w" }));
  let [tip, looks, published] = ["base", 0, 0];
  const dates: number[] = [];
  const wanted = { target: "main", strategy: "merge", to: "", by: "engine" } as const;
  if (cutShort !== undefined) await store.merges.put(newMerge(task, wanted, cutShort));
  const control = {
    collect: async () => ({ commit: `<${Math.min(looks++, commits)}>` }),
    commitAt: async () => tip,
    countCommits: async () => 1,
    syncFrom: async () => ({ branches: { main: tip } }),
    // A commit's name lists everything that it contains.
    isAncestor: async (one: string, other: string) => other.includes(one),
    inTheWay: async () => undefined,
    mergeBase: async () => undefined,
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
    inspect: async () => ({ kind: "there", branch: "mine", head: "", dirty, operation: undefined }),
    isTaskFileTracked: async () => false,
    taskFileName: async () => "TASK.md",
  };
  const git = {
    identityOf: async () => ({ name: "", email: "" }),
    leftBehind: async () => undefined,
    lookAtBranch: async () => undefined,
    brokenBranches: async () => [],
  };
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
  const { state, reason } = await merging.askAndWait(task, wanted);
  return { result: { state, reason, published, tip, dates }, recorded };
}

test("a merge contains the commit of the time of its request, however often the agent commits meanwhile", async () => {
  const landed = { state: "merged", published: 1, tip: "base+<0>", dates: [1_000] };
  expect((await merge(0)).result).toEqual({ ...landed, reason: "" });
  const reason = "<0> is merged into main. 1 later commit is not, so the task stays in pending.";
  for (const commits of [1, 1_000]) expect((await merge(commits)).result).toEqual({ ...landed, reason });
});

test("a merge that a crash interrupted keeps its date, so that it makes the same commit", async () => {
  expect((await merge(0, 700)).result).toMatchObject({ state: "merged", dates: [700] });
});

test("a refused merge is never recorded as queued, so that no later daemon makes it", async () => {
  const { result, recorded } = await merge(0, undefined, true);
  expect(result).toMatchObject({ state: "refused", published: 0, tip: "base" });
  expect(new Set(recorded)).toEqual(new Set(["refused, ended"]));
});
