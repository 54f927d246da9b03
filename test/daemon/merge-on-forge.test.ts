import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mergeTask } from "../../src/daemon/requests/merge-task.ts";
import { forgeStage, human } from "./forge-stage.ts";

const branch = "signalbox/b1111";

async function startStage(place: "github" | "none" = "github") {
  const stage = await forgeStage({ place });
  const { core, begin, move, github, remoteAt, git, repository } = stage;
  await begin();
  await move("b1111", "offered");
  return {
    ...stage,
    merge: (local = false) =>
      mergeTask(core)({
        ...{
          params: { task: "b1111" },
          query: {},
          body: { local },
          caller: { kind: "human" },
          folder: "",
          lastEvent: "",
        },
      }),
    approve: () =>
      github.state.reviews.push({
        ...{ id: 1, pull: 1, author: "ann", association: "MEMBER", body: "" },
        ...{ state: "APPROVED", commit: remoteAt(branch) ?? "" },
      }),
    tip: () => git(repository, "rev-parse", "main"),
  };
}

test("a pull request without an approval is merged neither on the forge nor locally, and the refusal names the alternative", async () => {
  const { merge, tip, github } = await startStage();
  const before = tip();
  const answer = await merge();
  expect(answer).toMatchObject({ state: "refused", task: { status: "resting" } });
  expect(answer.reason).toBe(
    "Pull request 1 is not approved. To merge it locally instead: signalbox task merge b1111 --local",
  );
  expect([tip(), github.state.pulls[0]?.state]).toEqual([before, "open"]);
});

test("an approved pull request is merged on the forge, the task is done, and the user's branch follows the remote's", async () => {
  const { merge, approve, tip, github, git, remote, remoteAt, store } = await startStage();
  approve();
  // As the forge does it in its own repository.
  git(remote, "update-ref", "refs/heads/main", remoteAt(branch) ?? "");
  expect(await merge()).toMatchObject({ state: "merged", task: { status: "served" } });
  expect(github.requests.filter(({ method }) => method === "PUT").length).toBe(1);
  expect(tip()).toBe(remoteAt("main"));
  expect(await store.merges.get("b1111")).toMatchObject({ state: "merged", endedAt: expect.any(Number) });
});

test("a task whose pull request is already merged only moves", async () => {
  const { merge, github } = await startStage();
  const [pull] = github.state.pulls;
  if (pull !== undefined) Object.assign(pull, { state: "closed", mergeCommit: "c9" });
  expect(await merge()).toMatchObject({ state: "merged", commit: "c9", task: { status: "served" } });
  expect(github.requests.filter(({ method }) => method === "PUT")).toEqual([]);
});

test("a task with commits that its merged pull request lacks does not move, and the answer says how they are merged", async () => {
  const { merge, github, commit, store } = await startStage();
  const [pull] = github.state.pulls;
  if (pull !== undefined)
    Object.assign(pull, { state: "closed", mergeCommit: "c9", mergedHead: github.state.branches.get(branch) });
  commit((await store.getTask("b1111"))?.task.workspace ?? "", "stronger\n");
  const answer = await merge();
  expect(answer).toMatchObject({ state: "refused", task: { status: "resting" } });
  expect(answer.reason).toContain(
    'Pull request 1 was merged into "main" as c9. 1 commit of the task is not in "main".',
  );
  expect(answer.reason).toContain("signalbox task create-pr b1111");
});

test("a task whose pull request was squashed and whose branch has moved since, without new changes, is done", async () => {
  const { merge, github, git, remote, remoteAt, store } = await startStage();
  const [pull] = github.state.pulls;
  const head = remoteAt(branch) ?? "";
  const squash = git(remote, "commit-tree", "-p", "main", "-m", "squashed", `${head}^{tree}`);
  git(remote, "update-ref", "refs/heads/main", squash);
  if (pull !== undefined) Object.assign(pull, { state: "closed", mergeCommit: squash, mergedHead: head });
  const { workspace = "" } = (await store.getTask("b1111"))?.task ?? {};
  git(workspace, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "--amend", "-m", "reworded");
  expect(await merge()).toMatchObject({ state: "merged", task: { status: "served" } });
});

test("a task with a pull request can be merged locally, and the remote gets the commits", async () => {
  const { merge, tip, remoteAt, repository } = await startStage();
  expect(await merge(true)).toMatchObject({ state: "merged", task: { status: "served" } });
  expect(tip()).toBe(remoteAt("main"));
  expect(readFileSync(join(repository, "cup.md"), "utf8")).toBe("brewed\n");
});

test("without a forge, a local merge closes the recorded pull request", async () => {
  const { merge, store } = await startStage("none");
  expect(await store.pullRequests.get("b1111")).toMatchObject({ state: "open" });
  expect(await merge()).toMatchObject({ state: "merged", task: { status: "served" } });
  expect(await store.pullRequests.get("b1111")).toMatchObject({ state: "merged" });
});

