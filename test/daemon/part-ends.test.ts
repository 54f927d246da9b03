import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { noneForge } from "../../src/adapters/no-forge.ts";
import { systemClock } from "../../src/adapters/system.ts";
import { askedPullRequests } from "../../src/daemon/forge/pull-request.ts";
import { createForges } from "../../src/daemon/forge/push-task.ts";
import { createDiffOf } from "../../src/daemon/prompt-diff.ts";
import { partFlow, partStage } from "./part-stage.ts";

const endFlow = partFlow
  .replace(
    "  joined: { waits_for: human, next: done }",
    "  joined: { do: [push_branch, create_pr], next: offered }\n  offered: { waits_for: human, next: done }",
  )
  .replace("from: [todo, joined, conflicted]", "from: [todo, offered, conflicted]");

/** A project without a forge; its pull requests are only recorded. */
async function endStage(remote: "remote" | "no remote") {
  const stage = await partStage({
    flow: endFlow,
    ports: {
      forgeOf: (project) =>
        createForges({
          git: stage.adapter,
          choice: () => "none",
          github: async () => undefined,
          none: ({ name }) => noneForge(askedPullRequests({ store: stage.store, clock: systemClock }, name)),
        })(project),
    },
  });
  const { base, repository, git } = stage;
  const bare = join(base, "remote.git");
  if (remote === "remote") {
    execFileSync("git", ["clone", "-q", "--bare", repository, bare]);
    git(repository, "remote", "add", "origin", bare);
  }
  return { ...stage, bare };
}

test("without a remote the finished branch is made in the user's repository, and the record lists the parts", async () => {
  const { begin, part, move, commit, git, repository, tip, store } = await endStage("no remote");
  await begin();
  const [done, failed] = [await part("b1111", 1), await part("b2222", 2)];
  commit(done.workspace, { "cup.md": "full\n" });
  commit(failed.workspace, { "salt.md": "no\n" });
  await move("b1111", "merging");
  await move("b2222", "dropped");
  expect(git(repository, "branch", "--list", "team/*")).toBe("");
  expect(await move("ppppp", "whole")).toMatchObject({ status: "offered", prUrl: "" });
  expect(git(repository, "rev-parse", "team/x")).toBe(await tip());
  expect(git(repository, "show", "team/x:cup.md")).toBe("full");
  const { body } = (await store.pullRequests.get("ppppp")) ?? {};
  expect(body).toContain("| Part b1111 | done |  |\n| Part b2222 | failed |");
});

test("a branch of the user's with the same name is not overwritten", async () => {
  const { begin, part, move, commit, git, repository } = await endStage("no remote");
  await begin();
  const { workspace } = await part("b1111", 1);
  commit(workspace, { "cup.md": "full\n" });
  await move("b1111", "merging");
  git(repository, "checkout", "-qb", "team/x");
  const mine = commit(repository, { "mine.md": "mine\n" });
  git(repository, "checkout", "-q", "main");
  const task = await move("ppppp", "whole");
  expect(task.held?.reason).toContain("task fetch ppppp --as NAME");
  expect(git(repository, "rev-parse", "team/x")).toBe(mine);
});

test("with a remote the parent's branch is pushed, and those of its parts are not", async () => {
  const { begin, part, move, commit, git, bare, tip } = await endStage("remote");
  await begin();
  const { workspace } = await part("b1111", 1);
  commit(workspace, { "cup.md": "full\n" });
  await move("b1111", "merging");
  expect(git(bare, "branch", "--format=%(refname:short)")).toBe("main");
  expect(await move("ppppp", "whole")).toMatchObject({ status: "offered" });
  expect(git(bare, "branch", "--format=%(refname:short)")).toBe("main\nteam/x");
  expect(git(bare, "rev-parse", "team/x")).toBe(await tip());
});

test("work starts from the remote's branch where that is ahead, and the remote's commits are not the task's", async () => {
  const flow = endFlow.replace(
    "hooks: [acquire_workspace, release_workspace]",
    "hooks: [sync_repo, acquire_workspace]",
  );
  const stage = await partStage({ flow });
  const { base, repository, git, commit, begin, core, move } = stage;
  const [bare, other] = [join(base, "remote.git"), join(base, "other")];
  execFileSync("git", ["clone", "-q", "--bare", repository, bare]);
  execFileSync("git", ["clone", "-q", bare, other]);
  git(repository, "remote", "add", "origin", bare);
  const ahead = commit(other, { "news.md": "new\n" });
  git(other, "push", "-q", "origin", "main");
  const local = git(repository, "rev-parse", "main");
  const { workspace } = await begin();
  expect(git(workspace, "rev-parse", "HEAD")).toBe(ahead);
  expect(git(repository, "rev-parse", "main")).toBe(local);
  const look = async () => core.look(await stage.until("ppppp", () => true));
  expect((await look()).facts.numbers).toMatchObject({ commits: 0, merged: 0 });
  commit(workspace, { "cup.md": "full\n" });
  expect((await look()).facts.numbers).toMatchObject({ commits: 1, merged: 0 });
  await move("ppppp", "dropped");
});

test("the diff in a prompt is that of the part alone, is bounded, and says how to read the rest", async () => {
  const stage = await partStage();
  const { begin, part, move, commit, store, workspacesOf } = stage;
  await begin();
  const first = await part("b1111", 1);
  commit(first.workspace, { "cup.md": "full\n" });
  await move("b1111", "merging");
  const second = await part("b2222", 2);
  commit(second.workspace, { "saucer.md": "flat\n" });
  const diffOf = createDiffOf({ store, workspacesOf, where: () => "here" });
  const text = await diffOf(second);
  expect(text).toContain("+flat");
  expect(text).not.toContain("full");
  const commits = commit(second.workspace, { "long.md": "a line of tea\n".repeat(10_000) });
  const long = await diffOf(second);
  expect(long.length).toBeLessThan(50_000);
  expect(long).toMatch(
    new RegExp(`long.md \\+10000 -0\nsaucer.md \\+1 -0\nRead the rest: git diff \\w+ ${commits} -- PATH$`),
  );
});
