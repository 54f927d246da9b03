import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { createRandom } from "../../src/engine/simulate/live.ts";
import { createAsk, type Daemon, killDaemons, startDaemon } from "./daemon.ts";
import { createHome } from "./home.ts";
import { endAllWith } from "./look-at-system.ts";

const flow = `name: pour
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: done }
  done: { terminal: true }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: done, by: human, hooks: [release_workspace] }
`;

export interface MergeKilling {
  readonly seed: number;
  readonly kills: number;
  /** How many tasks are being merged whenever the daemon is killed. */
  readonly tasksEach: number;
}

/** Kills a daemon repeatedly while it merges, and checks main and the tasks. */
export async function killMergingDaemons({ seed, kills, tasksEach }: MergeKilling): Promise<void> {
  const random = createRandom(seed);
  const draw = (below: number) => Math.floor(random.next() * below);
  const home = createHome(() => ({ pour: flow }), { isEmpty: true });
  const user = home.repository;
  const git = (folder: string, ...args: readonly string[]) =>
    execFileSync("git", ["-C", folder, "-c", "user.name=A", "-c", "user.email=a@b", ...args], {
      encoding: "utf8",
    }).trim();
  git(user, "config", "user.name", "A");
  git(user, "config", "user.email", "a@b");
  git(user, "symbolic-ref", "HEAD", "refs/heads/main");
  git(user, "commit", "-q", "--allow-empty", "-m", "first");
  const heads = new Map<string, string>();
  const isIn = (commit: string) => git(user, "rev-list", "main").includes(commit);
  try {
    let daemon: Daemon = await startDaemon(home);
    const ask = createAsk(home);
    const settings = { workflow: "pour", poolSize: 50, defaultBranch: "main" };
    await ask(routes.addProject, { body: { name: "coffee", path: user, ...settings } });
    const taskOf = async (task: string) => (await ask(routes.getTask, { params: { task } })).task;

    /** A task whose agent has committed something. */
    const work = async (): Promise<string> => {
      const { task } = await ask(routes.createTask, { body: { project: "coffee", summary: "Pour" } });
      const params = { task: task.id };
      await ask(routes.continueTask, { params, body: {} });
      await expect.poll(async () => (await taskOf(task.id)).phase, { timeout: 30_000, interval: 20 }).toBe("waiting");
      const { workspace } = await taskOf(task.id);
      writeFileSync(join(workspace, `${task.id}.md`), "poured\n");
      git(workspace, "add", `${task.id}.md`);
      git(workspace, "commit", "-q", "-m", "poured");
      heads.set(task.id, git(workspace, "rev-parse", "HEAD"));
      return task.id;
    };
    const merge = (task: string) => ask(routes.mergeTask, { params: { task }, body: {} });
    /** The work of every task that is done is in main. */
    const check = async (ids: Iterable<string>) => {
      for (const id of ids)
        if ((await taskOf(id)).status === "done") expect([id, isIn(heads.get(id) ?? "")]).toEqual([id, true]);
    };

    let left: readonly string[] = [];
    for (let kill = 0; kill < kills; kill++) {
      const ids = [...left];
      for (let i = 0; i < tasksEach; i++) ids.push(await work());
      for (const id of ids) merge(id).catch(() => undefined);
      await sleep(draw(1_200));
      await daemon.kill();
      // Kill git too, or let it outlive the daemon.
      if (draw(2) === 0) {
        endAllWith(`HOME=${home.base}`);
        // As the message advises: only the user may remove the lock file of a killed git in their repository.
        for (const lock of ["index", "HEAD", "ORIG_HEAD", "refs/heads/main"])
          rmSync(join(user, ".git", `${lock}.lock`), { force: true });
      }
      daemon = await startDaemon(home);
      await check(ids);
      // Repeat requests that were not answered.
      const { tasks } = await ask(routes.listTasks, { query: { open: "true" } });
      left = tasks.map(({ id }) => id);
    }
    for (const id of left) merge(id).catch(() => undefined);
    await expect
      .poll(async () => (await ask(routes.listTasks, { query: { open: "true" } })).tasks.length, {
        timeout: 60_000,
        interval: 100,
      })
      .toBe(0);
    await check(heads.keys());
    const second = git(user, "log", "--first-parent", "--format=%P", "main")
      .split("\n")
      .flatMap((line) => line.split(" ").slice(1));
    expect(second.sort()).toEqual([...heads.values()].sort());
    expect(git(user, "status", "--porcelain")).toBe("");
    for (const folder of [user, join(home.places.control, "coffee.git")])
      expect(git(folder, "fsck", "--no-dangling", "--no-progress")).toBe("");
    expect(await ask(routes.check)).toEqual({ damage: [], stuck: [], branches: [], unsaved: [] });
  } finally {
    await killDaemons();
    home.remove();
  }
}