test("a workflow's merge on the forge stops for a person where the work changes what decides about it", async () => {
  const stage = await forgeStage();
  const { begin, move, until, github, git, remote, remoteAt, core } = stage;
  const { workspace } = await begin();
  mkdirSync(join(workspace, ".github/workflows"), { recursive: true });
  writeFileSync(join(workspace, ".github/workflows/ci.yml"), "on: push\n");
  git(workspace, "add", "-A");
  git(workspace, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "checks");
  await move("b1111", "offered");
  github.state.reviews.push({
    ...{ id: 1, pull: 1, author: "ann", association: "MEMBER", body: "" },
    ...{ state: "APPROVED", commit: remoteAt(branch) ?? "" },
  });
  await core.submit("b1111", { kind: "move", to: "joined", actor: human });
  const held = await until("b1111", ({ task }) => task.held !== undefined);
  expect(held).toMatchObject({ status: "joined", held: { word: "protected" } });
  expect(held.held?.reason).toContain(".github/workflows/ci.yml");
  expect(github.requests.filter(({ method }) => method === "PUT")).toEqual([]);
  git(remote, "update-ref", "refs/heads/main", remoteAt(branch) ?? "");
  await core.submit("b1111", { kind: "continue", actor: human });
  await until("b1111", ({ isOpen }) => !isOpen);
  expect(github.requests.filter(({ method }) => method === "PUT")).toHaveLength(1);
});

test("a workflow's merge on the forge is refused where the tests of its state ran on another commit", async () => {
  const { begin, move, until, github, remote, remoteAt, core, git, commit } = await forgeStage();
  const { workspace } = await begin();
  const old = git(workspace, "rev-parse", "HEAD");
  commit(workspace, "stronger\n");
  await move("b1111", "offered");
  const review = { id: 1, pull: 1, author: "ann", association: "MEMBER", body: "" };
  github.state.reviews.push({ ...review, state: "APPROVED", commit: remoteAt(branch) ?? "" });
  git(remote, "update-ref", "refs/heads/main", remoteAt(branch) ?? "");
  const puts = () => github.requests.filter(({ method }) => method === "PUT").length;
  await core.submit("b1111", {
    ...{ kind: "edit", actor: { role: "engine" } },
    set: { tested: { commit: old, word: "ok" } },
  });
  await core.submit("b1111", { kind: "move", to: "proved", actor: human });
  const held = await until("b1111", ({ task }) => task.held !== undefined);
  expect([held.status, held.held?.word, puts()]).toEqual(["proved", "unmergeable", 0]);
  expect(held.held?.reason).toContain(`The tests ran on ${old.slice(0, 10)}`);
});

test.each([
  ["brings in the remote's new commit needs no review", [], "served"],
  ["undoes the remote's new commit, which only the remote has, is not merged unreviewed", ["-s", "ours"], "joined"],
])("after the review, a merge that %s", async (_, how, status) => {
  const stage = await forgeStage();
  const { begin, move, until, github, git, repository, remote, remoteAt, core } = stage;
  const { workspace } = await begin();
  await move("b1111", "offered");
  const judged = { commit: remoteAt(branch) ?? "", role: "judge" };
  await core.submit("b1111", { kind: "edit", actor: human, set: { judged } });
  const as = ["-c", "user.name=A", "-c", "user.email=a@b"];
  const tree = git(repository, "commit-tree", "-p", "main", "-m", "sugar", sugared(stage));
  git(repository, "push", "-q", `file://${remote}`, `${tree}:refs/heads/main`);
  git(workspace, "fetch", "-q", `file://${remote}`, "main");
  git(workspace, ...as, "merge", "-q", ...how, "-m", "Bring it up to date", "FETCH_HEAD");
  await move("b1111", "pushed");
  github.state.reviews.push({
    ...{ id: 1, pull: 1, author: "ann", association: "MEMBER", body: "" },
    ...{ state: "APPROVED", commit: remoteAt(branch) ?? "" },
  });
  await core.submit("b1111", { kind: "move", to: "joined", actor: human });
  const task = (await until("b1111", ({ task, isOpen }) => task.held !== undefined || !isOpen)) as {
    readonly status: string;
    readonly held?: { readonly word: string };
  };
  expect([task.status, task.held?.word]).toEqual([status, status === "joined" ? "unreviewed" : undefined]);
  const merges = github.requests.filter(({ method }) => method === "PUT");
  expect(merges).toHaveLength(status === "joined" ? 0 : 1);
});

/** A tree that is that of main, with a file more. */
function sugared({ git, repository }: Awaited<ReturnType<typeof forgeStage>>): string {
  writeFileSync(join(repository, "sugar.md"), "two spoons\n");
  git(repository, "add", "sugar.md");
  const tree = git(repository, "write-tree");
  git(repository, "reset", "-q", "--hard");
  return tree;
}
