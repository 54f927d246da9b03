import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Caller } from "../../src/daemon/callers.ts";
import type { Asked } from "../../src/daemon/handlers.ts";
import { syncTask } from "../../src/daemon/requests/branch-task.ts";
import { diffTask } from "../../src/daemon/requests/diff-task.ts";
import { explainTask } from "../../src/daemon/requests/explain-task.ts";
import { mergeTask } from "../../src/daemon/requests/merge-task.ts";
import { continueTask } from "../../src/daemon/requests/move-task.ts";
import { approveTask } from "../../src/daemon/requests/person.ts";
import { seeTask } from "../../src/daemon/requests/task-views.ts";
import { startGitStage } from "./git-stage.ts";

const id = "b1111";

/** A person's approval merges the work. */
const flow = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: done }
  done: { terminal: true }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: done, when: merged == true, hooks: [release_workspace] }
`;

/** The workflow merges: in the state that waits for the person, or in the next one. */
const mergingFlows = {
  "the state merges": "busy: { waits_for: human, do: [merge, release_workspace], next: done }",
  "the next state merges":
    "busy: { waits_for: human, next: landing }\n  landing: { do: [merge, release_workspace], next: done }",
} as const;

const mergingFlow = (states: string) => `
version: 1
states:
  todo: { waits_for: human, next: busy }
  ${states}
  done: { terminal: true }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
