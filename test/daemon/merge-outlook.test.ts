import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Asked } from "../../src/daemon/handlers.ts";
import { mergeOutlook } from "../../src/daemon/merge-outlook.ts";
import { explainTask } from "../../src/daemon/requests/explain-task.ts";
import { mergeTask, undoTaskMerge } from "../../src/daemon/requests/merge-task.ts";
import { listMerges } from "../../src/daemon/requests/merges.ts";
import { continueTask } from "../../src/daemon/requests/move-task.ts";
import { approveTask } from "../../src/daemon/requests/person.ts";
import type { Finding } from "../../src/engine/findings.ts";
import type { Task } from "../../src/engine/task.ts";
import type { State } from "../../src/engine/workflow.ts";
import type { StoredTask } from "../../src/ports/store.ts";
import { startGitStage } from "./git-stage.ts";

const id = "b1111";

/** The workflow merges once a person approves. */
const flow = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, do: [merge, release_workspace], next: done }
  done: { terminal: true }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
`;

const asked = <Body>(body: Body): Asked<object, Body> => ({
  ...{ params: { task: id }, query: {}, body, caller: { kind: "human" }, folder: "", lastEvent: "" },
});

/** A task with a cup, in a project with a remote that lacks two commits of the user's. */
async function start() {
  const stage = await startGitStage({ flow });
  const { core, git, repository } = stage;
  const remote = join(repository, "..", "remote.git");
  execFileSync("git", ["clone", "-q", "--bare", repository, remote]);
  git(repository, "remote", "add", "origin", remote);
  git(repository, "fetch", "-q", "origin");
  const commit = (folder: string, file: string) => {
    writeFileSync(join(folder, file), "full\n");
    git(folder, "add", file);
    git(folder, "commit", "-qm", file);
    return git(folder, "rev-parse", "HEAD");
  };
  const { workspace } = await stage.begin(id);
  const head = commit(workspace, "cup.md");
  for (const file of ["kettle.md", "spoon.md"]) commit(repository, file);
  return {
    ...{ ...stage, head },
    edit: (set: Partial<Task>) => core.submit(id, { kind: "edit", actor: { role: "engine" }, set } as never),
    explain: async () => (await explainTask(core)(asked(undefined))).warnings.join("\n"),
    merge: (body: { dryRun?: boolean } = {}) => mergeTask(core)(asked(body)),
    approve: () => approveTask(core)(asked({})),
    goOn: () => continueTask(core)(asked({})),
    isDone: () => stage.until(id, ({ task }) => task.status === "done"),
    remotes: () => git(remote, "ls-tree", "--name-only", "main").split("\n"),
  };
}

const pushes = 'The merge also pushes "main" to origin, with 2 other commits of yours that are not there yet.';

test("where the workflow merges, explain and approve say which commits of the user's own are pushed with it", async () => {
  const { explain, approve, isDone, remotes } = await start();
  expect(await explain()).toContain(pushes);
  expect(await approve()).toMatchObject({ merges: true, warnings: [expect.stringContaining(pushes)] });
  await isDone();
  expect(remotes()).toContain("kettle.md");
});

test("where the workflow merges, continue says what is pushed too", async () => {
  const { goOn, isDone } = await start();
  expect((await goOn()).warnings).toEqual([expect.stringContaining(pushes)]);
  await isDone();
});

test("a dry run says what an approval would merge and push, and a merge by hand is refused with the way to it", async () => {
  const { merge, remotes } = await start();
  expect(await merge({ dryRun: true })).toMatchObject({
    ...{ state: "merged", commits: 1, changed: ["cup.md"], dryRun: true },
    pushed: { remote: "origin", commits: 2 },
    task: { status: "busy" },
  });
  await expect(merge()).rejects.toThrow('The workflow merges the task itself, in "busy".');
  expect(remotes()).toEqual(["recipe.md"]);
});

test("work without tests, and findings that are left open, are named before the workflow merges", async () => {
  const { explain, approve, edit, head, store, core } = await start();
  await edit({ tested: { commit: head, word: "untested" } });
  const untested = "The work was not tested: no test command was found.";
  expect(await explain()).toContain(untested);
  const { task } = (await store.getTask(id)) as StoredTask;
  const finding: Finding = {
    ...{ id: "F1", title: "It is cold", severity: "high", file: "cup.md", line: 1, evidence: "", commit: head },
    ...{ round: 1, state: "open", by: "judge", reason: "" },
  };
  const ledger = { round: 1, commit: head, quiet: 0, findings: [finding, { ...finding, id: "F2", state: "fixed" }] };
  const busy = (await core.workflows.get(task.workflowHash)).states.busy as State;
  expect(await mergeOutlook(core, { ...task, ledger } as Task, busy, head)).toContain(
    `1 finding is open: F1 (high) It is cold. See them: signalbox task findings ${id}`,
  );
  expect((await approve()).warnings).toContain(untested);
});

test("a merge that is refused because of untrusted settings says so once, and not that something was begun", async () => {
  const { core, approve, isDone, until, git, repository, merge } = await start();
  // The present settings are recorded as trusted.
  await merge({ dryRun: true });
  git(repository, "config", "core.fsmonitor", "true");
  await approve();
  const { held } = await until(id, ({ task }) => task.held !== undefined);
  expect(held?.reason.match(/have changed since you last trusted them/g)).toHaveLength(1);
  expect(held?.reason).not.toContain("could not be undone");
  git(repository, "config", "--unset", "core.fsmonitor");
  await core.submit(id, { kind: "continue", actor: { role: "human" } });
  await isDone();
});

/** A person merges. */
const byHand = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human }
  done: { terminal: true }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: done, by: human, when: merged == true, hooks: [release_workspace] }
`;

