import { expect, test } from "vitest";
import { mergePullRequest } from "../../src/daemon/forge/merge-pull-request.ts";
import { forgeStage, human } from "./forge-stage.ts";

const branch = "signalbox/b1111";

test("the task's work is pushed, also after it was rewritten, and commits of others are not overwritten", async () => {
  const { begin, move, remoteAt, git, commit, control, remote } = await forgeStage();
  const { workspace } = await begin();
  expect((await move("b1111", "pushed")).held).toBeUndefined();
  const first = git(workspace, "rev-parse", "HEAD");
  expect(remoteAt(branch)).toBe(first);

  git(workspace, "reset", "-q", "--hard", "HEAD~1");
  const second = commit(workspace, "stronger\n");
  expect((await move("b1111", "pushed")).held).toBeUndefined();
  expect(remoteAt(branch)).toBe(second);
  expect(git((await control()).folder, "rev-parse", "refs/signalbox/pushed/b1111")).toBe(second);

  const theirs = git(remote, "commit-tree", "-p", second, "-m", "theirs", `${second}^{tree}`);
  git(remote, "update-ref", `refs/heads/${branch}`, theirs);
  commit(workspace, "strongest\n");
  expect((await move("b1111", "pushed")).held?.reason).toMatch(/Somebody else has pushed/);
  expect(remoteAt(branch)).toBe(theirs);
});

test("a push that was killed before it was recorded is found again", async () => {
  const { begin, move, remoteAt, git, commit, control } = await forgeStage();
  const { workspace } = await begin();
  await move("b1111", "pushed");
  const first = git(workspace, "rev-parse", "HEAD");
  // As after a push that was not recorded: the remote is ahead of the record, and then the work is rewritten.
  const second = commit(workspace, "more\n");
  await move("b1111", "pushed");
  const { folder } = await control();
  git(folder, "update-ref", "refs/signalbox/pushed/b1111", first);
  git(workspace, "reset", "-q", "--hard", first);
  const third = commit(workspace, "other\n");
  expect((await move("b1111", "pushed")).held).toBeUndefined();
  expect([second === third, remoteAt(branch)]).toEqual([false, third]);
});

test("a branch that was deleted on the remote is recreated, and the default branch is never pushed to", async () => {
  const { begin, move, core, remoteAt, git, remote } = await forgeStage();
  const { workspace } = await begin();
  await move("b1111", "pushed");
  git(remote, "update-ref", "-d", `refs/heads/${branch}`);
  await move("b1111", "pushed");
  expect(remoteAt(branch)).toBe(git(workspace, "rev-parse", "HEAD"));
  const main = remoteAt("main");
  await core.submit("b1111", { kind: "edit", actor: human, set: { branch: "main" } });
  expect((await move("b1111", "pushed")).held?.reason).toMatch(/"main" is the default branch/);
  expect(remoteAt("main")).toBe(main);
});

test("without a remote nothing is pushed, and the pull request is recorded locally", async () => {
  const { beginHere, move, store, github, events } = await forgeStage({ place: "alone" });
  await beginHere();
  expect((await move("b1111", "pushed")).held).toBeUndefined();
  expect(await move("b1111", "offered")).toMatchObject({ prUrl: "", status: "resting" });
  await move("b1111", "said");
  await move("b1111", "offered");
  expect(await store.pullRequests.list({})).toEqual([
    expect.objectContaining({ id: "b1111", number: 1, url: "", state: "open", head: branch, base: "main" }),
  ]);
  const [record] = await store.pullRequests.list({});
  expect(record).toMatchObject({ title: "Brew: Brew", body: expect.stringContaining("coffee#1") });
  expect(Object.values(record?.comments ?? {})).toEqual(["It is in said."]);
  expect((await events("b1111", "pr.opened")).length).toBe(1);
  expect((await move("b1111", "swept")).held).toBeUndefined();
  expect(github.requests).toEqual([]);
});