`;

/** A task whose agent has committed a cup, which a reviewer has judged. */
async function startReviewed(workflow = flow) {
  const stage = await startGitStage({ poolSize: 3, flow: workflow });
  const { core, git, repository, store } = stage;
  const asked = <Body>(body: Body, query = {}): Asked<object, Body> => ({
    ...{ params: { task: id }, query, body, caller: { kind: "human" }, folder: "", lastEvent: "" },
  });
  const { workspace } = await stage.begin(id);
  const commit = (file: string, text = "full\n") => {
    writeFileSync(join(workspace, file), text);
    git(workspace, "add", file);
    git(workspace, "commit", "-qm", file);
    return git(workspace, "rev-parse", "HEAD");
  };
  const judged = { commit: commit("cup.md"), role: "reviewer" };
  await core.submit(id, { kind: "edit", actor: { role: "engine" }, set: { judged } });
  return {
    ...{ ...stage, workspace, commit, reviewed: judged.commit },
    merge: (body: { dryRun?: boolean; unreviewed?: boolean } = {}) => mergeTask(core)(asked(body)),
    approve: (body: { unreviewed?: boolean } = {}) => approveTask(core)(asked(body)),
    goOn: (body: { unanswered?: boolean } = {}) => continueTask(core)(asked(body)),
    isDone: () => stage.until(id, ({ task }) => task.status === "done"),
    diff: (query = {}, caller: Caller = { kind: "human" }) =>
      diffTask(core)({ ...asked(undefined as never, query), caller }),
    sync: () => syncTask(core)(asked({})),
    explained: () => explainTask(core)(asked(undefined)),
    explain: async () => (await explainTask(core)(asked(undefined))).blocked.map(({ reason }) => reason).join("\n"),
    judged: async () => (await store.getTask(id))?.task.judged,
    mains: (file: string) => git(repository, "ls-tree", "--name-only", "main", file),
  };
}

test("reviewed work is merged; work with a later commit is refused, and a dry run and explain say so", async () => {
  const { merge, commit, explain, reviewed, mains } = await startReviewed();
  expect(await merge({ dryRun: true })).toMatchObject({ state: "merged" });
  const later = commit("saucer.md");
  const told = `The verdict of reviewer is for ${reviewed.slice(0, 10)}, but the branch is at ${later.slice(0, 10)}, with 1 commit more.`;
  expect(await merge({ dryRun: true })).toMatchObject({ state: "refused", reason: expect.stringContaining(told) });
  expect(await merge()).toMatchObject({ state: "refused", reason: expect.stringContaining(told) });
  expect(await explain()).toContain(told);
  expect([mains("cup.md"), mains("saucer.md")]).toEqual(["", ""]);
});

test("a merge that brings in commits of another branch is unreviewed, although it changes no file; one of the target is not", async () => {
  const { merge, git, repository, workspace, mains, explain } = await startReviewed();
  const make = (branch: string) => {
    git(repository, "checkout", "-q", "-B", branch, "main");
    writeFileSync(join(repository, `${branch}.md`), "weeks of work\n");
    git(repository, "add", "-A");
    git(repository, "commit", "-qm", branch);
    git(workspace, "fetch", "-q", repository, branch);
    git(repository, "checkout", "-q", "main");
  };
  make("colleague");
  git(repository, "commit", "-q", "--allow-empty", "-m", "later");
  const reviewed = git(workspace, "rev-parse", "HEAD");
  git(workspace, "merge", "-q", "-s", "ours", "-m", "sync", "FETCH_HEAD");
  const told = "A merge has brought in 1 commit of another branch";
  expect(await merge({ dryRun: true })).toMatchObject({ state: "refused", reason: expect.stringContaining(told) });
  expect(await explain()).toContain(told);
  expect(mains("cup.md")).toBe("");
  // The other way round, so that the task's own commits are on the side.
  git(workspace, "reset", "-q", "--hard", "FETCH_HEAD");
  git(workspace, "merge", "-q", "-s", "ours", "--no-commit", reviewed);
  git(workspace, "read-tree", "--reset", "-u", reviewed);
  git(workspace, "commit", "-qm", "sync");
  expect(await merge({ dryRun: true })).toMatchObject({ state: "refused", reason: expect.stringContaining(told) });
  git(workspace, "reset", "-q", "--hard", reviewed);
  git(workspace, "fetch", "-q", repository, "main");
  git(workspace, "merge", "-q", "-m", "sync", "FETCH_HEAD");
  expect(await merge()).toMatchObject({ state: "merged" });
});

test("what a person was shown last counts for an approval, whatever they have marked as reviewed, and the mark stays", async () => {
  const { core, store, commit, diff, reviewed, approve, isDone, mains } = await startReviewed(
    mergingFlow(mergingFlows["the state merges"]),
  );
  const mark = { params: { task: id }, query: {}, body: { commit: reviewed }, caller: { kind: "human" }, folder: "" };
  await seeTask(core)({ ...mark, lastEvent: "" } as never);
  const later = commit("saucer.md");
  await diff({ sinceReview: "true" });
  expect(await store.seen.get(id)).toMatchObject({ commit: later, reviewed });
  await approve();
  await isDone();
  expect(mains("saucer.md")).toBe("saucer.md");
});

test("unreviewed work is merged on a person's word, once the person was shown the difference", async () => {
  const { merge, diff, commit, judged, mains, store } = await startReviewed();
  await diff();
  commit("saucer.md");
  await expect(merge({ unreviewed: true })).rejects.toThrow("which you were not shown");
  const { base, committed } = await diff({ sinceReview: "true" });
  expect([base, committed.files.map(({ path }) => path)]).toEqual([(await judged())?.commit, ["saucer.md"]]);
  // Shown too early: what comes after it was not shown.
  const last = commit("spoon.md");
  await expect(merge({ unreviewed: true })).rejects.toThrow(last.slice(0, 10));
  await diff({ sinceReview: "true" });
  expect(await merge({ unreviewed: true })).toMatchObject({ state: "merged", task: { status: "done" } });
  expect(await judged()).toEqual({ commit: last, role: "human" });
  expect([mains("cup.md"), mains("saucer.md"), mains("spoon.md")]).toEqual(["cup.md", "saucer.md", "spoon.md"]);
  const events = (await store.listEvents({ task: id }, 0, 200)).map(({ event }) => event);
  expect(events).toContainEqual(
    expect.objectContaining({ type: "task.edited", by: "human", data: { changed: ["judged"] } }),
  );
});

test("a merge of the target branch without a conflict needs no new review", async () => {
  const { merge, sync, git, repository, reviewed, judged, mains } = await startReviewed();
  writeFileSync(join(repository, "kettle.md"), "hot\n");
  git(repository, "add", "kettle.md");
  git(repository, "commit", "-qm", "kettle");
  await sync();
  expect((await judged())?.commit).toBe(reviewed);
  expect(await merge()).toMatchObject({ state: "merged" });
  expect([mains("cup.md"), mains("kettle.md")]).toEqual(["cup.md", "kettle.md"]);
});

test("an approval is for the commit that the person was last shown", async () => {
  const { approve, diff, commit, mains } = await startReviewed();
  await diff();
  commit("saucer.md");
  await expect(approve()).rejects.toThrow("which you were shown");
  await diff();
  // The person has seen it, but no reviewer has.
  expect(await approve()).toMatchObject({
    merge: { state: "refused", reason: expect.stringContaining("1 commit more") },
  });
  expect(await approve({ unreviewed: true })).toMatchObject({ merge: { state: "merged" } });
  expect(mains("saucer.md")).toBe("saucer.md");
});

test("a diff that an agent reads, or that only begins at a named commit, does not count as shown to the person", async () => {
  const { merge, diff, commit, reviewed, store } = await startReviewed();
  const later = commit("saucer.md");
  const credential = {
    ...{ id: "", project: "coffee", task: id, at: 0, role: "worker", run: "worker#1" },
    ...{ expiresAt: 9e15, revokedAt: undefined },
  };
  expect((await diff({}, { kind: "run", credential, isOver: false })).commit).toBe(later);
  await diff({ from: reviewed });
  await diff({ path: "saucer.md" });
  expect(await store.seen.get(id)).toBeUndefined();
  await expect(merge({ unreviewed: true })).rejects.toMatchObject({ code: "merge.unseen" });
});

test("the list of files of a diff that is not too long does not count as shown", async () => {
  const { merge, diff, commit } = await startReviewed();
  commit("saucer.md");
  await diff({ sinceReview: "true", text: "false" });
  await expect(merge({ unreviewed: true })).rejects.toMatchObject({ code: "merge.unseen" });
});

test("a diff that was cut does not count as shown; the refusal says how to go on, and that works", async () => {
  const { merge, diff, commit, judged, mains } = await startReviewed();
  const later = commit("harvest.txt", `${"bean ".repeat(20)}\n`.repeat(90_000));
  expect((await diff({ sinceReview: "true" })).committed.isCut).toBe(true);
  const unseen = await merge({ unreviewed: true }).catch((error) => error);
  expect(unseen).toMatchObject({
    code: "merge.unseen",
    hint: expect.stringContaining(`task diff ${id} --since-review --stat`),
  });
  expect((await judged())?.role).toBe("reviewer");
  await diff({ sinceReview: "true", text: "false" });
  expect(await merge({ unreviewed: true })).toMatchObject({ state: "merged" });
  expect(await judged()).toEqual({ commit: later, role: "human" });
  expect(mains("harvest.txt")).toBe("harvest.txt");
});

for (const [where, states] of Object.entries(mergingFlows)) {
  test(`${where}: neither approve nor continue merges commits that nobody has reviewed and the person was not shown`, async () => {
    const { approve, goOn, diff, commit, judged, isDone, mains } = await startReviewed(mergingFlow(states));
    const later = commit("saucer.md");
    await expect(approve()).rejects.toThrow("Nobody has reviewed the difference.");
    await expect(goOn()).rejects.toThrow("Nobody has reviewed the difference.");
    expect((await judged())?.role).toBe("reviewer");
    await diff({ sinceReview: "true" });
    await approve();
    await isDone();
    expect(await judged()).toEqual({ commit: later, role: "human" });
    expect(mains("saucer.md")).toBe("saucer.md");
  });

  test(`${where}: a person who insists has approved the present commit`, async () => {
    const { approve, commit, judged, isDone, mains } = await startReviewed(mergingFlow(states));
    const later = commit("saucer.md");
    await approve({ unreviewed: true });
    await isDone();
    expect(await judged()).toEqual({ commit: later, role: "human" });
    expect(mains("saucer.md")).toBe("saucer.md");
  });
}

test("where the workflow merges, explain advises what works there, once, also for a held task", async () => {
  const { explained, commit, core, until } = await startReviewed(mergingFlow(mergingFlows["the state merges"]));
  commit("saucer.md");
  const advice = async () =>
    (await explained()).blocked.filter(({ reason }) => reason.includes("Nobody has reviewed the difference."));
  const see = `See the difference: signalbox task diff ${id} --since-review`;
  expect(await advice()).toMatchObject([{ fix: `${see}\nThen let it be merged: signalbox task approve ${id}` }]);
  // Without a person's approval of the commit the merge is refused.
  await core.submit(id, { kind: "continue", actor: { role: "human" } });
  await until(id, ({ task }) => task.held !== undefined);
  const held = { fix: `${see}\nThen let it be merged: signalbox task continue ${id}` };
  expect(await advice()).toMatchObject([held]);
  const [need] = (await explained()).task.needs;
  expect(need).toMatchObject({ command: `signalbox task diff ${id} --since-review` });
  expect(need?.brief).toMatch(/Nobody has reviewed the difference\.$/);
});
