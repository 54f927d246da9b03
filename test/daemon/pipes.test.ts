import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ChangeView, ExplanationView, TaskView } from "../../src/api/tasks.ts";
import { createHandlers } from "../../src/daemon/handlers.ts";
import { readProcessTree } from "../process-tree.ts";
import { type GitStage, startGitStage } from "./git-stage.ts";

const flow = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: done, hooks: [release_workspace] }
  - { from: any, to: dropped, by: human, hooks: [release_workspace] }
`;

type Kind = "worktree" | "clone";

async function startPiping(kind: Kind) {
  const stage = await startGitStage({ flow, poolSize: 6 });
  await stage.store.updateProject("coffee", { workspaces: kind });
  const gitFolder = (workspace: string) => stage.git(workspace, "rev-parse", "--absolute-git-dir");
  return { ...stage, gitFolder };
}

const about = (task: string) =>
  ({ params: { task }, query: {}, body: {}, caller: { kind: "human" }, folder: "" }) as never;

const explain = async ({ core }: Pick<GitStage, "core">, task: string) =>
  (await createHandlers(core).explainTask?.(about(task), {} as never)) as ExplanationView;

const listed = async ({ core }: Pick<GitStage, "core">, id: string) => {
  const asked = { params: {}, query: {}, body: {}, caller: { kind: "human" } };
  const answer = await createHandlers(core).listTasks?.(asked as never, {} as never);
  return (answer as { tasks: readonly TaskView[] }).tasks.find((task) => task.id === id);
};

function pipe(path: string): void {
  rmSync(path, { force: true });
  execFileSync("mkfifo", [path]);
}

/** Running git processes that this process started. */
const gits = () =>
  readProcessTree()
    .below(process.pid)
    .filter((pid) => {
      try {
        return execFileSync("ps", ["-o", "comm=", "-p", `${pid}`], { encoding: "utf8" }).startsWith("git");
      } catch {
        return false;
      }
    });

const places: readonly (readonly [string, (workspace: string, gitFolder: string) => string])[] = [
  [".gitignore", (workspace) => join(workspace, ".gitignore")],
  [
    "a .gitignore deep in the tree",
    (workspace) => {
      mkdirSync(join(workspace, "cups/large"), { recursive: true });
      writeFileSync(join(workspace, "cups/large/a.md"), "");
      return join(workspace, "cups/large/.gitignore");
    },
  ],
  ["the index", (_, gitFolder) => join(gitFolder, "index")],
  ["HEAD", (_, gitFolder) => join(gitFolder, "HEAD")],
];

for (const kind of ["worktree", "clone"] as const) {
  // The HEAD of a worktree is mended.
  for (const [what, placeOf] of places.filter(([name]) => kind === "clone" || name !== "HEAD")) {
    test(`${kind}: a pipe in the place of ${what} needs a person, stops no other task, and the task can be cancelled`, async () => {
      const stage = await startPiping(kind);
      const { workspace } = await stage.begin("b1111");
      writeFileSync(join(workspace, "cup.md"), "full\n");
      const path = placeOf(workspace, stage.gitFolder(workspace));
      pipe(path);
      const { blocked } = await explain(stage, "b1111");
      // A workspace without a readable HEAD is broken: it is recreated.
      const isGone = what === "HEAD";
      const [named, fix] = isGone ? [workspace, "signalbox task respawn b1111"] : [path, `rm ${path}`];
      const told = blocked.find(({ reason }) => reason.includes(named));
      expect(told, JSON.stringify(blocked)).toMatchObject({ fix: expect.stringContaining(fix) });
      const need = (await listed(stage, "b1111"))?.needs.find(({ reason }) => reason === "workspace");
      expect(need?.text).toContain(named);
      // Each of these would wait for a git that hangs.
      const started = Date.now();
      await Promise.all(["b2222", "b3333", "b4444"].map((id) => stage.begin(id)));
      expect(Date.now() - started).toBeLessThan(20_000);
      const change = (await createHandlers(stage.core).cancelTask?.(about("b1111"), {} as never)) as ChangeView;
      expect(change.kind).toBe("moved");
      await stage.until("b1111", ({ isOpen }) => !isOpen);
      const { control } = await stage.workspaces();
      const salvaged = (await control.listSalvaged()).map(({ task }) => task);
      // Files without a repository stay: the folder is set aside, or saved when the next task gets it.
      const places = [workspace, `${workspace}-left-b1111`].map((folder) => join(folder, "cup.md"));
      if (what === "HEAD") expect(places.some((path) => existsSync(path))).toBe(true);
      else expect(salvaged).toEqual(["b1111"]);
      await expect.poll(gits, { timeout: 10_000 }).toEqual([]);
    });
  }
}

test("a pipe in the place of a worktree's HEAD is replaced by the HEAD that was collected", async () => {
  const stage = await startPiping("worktree");
  const { workspace } = await stage.begin("b1111");
  writeFileSync(join(workspace, "cup.md"), "full\n");
  pipe(join(stage.gitFolder(workspace), "HEAD"));
  const { blocked } = await explain(stage, "b1111");
  expect(blocked.filter(({ reason }) => reason.includes(workspace))).toEqual([]);
  expect(stage.git(workspace, "branch", "--show-current")).toBe("signalbox/b1111");
  expect(stage.git(workspace, "status", "--porcelain")).toContain("cup.md");
});

test("a task file that is a pipe needs a person", async () => {
  const stage = await startPiping("worktree");
  const { workspace } = await stage.begin("b1111");
  pipe(join(workspace, "TASK.md"));
  const need = (await listed(stage, "b1111"))?.needs.find(({ reason }) => reason === "workspace");
  expect(need?.text).toContain(`${workspace}/TASK.md must be a plain file, but it is a named pipe.`);
  rmSync(join(workspace, "TASK.md"));
  expect((await listed(stage, "b1111"))?.needs.some(({ reason }) => reason === "workspace")).toBe(false);
});

test("a removed pipe is no longer trouble", async () => {
  const stage = await startPiping("worktree");
  const { workspace } = await stage.begin("b1111");
  mkdirSync(join(workspace, "cups"));
  writeFileSync(join(workspace, "cups/a.md"), "");
  pipe(join(workspace, "cups/.gitignore"));
  expect((await explain(stage, "b1111")).blocked.map(({ reason }) => reason).join()).toContain("cups/.gitignore");
  rmSync(join(workspace, "cups/.gitignore"));
  expect((await explain(stage, "b1111")).blocked.map(({ reason }) => reason).join()).not.toContain("cups/.gitignore");
  expect((await listed(stage, "b1111"))?.needs.some(({ reason }) => reason === "workspace")).toBe(false);
});
