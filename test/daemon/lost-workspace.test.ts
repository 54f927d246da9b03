import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { ExplanationView, TaskView } from "../../src/api/tasks.ts";
import { createHandlers } from "../../src/daemon/handlers.ts";
import { Fault } from "../../src/fault.ts";
import { startGitCore } from "./git-core.ts";
import { type GitStage, human, startGitStage } from "./git-stage.ts";

/** A person merges by hand, and the task is done once its work is merged. */
const flow = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: done, when: merged == true, hooks: [release_workspace] }
  - { from: any, to: dropped, by: human, hooks: [release_workspace] }
`;

/** A task with a collected commit, and a later one that was not collected. */
async function startLosing(kind: "worktree" | "clone") {
  const stage = await startGitStage({ flow });
  await stage.store.updateProject("coffee", { workspaces: kind });
  const { workspace } = await stage.begin("b1111");
  const commit = async (name: string) => {
    writeFileSync(join(workspace, name), "full\n");
    stage.git(workspace, "add", name);
    stage.git(workspace, "commit", "-qm", name);
    return stage.git(workspace, "rev-parse", "HEAD");
  };
  const first = await commit("cup.md");
  await explain(stage);
  return { ...stage, workspace, first, commit };
}

async function explain({ core }: Pick<GitStage, "core">) {
  const asked = { params: { task: "b1111" }, query: {}, body: {}, caller: { kind: "human" } };
  return (await createHandlers(core).explainTask?.(asked as never, {} as never)) as ExplanationView;
}

async function list({ core }: Pick<GitStage, "core">) {
  const asked = { params: {}, query: {}, body: {}, caller: { kind: "human" } };
  const answer = await createHandlers(core).listTasks?.(asked as never, {} as never);
  return (answer as { tasks: readonly TaskView[] } | undefined)?.tasks[0];
}

/** The need as lists show it. */
const trouble = async (stage: Pick<GitStage, "core">) =>
  (await list(stage))?.needs.find(({ reason }) => reason === "workspace")?.text;

const patience = { timeout: 30_000 };

type Losing = Awaited<ReturnType<typeof startLosing>>;

const losses: readonly (readonly [string, ("worktree" | "clone")[], (stage: Losing) => void])[] = [
  ["the folder", ["worktree", "clone"], ({ workspace }) => rmSync(workspace, { recursive: true })],
  ["its .git", ["worktree", "clone"], ({ workspace }) => rmSync(join(workspace, ".git"), { recursive: true })],
  [
    "the branch",
    ["worktree"],
    ({ repository, git }) => git(repository, "update-ref", "-d", "refs/heads/signalbox/b1111"),
  ],
  [
    "the branch inside of the clone",
    ["clone"],
    ({ workspace, git }) => git(workspace, "update-ref", "-d", "refs/heads/signalbox/b1111"),
  ],
  [
    "the folder and the branch",
    ["worktree"],
    ({ workspace, repository, git }) => {
      rmSync(workspace, { recursive: true });
      git(repository, "update-ref", "-d", "refs/heads/signalbox/b1111");
    },
  ],
  [
    "the folder and git's record of it",
    ["worktree"],
    ({ workspace, repository, git }) => {
      rmSync(workspace, { recursive: true });
      git(repository, "worktree", "prune");
    },
  ],
  [
    "the folder, git's record of it and the branch",
    ["worktree"],
    ({ workspace, repository, git }) => {
      rmSync(workspace, { recursive: true });
      git(repository, "worktree", "prune");
      git(repository, "branch", "-D", "signalbox/b1111");
    },
  ],
  [
    "the folder, git's record of it, the branch and its commits",
    ["worktree"],
    ({ workspace, repository, git, first }) => {
      rmSync(workspace, { recursive: true });
      git(repository, "worktree", "prune");
      git(repository, "branch", "-D", "signalbox/b1111");
      git(repository, "reflog", "expire", "--expire=now", "--all");
      git(repository, "gc", "--quiet", "--prune=now");
      expect(() => git(repository, "cat-file", "-e", first)).toThrow();
    },
  ],
];

for (const [what, kinds, lose] of losses) {
  for (const kind of kinds) {
    test(`${kind}: ${what} deleted by hand is reported, and one command recreates it with the work`, async () => {
      const stage = await startLosing(kind);
      const { core, workspace, first, git, until, complaints } = stage;
      lose(stage);
      const { blocked } = await explain(stage);
      expect(blocked[0]?.reason).toContain(workspace);
      expect(blocked[0]?.fix).toBe("Recreate it from the saved work: signalbox task respawn b1111");
      expect(await trouble(stage)).toBe(blocked[0]?.reason);
      const { decision } = await core.submit("b1111", { kind: "respawn", actor: human });
      expect(decision).toMatchObject({ kind: "stayed", events: [{ type: "workspace.restored" }] });
      await expect.poll(() => trouble(stage), patience).toBeUndefined();
      await expect.poll(async () => (await core.store.openEffects("b1111")).length, patience).toBe(0);
      expect(git(workspace, "branch", "--show-current")).toBe("signalbox/b1111");
      expect(git(workspace, "rev-parse", "HEAD")).toBe(first);
      expect(readFileSync(join(workspace, "cup.md"), "utf8")).toBe("full\n");
      expect(existsSync(join(workspace, "TASK.md"))).toBe(true);
      expect((await explain(stage)).blocked.map(({ reason }) => reason).join()).not.toContain(workspace);
      await stage.move("b1111", "dropped");
      await until("b1111", ({ isOpen }) => !isOpen);
      expect(complaints).toEqual([]);
    });
  }
}

test("an effect that failed in a deleted workspace is retried when the workspace is recreated", async () => {
  let cups = 0;
  const brew = "{ action: run_command, command: [brew] }";
  const brewing = flow.replace("hooks: [acquire_workspace]", `hooks: [acquire_workspace, ${brew}]`);
  const stage = await startGitCore({
    ...{ name: "lost-hook", flow: brewing },
    ports: {
      performers: () => ({
        async run_command() {
          cups += 1;
          if (cups === 1) throw new Fault("command.failed", "brew ended with 1.");
        },
      }),
    },
  });
  await stage.create("b1111");
  await stage.core.submit("b1111", { kind: "continue", actor: human });
  const { workspace } = await stage.until("b1111", ({ task }) => task.held !== undefined);
  rmSync(workspace, { recursive: true });
  await stage.core.submit("b1111", { kind: "respawn", actor: human });
  await stage.until("b1111", ({ task }) => task.phase === "waiting" && task.held === undefined);
  expect(cups).toBe(2);
  expect(existsSync(join(workspace, "TASK.md"))).toBe(true);
});

test("uncommitted changes survive a deleted branch", async () => {
  const stage = await startLosing("worktree");
  const { core, workspace, repository, git, first } = stage;
  writeFileSync(join(workspace, "cup.md"), "half\n");
  git(repository, "update-ref", "-d", "refs/heads/signalbox/b1111");
  await core.submit("b1111", { kind: "respawn", actor: human });
  const head = () => git(workspace, "rev-parse", "--verify", "--quiet", "HEAD");
  await vi.waitFor(() => expect(head()).toBe(first), patience);
  expect(await trouble(stage)).toBeUndefined();
  expect(readFileSync(join(workspace, "cup.md"), "utf8")).toBe("half\n");
});

test("work does not count as merged if its target branch is missing", async () => {
  const { core, repository, git } = await startLosing("clone");
  git(repository, "branch", "-m", "main", "trunk");
  const { decision } = await core.submit("b1111", { kind: "continue", actor: human });
  expect(decision).toMatchObject({ kind: "rejected", reasons: [{ text: "The work is not merged yet." }] });
});

test("whether work is merged is known from its branch, even if the workspace is missing", async () => {
  const stage = await startLosing("worktree");
  const { core, workspace, repository, git, until, commit } = stage;
  // This commit was not collected before the folder was deleted.
  const last = await commit("saucer.md");
  rmSync(workspace, { recursive: true });
  const ask = () => core.submit("b1111", { kind: "continue", actor: human });
  expect((await ask()).decision).toMatchObject({ kind: "rejected" });
  git(repository, "merge", "-q", "--no-edit", "signalbox/b1111");
  expect(git(repository, "merge-base", "--is-ancestor", last, "main")).toBe("");
  expect((await ask()).decision).toMatchObject({ kind: "moved" });
  expect(await until("b1111", ({ isOpen }) => !isOpen)).toMatchObject({ status: "done" });
});

test("a deleted control repository is recreated immediately, and the task is merged", async () => {
  const stage = await startLosing("worktree");
  const { core, store, repository, git } = stage;
  const second = await stage.commit("milk.md");
  const project = await store.getProject("coffee");
  if (project === undefined || core.pools === undefined) throw new Error("There is no project.");
  const { control } = await core.pools.workspacesOf(project);
  rmSync(control.folder, { recursive: true });
  expect((await explain(stage)).task.id).toBe("b1111");
  rmSync(control.folder, { recursive: true });
  const asked = { params: { task: "b1111" }, query: {}, body: {}, caller: { kind: "human" }, folder: "" };
  const merged = await createHandlers(core).mergeTask?.(asked as never, {} as never);
  expect(merged).toMatchObject({ state: "merged", commit: second });
  expect(git(repository, "log", "--format=%s", "main").split("\n")).toContain("milk.md");
  expect(existsSync(control.folder)).toBe(true);
});