async function startByHand() {
  const stage = await startGitStage({ flow: byHand });
  return { ...stage, isOver: () => stage.until(id, ({ task }) => task.phase === "over") };
}

test("a refused dry run is not in the task's history, and a refused merge is", async () => {
  const { core, store, begin, isOver } = await startByHand();
  await begin(id);
  await mergeTask(core)(asked({}));
  await isOver();
  const refused = async () =>
    (await store.listEvents({ task: id }, 0, 1_000)).filter(({ event }) => event.type === "request.rejected").length;
  await expect(mergeTask(core)(asked({ dryRun: true }))).rejects.toThrow('is in "done", which is the end');
  expect(await refused()).toBe(0);
  await expect(mergeTask(core)(asked({}))).rejects.toThrow('is in "done", which is the end');
  expect(await refused()).toBe(1);
});

test("undoing a merge answers with the revert's commit, and not with the merge's", async () => {
  const { core, git, repository, begin, isOver } = await startByHand();
  const { workspace } = await begin(id);
  writeFileSync(join(workspace, "cup.md"), "full\n");
  git(workspace, "add", "cup.md");
  git(workspace, "commit", "-qm", "cup");
  const { after: merged } = await mergeTask(core)(asked({}));
  await isOver();
  const undone = await undoTaskMerge(core)(asked({}));
  const revert = git(repository, "rev-parse", "main");
  expect(undone).toMatchObject({ state: "undone", before: merged, after: revert });
  // Lists do not call its task done.
  expect(undone.task).toMatchObject({ outcome: "done", undone: true });
  expect(revert).not.toBe(merged);
});

test("the merge of a branch without commits is listed as one of nothing, without another task's commit", async () => {
  const { core, begin, isOver } = await startByHand();
  await begin(id);
  await mergeTask(core)(asked({}));
  await isOver();
  const { ended } = await listMerges(core)({ ...asked(undefined), query: {} } as never);
  const reason = 'Nothing was merged: "main" had every commit of its branch already.';
  expect(ended).toMatchObject([{ task: id, state: "merged", after: "", reason }]);
});
