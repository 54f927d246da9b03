import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type ControlRepository, taskRef } from "../../src/ports/control-repository.ts";
import type { Git } from "../../src/ports/git.ts";
import { createCrashingGit } from "./crashing-git.ts";
import { author, cloneOf, createStage, date, repositoryAt } from "./stage.ts";

const stage = createStage("crash");

/** A user's repository, a workspace that has rewritten a collected branch, and a control repository. */
async function prepare() {
  const user = stage.repository();
  const control = await stage.control(user);
  const clone = cloneOf(stage, user);
  const collected = clone.commit({ "a.txt": "collected\n" });
  await control.collect({ folder: clone.folder, branch: "task", task: "t1" });
  clone.git("reset", "--quiet", "--hard", "origin/main");
  const rewritten = clone.commit({ "a.txt": "rewritten\n", "new.txt": "new\n" });
  user.git("checkout", "--quiet", "-b", "gone");
  const gone = user.commit({ "gone.txt": "gone\n" });
  await control.syncFrom({ from: user.folder, name: "user" });
  user.git("checkout", "--quiet", "main");
  user.git("branch", "-D", "gone");
  user.git("branch", "added");
  clone.write("b.txt", "stashed\n");
  clone.git("stash", "--quiet");
  const stashed = clone.at("stash");
  const staged = "staged and removed\n";
  clone.write("b.txt", "uncommitted\n");
  clone.write("staged.txt", staged);
  clone.git("add", "staged.txt");
  rmSync(join(clone.folder, "staged.txt"));
  return { user, clone, control, collected, rewritten, gone, stashed, main: user.at("main") };
}

const prepared = await prepare();

/** A copy of all three for one crash. */
function copy(number: string) {
  const folder = join(stage.base, `case-${number}`);
  mkdirSync(folder);
  for (const [name, from] of [
    ["user", prepared.user.folder],
    ["clone", prepared.clone.folder],
    ["control.git", prepared.control.folder],
  ] as const)
    cpSync(from, join(folder, name), { recursive: true, preserveTimestamps: true });
  return {
    folder,
    user: repositoryAt(join(folder, "user"), stage.env),
    clone: repositoryAt(join(folder, "clone"), stage.env),
    control: join(folder, "control.git"),
  };
}

type Copy = ReturnType<typeof copy>;

interface Operation {
  readonly run: (git: Git, here: Copy) => Promise<unknown>;
  /** Must hold once the operation is complete, however often it was interrupted. */
  readonly holds: (control: ControlRepository, here: Copy) => Promise<void>;
}

const { collected, rewritten, gone, stashed, main } = prepared;
const merge = { onto: main, branch: collected, strategy: "merge", message: "Merge", author, date } as const;

async function isReachable(here: Copy, commit: string): Promise<boolean> {
  const control = repositoryAt(here.control, stage.env);
  return control
    .git("for-each-ref", `--contains=${commit}`)
    .split("\n")
    .some((line) => line !== "");
}