test("without a remote a branch of the user's that has diverged is left alone, and one that is behind follows", async () => {
  const { begin, move, git, commit, repository, until, core } = await forgeStage({ place: "alone" });
  const { workspace } = await begin();
  expect((await move("b1111", "pushed")).held).toBeUndefined();
  const here = () => git(repository, "rev-parse", branch);
  const second = commit(workspace, "more\n");
  expect((await move("b1111", "pushed")).held).toBeUndefined();
  expect(here()).toBe(second);
  const own = git(repository, "commit-tree", "-p", `${second}~1`, "-m", "mine", `${second}^{tree}`);
  git(repository, "update-ref", `refs/heads/${branch}`, own);
  expect((await move("b1111", "pushed")).held?.reason).toContain(
    `Your branch "${branch}" has commits that the task's work lacks.`,
  );
  expect(here()).toBe(own);
  // The user has merged the work into it, so nothing is to be pushed.
  const merged = git(repository, "commit-tree", "-p", own, "-p", second, "-m", "both", `${second}^{tree}`);
  git(repository, "update-ref", `refs/heads/${branch}`, merged);
  await core.submit("b1111", { kind: "continue", actor: human });
  await until("b1111", ({ task }) => task.status === "resting");
  expect(here()).toBe(merged);
});

test("without a forge the merge queue merges the work, and the record of the pull request says so", async () => {
  const { beginHere, move, store, git, project } = await forgeStage({ place: "alone" });
  await beginHere();
  await move("b1111", "offered");
  expect(await move("b1111", "joined")).toMatchObject({ status: "served" });
  const { path } = await project();
  expect(git(path, "merge-base", "--is-ancestor", branch, "main")).toBe("");
  expect(await store.pullRequests.get("b1111")).toMatchObject({
    ...{ state: "merged", mergedCommit: git(path, "rev-parse", "main") },
  });
});

test("without a forge the remote's branch is deleted by git, unless others have pushed to it", async () => {
  const { beginHere, move, remoteAt, git, remote } = await forgeStage({ place: "none" });
  await beginHere();
  await move("b1111", "pushed");
  const ours = remoteAt(branch);
  git(remote, "update-ref", `refs/heads/${branch}`, "main");
  await expect(move("b1111", "swept")).resolves.toMatchObject({ held: { reason: expect.stringMatching(/is at/) } });
  expect(remoteAt(branch)).toBe(remoteAt("main"));
  git(remote, "update-ref", `refs/heads/${branch}`, `${ours}`);
  await move("b1111", "swept");
  expect(remoteAt(branch)).toBeUndefined();
  expect((await move("b1111", "swept")).held).toBeUndefined();
});

test("the pull request is opened once, the task records it, and its branch follows the work", async () => {
  const { begin, move, github, store, remoteAt, commit, events } = await forgeStage();
  const { workspace } = await begin();
  const task = await move("b1111", "offered");
  expect(task).toMatchObject({ prUrl: "https://github.com/acme/coffee/pull/1", status: "resting" });
  const after = commit(workspace, "more\n");
  expect((await move("b1111", "offered")).prUrl).toBe(task.prUrl);
  expect(remoteAt(branch)).toBe(after);
  expect(github.state.pulls).toEqual([expect.objectContaining({ title: "Brew: Brew", head: branch, base: "main" })]);
  expect(github.state.pulls[0]?.body).toContain("**Cost:** unknown.");
  expect(await store.pullRequests.get("b1111")).toMatchObject({ number: 1, state: "open", headCommit: after });
  expect((await events("b1111", "pr.opened")).length).toBe(1);
});

test("a pull request that was merged meanwhile is not opened again, nor is its branch recreated", async () => {
  const { beginHere, move, github, store, remoteAt, git, remote } = await forgeStage();
  await beginHere();
  await move("b1111", "offered");
  const [pull] = github.state.pulls;
  if (pull !== undefined) Object.assign(pull, { state: "closed", mergeCommit: "c9" });
  const merged = remoteAt(branch);
  // GitHub still knows the last commit of the branch.
  const { get } = github.state.branches;
  git(remote, "update-ref", "-d", `refs/heads/${branch}`);
  github.state.branches.get = (name) => (name === branch ? merged : get(name));
  expect((await move("b1111", "offered")).held).toBeUndefined();
  expect(github.state.pulls.length).toBe(1);
  expect(remoteAt(branch)).toBeUndefined();
  expect(await store.pullRequests.get("b1111")).toMatchObject({ state: "merged", mergedCommit: "c9" });
});

