import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import { systemClock } from "../../adapters/system.ts";
import { emptyLedger, type Finding, type Ledger } from "../../engine/findings.ts";
import { Fault } from "../../fault.ts";
import { createOutside } from "./outside.ts";
import type { ProjectWorkspaces } from "./project-workspaces.ts";

const folder = "/workspaces/1";
const runs = { worker: { key: "worker#1", mode: "session" } } as const;

/** A task at work in a folder. `meanwhile` happens while the folder is read. */
async function look(
  meanwhile: (store: ReturnType<typeof createMemoryStore>) => Promise<void>,
  text: string | Fault = "## Plan\n\nOf whoever has the folder now.\n",
  ledger?: Ledger,
  spent?: string,
) {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  const { task } = await store.createTask(
    "coffee",
    sampleTask("t1", {
      ...{ workspace: folder, runs, ledger },
      ...(spent === undefined ? {} : { spent: { sections: [], head: spent } }),
    }),
  );
  const run = { id: "t1/worker#1", project: "coffee", task: "t1", at: 0, key: "worker#1", role: "worker", pid: 1 };
  const rest = { harness: "", model: "", session: "", folder, endedAt: undefined, word: "" };
  await store.runs.put({ ...run, ...rest });
  const workspace = { id: "coffee/1", project: "coffee", task: "t1", at: 0, path: folder, kind: "clone" } as const;
  await store.workspaces.put(workspace);
  const told: string[] = [];
  const workspaces = {
    control: {
      collect: async () => ({ commit: "c1" }),
      commitAt: async () => undefined,
      countCommits: async (from: string, to: string) => (from === to ? 0 : 3),
      async changedFiles(from: string) {
        if (from === "gone") throw new Fault("git.no-commit", "There is no such commit.");
        return [{ path: { text: "new.ts" }, change: "renamed", from: { text: "old.ts" } }];
      },
    },
    kind: {
      inspect: async () => ({ kind: "there", branch: "another", head: "c1", dirty: false }),
      currentBranch: async () => "another",
      isTaskFileTracked: async () => false,
      taskFileName: async () => "TASK.md",
      async readTaskFile() {
        await meanwhile(store);
        if (text instanceof Fault) throw text;
        return text === "gone" ? undefined : text;
      },
    },
  } as unknown as ProjectWorkspaces;
  const outsideOf = createOutside({
    ...{ store, clock: systemClock, workspacesOf: async () => workspaces, where: () => "here" },
    collected: (_, commit) => told.push(commit),
    follow: (_, branch) => told.push(branch),
    filesGone: () => told.push("gone"),
  });
  return { ...(await outsideOf(task, { changes: ledger !== undefined, newCommits: spent !== undefined })), told };
}

test("files of a folder count as the task's while the folder is bound to it", async () => {
  const { files, facts, told } = await look(async () => {});
  expect(files).toMatchObject([{ text: expect.stringContaining("## Plan") }]);
  expect(facts).toMatchObject({ head: "c1", numbers: { workspace: 1 } });
  expect(told).toEqual(["c1", "another"]);
});

test("a folder that was released while it was read says nothing about its former task", async () => {
  const { files, facts, told } = await look(async (store) => {
    const workspace = await store.workspaces.get("coffee/1");
    if (workspace !== undefined) await store.workspaces.put({ ...workspace, task: "" });
  });
  expect([files, facts?.head, facts?.numbers, told]).toEqual([[], "", { workspace: 0 }, []]);
});

test("an unreadable task file is reported with a fix, and the other facts are gathered nevertheless", async () => {
  const bad = new Fault("workspace.bad-task-file", "TASK.md is a folder.", { hint: "Move it away." });
  const { files, facts, unreadable } = await look(async () => {}, bad);
  expect([files, facts?.head]).toEqual([[], "c1"]);
  expect(unreadable).toEqual({ reason: "TASK.md is a folder.", fix: "Move it away." });
});

test("a deleted task file is written again", async () => {
  const { files, gone, told } = await look(async () => {}, "gone");
  expect([files, gone]).toEqual([[], ["TASK.md"]]);
  expect(told).toContain("gone");
});

test("the files that have changed since findings were closed are named, old and new, where git can tell", async () => {
  const finding = (commit: string, state: Finding["state"]): Finding => ({
    ...{ id: "F1", severity: "high", file: "old.ts", line: 0, title: "Cold", evidence: "", round: 1, by: "critic" },
    ...{ reason: "", commit, state },
  });
  const findings = [
    finding("c0", "fixed"),
    finding("c1", "noted"),
    finding("gone", "dismissed"),
    finding("b0", "open"),
  ];
  const { facts } = await look(async () => {}, "", { ...emptyLedger, findings });
  expect(facts?.changedSince).toEqual({ c0: ["new.ts", "old.ts"], c1: [] });
  expect((await look(async () => {})).facts?.changedSince).toBeUndefined();
});

test("the commits since the task entered its state are counted where a decision asks; all of its own where it had none", async () => {
  const newCommits = async (spent?: string) =>
    (await look(async () => {}, "", undefined, spent)).facts?.numbers.new_commits;
  expect([await newCommits("c0"), await newCommits("c1"), await newCommits("")]).toEqual([3, 0, 0]);
  expect(await newCommits()).toBeUndefined();
});