const operations: Readonly<Record<string, Operation>> = {
  "making the control repository": {
    run: (git, { folder, user }) => git.openControl(join(folder, "made.git"), user.folder),
    holds: async (_, { folder }) => {
      const made = repositoryAt(join(folder, "made.git"), stage.env);
      expect(made.git("config", "gc.pruneExpire")).toBe("never");
      expect(made.git("fsck")).toBe("");
    },
  },
  collecting: {
    run: async (git, { control, clone }) =>
      (await git.openControl(control)).collect({ folder: clone.folder, branch: "task", task: "t1" }),
    holds: async (control, here) => {
      expect(await control.commitAt(taskRef("t1"))).toBe(rewritten);
      expect(await control.commitAt("refs/signalbox/kept/t1/1")).toBe(collected);
      expect(await control.commitAt("refs/signalbox/kept/t1/2")).toBeUndefined();
      expect(await isReachable(here, collected)).toBe(true);
    },
  },
  "collecting what was seen": {
    run: async (git, { control, clone }) => {
      const order = { folder: clone.folder, branch: "task", task: "t1", seenAt: rewritten };
      return (await git.openControl(control)).collect(order);
    },
    holds: async (control, here) => {
      expect(await control.commitAt(taskRef("t1"))).toBe(rewritten);
      expect(await control.commitAt("refs/signalbox/kept/t1/1")).toBe(collected);
      expect(await isReachable(here, collected)).toBe(true);
    },
  },
  syncing: {
    run: async (git, { control, user }) =>
      (await git.openControl(control)).syncFrom({ from: user.folder, name: "user" }),
    holds: async (control, here) => {
      expect(await control.commitAt("refs/remotes/user/added")).toBe(main);
      expect(await control.commitAt("refs/remotes/user/gone")).toBeUndefined();
      expect(await isReachable(here, gone)).toBe(true);
    },
  },
  salvaging: {
    run: async (git, { control, clone }) =>
      (await git.openControl(control)).salvage({ folder: clone.folder, task: "t1", at: date }),
    holds: async (_, { control, clone }) => {
      const git = repositoryAt(control, stage.env).git;
      const refs = git("for-each-ref", "--format=%(refname)", "refs/signalbox/salvage").split("\n");
      expect(refs).toHaveLength(1);
      expect(git("show", `${refs[0]}:b.txt`)).toBe("uncommitted");
      expect(git("log", "--all", "--full-history", "--format=%H", "--", "staged.txt")).not.toBe("");
      for (const commit of [rewritten, stashed])
        expect(git("merge-base", "--is-ancestor", commit, refs[0] ?? "")).toBe("");
      expect(clone.git("status", "--porcelain")).toBe("M b.txt\nAD staged.txt");
    },
  },
  "merging and publishing": {
    run: async (git, { control: folder, user }) => {
      const control = await git.openControl(folder);
      const [merged] = await control.mergeAll({ ...merge, entries: [merge] });
      if (merged?.kind !== "merged") throw new Error(merged?.kind);
      await control.moveRef("refs/heads/main", merged.commit, undefined);
      const order = { repository: user.folder, branch: "main", commit: merged.commit, expected: main };
      const published = await control.publish(order);
      if (published.kind !== "published") throw new Error(published.kind);
    },
    holds: async (control, { user }) => {
      const merged = await control.merge(merge);
      expect(await control.commitAt("refs/heads/main")).toBe(merged.kind === "merged" ? merged.commit : "");
      expect(user.at("main")).toBe(await control.commitAt("refs/heads/main"));
      expect(user.git("status", "--porcelain")).toBe("");
      expect(user.read("a.txt")).toBe("collected\n");
    },
  },
};

test.each(Object.keys(operations))("%s completes, wherever git is killed", { timeout: 300_000 }, async (name) => {
  const operation = operations[name];
  if (operation === undefined) throw new Error(name);
  const whole = copy(`${name}-whole`.replaceAll(" ", "-"));
  const counting = createCrashingGit(whole.folder, 0, "before");
  await operation.run(stage.createGit({ program: counting.program }), whole);
  await operation.holds(await stage.git.openControl(whole.control), whole);
  // The first git process only prints the version.
  const cases = Array.from({ length: counting.calls() - 1 }, (_, index) => index + 2).map((at) => ({
    at,
    death: at % 2 === 0 ? ("during" as const) : ("before" as const),
  }));
  expect(cases.length).toBeGreaterThan(2);
  for (const { at, death } of cases) {
    const here = copy(`${name}-${at}-${death}`.replaceAll(" ", "-"));
    const { program } = createCrashingGit(here.folder, at, death);
    await expect(operation.run(stage.createGit({ program }), here), `${name} ${at} ${death}`).rejects.toThrow();
    // As a restarted daemon does it.
    const again = stage.createGit();
    await operation.run(again, here);
    await operation.holds(await again.openControl(here.control), here);
    rmSync(here.folder, { recursive: true });
  }
});
