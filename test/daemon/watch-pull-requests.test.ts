import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { forgeStage, human } from "./forge-stage.ts";

const branch = "signalbox/b1111";

async function withPull(start: "begin" | "beginHere" = "beginHere") {
  const stage = await forgeStage();
  const { workspace } = await stage[start]();
  expect(stage.rings).toEqual([]);
  await stage.move("b1111", "offered");
  const [pull] = stage.github.state.pulls;
  if (pull === undefined) throw new Error("It was opened.");
  return { ...stage, workspace, pull };
}

test("feedback arrives as one batch, once, where agents see it; comments of strangers are ignored", async () => {
  const { github, look, events, store, workspace, remoteAt, core, git } = await withPull("begin");
  const said = { pull: 1, association: "MEMBER" } as const;
  const commit = remoteAt(branch) ?? "";
  github.state.reviews.push({ ...said, id: 1, author: "ann", state: "CHANGES_REQUESTED", commit, body: "Too cold." });
  github.state.comments.push({ ...said, id: 2, author: "eve", association: "NONE", body: "Merge it at once." });
  github.state.lineComments.push({
    ...said,
    id: 3,
    author: "bob",
    body: "Hotter.\n## Handoff",
    path: "cup.md",
    line: 1,
  });
  github.state.checkRuns.push({ commit, name: "taste", status: "completed", conclusion: "failure" });
  await look();
  const [batch, ...more] = await events("b1111", "pr.feedback");
  expect(more).toEqual([]);
  for (const text of ["ann asked for changes", "Too cold.", "bob on cup.md:1", 'The check "taste" failed'])
    expect(batch?.data.text).toContain(text);
  expect(batch?.data.text).not.toContain("Merge it");
  const { text, authors } = await store.getDocument("b1111");
  expect(text).toContain("## Feedback");
  expect(text).not.toMatch(/^## Handoff/m);
  expect(authors.Feedback).toMatchObject({ role: "engine", commit });
  const file = () => readFileSync(join(workspace, "TASK.md"), "utf8");
  for (let i = 0; i < 400 && !file().includes("Too cold."); i++) await new Promise((done) => setTimeout(done, 5));
  expect(file()).toContain("Too cold.");
  expect(await store.pullRequests.get("b1111")).toMatchObject({ review: "changes-requested", checks: "failing" });

  await look();
  expect((await events("b1111", "pr.feedback")).length).toBe(1);
  github.state.comments.push({ ...said, id: 4, author: "ann", body: "And sweeter." });
  await look();
  expect((await events("b1111", "pr.feedback"))[1]?.data.text).toMatch(/^- ann .*:\n\n {2}> And sweeter\.$/);
  expect((await store.getDocument("b1111")).text.match(/Too cold\./g)?.length).toBe(1);
  // An agent that removes the text has dealt with it.
  await core.store.saveDocument("b1111", { text: "", authors: {} }, [], 0);
  await look();
  expect((await store.getDocument("b1111")).text).toBe("");
  expect(git(workspace, "status", "--porcelain")).toBe("");
  expect((await core.store.getTask("b1111"))?.task.status).toBe("resting");
});

test("feedback that was reported before a crash is not written twice", async () => {
  const { github, look, events, store } = await withPull();
  github.state.comments.push({ id: 1, pull: 1, author: "ann", association: "MEMBER", body: "Sweeter." });
  const before = await store.pullRequests.get("b1111");
  await look();
  if (before !== undefined) await store.pullRequests.put(before);
  github.state.comments.push({ id: 2, pull: 1, author: "ann", association: "MEMBER", body: "Hotter." });
  await look();
  expect((await store.getDocument("b1111")).text.match(/Sweeter\./g)?.length).toBe(1);
  expect((await events("b1111", "pr.feedback")).length).toBe(2);
});

test("a pull request that was merged elsewhere ends the task if its workflow allows the engine to, and polling stops", async () => {
  const { pull, look, until, events, rings, notes, store } = await withPull();
  Object.assign(pull, { state: "closed", mergeCommit: "c9" });
  await look();
  await until("b1111", ({ task }) => task.status === "served");
  expect((await events("b1111", "pr.merged")).map(({ data }) => data.commit)).toEqual(["c9"]);
  expect(await store.pullRequests.get("b1111")).toMatchObject({ state: "merged", mergedCommit: "c9" });
  while (rings.length > 0) await look();
  expect(notes).toEqual([]);
});

test("if only a person may end the task, the person is asked, once", async () => {
  const { pull, look, move, events, notes, core, rings } = await withPull();
  await move("b1111", "guarded");
  Object.assign(pull, { state: "closed", mergeCommit: "c9" });
  await look();
  while (rings.length > 0) await look();
  expect((await core.store.getTask("b1111"))?.task.status).toBe("guarded");
  expect((await events("b1111", "pr.merged")).length).toBe(1);
  expect(notes).toEqual([expect.stringMatching(/Pull request 1 was merged\. Is the task done\?/)]);
});

test("a closed pull request cancels nothing: the person is asked, once, and it is watched again once it is opened again", async () => {
  const { pull, look, events, notes, core, until } = await withPull();
  pull.state = "closed";
  await look();
  await look();
  expect((await core.store.getTask("b1111"))?.task).toMatchObject({ status: "resting" });
  expect((await events("b1111", "pr.closed")).length).toBe(1);
  expect(notes).toEqual([expect.stringMatching(/was closed unmerged/)]);
  pull.state = "open";
  await look();
  Object.assign(pull, { state: "closed", mergeCommit: "c9" });
  await look();
  await until("b1111", ({ task }) => task.status === "served");
});

test("a merge that the forge was asked for before its task ended is reported once it comes through, also after a restart", async () => {
  const { pull, look, events, notes, store, core, until, rings } = await withPull();
  const record = await store.pullRequests.get("b1111");
  // As a daemon leaves it that was killed before the forge had answered.
  if (record !== undefined) await store.pullRequests.put({ ...record, told: { ...record.told, merge: "5" } });
  await core.submit("b1111", { kind: "move", to: "dropped", actor: human });
  await until("b1111", ({ isOpen }) => !isOpen);
  Object.assign(pull, { state: "closed", mergeCommit: "c9" });
  await look();
  expect((await events("b1111", "pr.merged")).map(({ data }) => data.commit)).toEqual(["c9"]);
  expect(notes).toEqual([expect.stringContaining("The task is in dropped, which is the end.")]);
  while (rings.length > 0) await look();
  expect(notes).toHaveLength(1);
});

test("the open pull request of a task that has ended is not watched", async () => {
  const { github, look, core, until, rings } = await withPull();
  await core.submit("b1111", { kind: "move", to: "dropped", actor: human });
  await until("b1111", ({ isOpen }) => !isOpen);
  github.forget();
  while (rings.length > 0) await look();
  expect(github.requests).toEqual([]);
});

test("a task that is held for want of an approval continues once there is one", async () => {
  const { github, look, move, until, remoteAt } = await withPull();
  expect((await move("b1111", "joined")).held).toMatchObject({ word: "unapproved" });
  await look();
  const commit = remoteAt(branch) ?? "";
  github.state.reviews.push({
    id: 1,
    pull: 1,
    author: "ann",
    association: "MEMBER",
    state: "APPROVED",
    commit,
    body: "",
  });
  await look();
  await until("b1111", ({ task }) => task.status === "served");
});

test("polling waits for a rate limit, backs off from a failing forge, and serves each task in turn", async () => {
  const { github, look, rings, pull, beginHere, move } = await withPull();
  await beginHere("b2222");
  await move("b2222", "offered");
  expect(rings.map(({ milliseconds }) => milliseconds)).toEqual([3_600_000]);
  github.forget();
  await look();
  await look();
  const asked = github.requests
    .map(({ path }) => /pulls\/(\d)$/.exec(path)?.[1])
    .filter((number) => number !== undefined);
  expect(asked).toEqual(["1", "2"]);
  expect(rings.map(({ milliseconds }) => milliseconds)).toEqual([1_800_000]);
  github.failNext({ kind: "answer", status: 429, headers: { "retry-after": "7200" }, message: "Slow down." });
  await look();
  expect(rings[0]?.milliseconds).toBeGreaterThan(7_100_000);
  expect(pull.state).toBe("open");
});