test("a comment is written once for each effect", async () => {
  const { beginHere, move, github } = await forgeStage();
  await beginHere();
  expect((await move("b1111", "said")).held?.reason).toMatch(/no pull request to comment on/);
  await move("b1111", "offered");
  github.failNext({ kind: "lost", on: /^POST .*comments/ });
  await move("b1111", "said");
  expect(github.state.comments.map(({ body }) => body.split("\n")[0])).toEqual(["It is in said."]);
});

test("a pull request that is not approved or not mergeable holds the task; otherwise it is merged", async () => {
  const { beginHere, move, github, store, core, until, remoteAt } = await forgeStage();
  await beginHere();
  await move("b1111", "offered");
  expect((await move("b1111", "joined")).held).toMatchObject({ word: "unapproved" });

  const review = { id: 1, pull: 1, author: "ann", association: "MEMBER", body: "" };
  github.state.reviews.push({ ...review, state: "APPROVED", commit: remoteAt(branch) ?? "" });
  const [pull] = github.state.pulls;
  if (pull === undefined) throw new Error("It was opened.");
  pull.mergeable = false;
  expect((await move("b1111", "joined")).held).toMatchObject({ word: "unmergeable" });

  github.state.checkRuns.push({ commit: remoteAt(branch) ?? "", name: "taste", status: "queued", conclusion: null });
  pull.mergeable = true;
  expect((await move("b1111", "joined")).held).toMatchObject({ word: "unmergeable", reason: /checks/ as never });
  github.state.checkRuns.length = 0;

  // Unknown mergeability is polled again.
  pull.unknownFor = 1;
  await core.submit("b1111", { kind: "continue", actor: { role: "engine" } });
  await until("b1111", ({ task }) => task.status === "served");
  expect(pull.mergeCommit).toBe(`merge-of-${remoteAt(branch)}`);
  expect(await store.pullRequests.get("b1111")).toMatchObject({ state: "merged", mergedCommit: pull.mergeCommit });
});

test("commits that others have pushed to the pull request are not merged unseen", async () => {
  const { beginHere, move, github, remoteAt, git, remote } = await forgeStage();
  await beginHere();
  await move("b1111", "offered");
  const ours = remoteAt(branch) ?? "";
  const theirs = git(remote, "commit-tree", "-p", ours, "-m", "theirs", `${ours}^{tree}`);
  git(remote, "update-ref", `refs/heads/${branch}`, theirs);
  const review = { id: 1, pull: 1, author: "ann", association: "MEMBER", body: "" };
  github.state.reviews.push({ ...review, state: "APPROVED", commit: theirs });
  expect((await move("b1111", "joined")).held).toMatchObject({ word: "unmergeable", reason: /is at/ as never });
  expect(github.state.pulls[0]?.state).toBe("open");
});

test("merging distinguishes: no pull request, not approved, already merged", async () => {
  const { beginHere, move, github, ports, project, remoteAt, core } = await forgeStage();
  const task = await beginHere();
  const merge = async () => mergePullRequest(ports(), await project(), task, { check: async () => undefined });
  expect(await merge()).toEqual({ kind: "none" });
  await move("b1111", "offered");
  expect(await merge()).toMatchObject({ kind: "refused", reason: "Pull request 1 is not approved." });
  const review = { id: 1, pull: 1, author: "ann", association: "MEMBER", body: "" };
  github.state.reviews.push({ ...review, state: "APPROVED", commit: remoteAt(branch) ?? "" });
  const commit = `merge-of-${remoteAt(branch)}`;
  expect(await merge()).toEqual({ kind: "merged", commit });
  expect(await merge()).toEqual({ kind: "merged", commit });
  expect(github.requests.filter(({ method }) => method === "PUT").length).toBe(1);
  expect((await core.store.getTask("b1111"))?.task.status).toBe("resting");
});

test("the branch of an open pull request is kept; afterwards it is deleted", async () => {
  const { beginHere, move, github, remoteAt } = await forgeStage();
  await beginHere();
  await move("b1111", "offered");
  expect((await move("b1111", "swept")).held?.reason).toMatch(/pull request 1 is still open/);
  expect(remoteAt(branch)).toBeDefined();
  const [pull] = github.state.pulls;
  if (pull !== undefined) Object.assign(pull, { state: "closed", mergeCommit: "c9" });
  await move("b1111", "swept");
  expect(remoteAt(branch)).toBeUndefined();
  expect((await move("b1111", "swept")).status).toBe("resting");
});
