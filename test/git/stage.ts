import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import { createGit, type GitOptions } from "../../src/adapters/git/git.ts";
import { Fault } from "../../src/fault.ts";
import type { ControlRepository } from "../../src/ports/control-repository.ts";
import type { Git } from "../../src/ports/git.ts";
import { removeFolder } from "../remove-folder.ts";

export const author = { name: "Ada", email: "ada@example.org" };
export const date = Date.UTC(2026, 0, 2, 3, 4, 5);

/** A folder for one test file, with a home of its own, so that nothing depends on the user who runs the tests. */
export interface Stage {
  readonly base: string;
  readonly env: Readonly<Record<string, string>>;
  readonly git: Git;
  createGit(options?: Partial<GitOptions>): Git;
  /** A new path. */
  path(name: string): string;
  /** A new repository with one commit: `a.txt`, `b.txt`, `folder/c.txt`. */
  repository(name?: string): Repository;
  control(like?: Repository): Promise<ControlRepository>;
}

export interface Repository {
  readonly folder: string;
  /** Runs git as a person would, and returns its output. */
  git(...args: readonly string[]): string;
  write(path: string, text: string): void;
  read(path: string): string;
  /** Writes these files, and commits everything. Returns the commit. */
  commit(files?: Readonly<Record<string, string>>, message?: string): string;
  at(revision: string): string;
}

export function createStage(name: string): Stage {
  // In memory if possible: git fsyncs everything, and disks are slow at that.
  const place = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  const base = realpathSync(mkdtempSync(join(place, `signalbox-git-${name}-`)));
  afterAll(() => removeFolder(base));
  const home = join(base, "home");
  mkdirSync(home);
  writeFileSync(
    join(home, ".gitconfig"),
    '[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n\ttemplateDir =\n[protocol "file"]\n\tallow = always\n',
  );
  const env = { PATH: process.env.PATH ?? "", HOME: home, GIT_CONFIG_NOSYSTEM: "1" };
  let count = 0;
  const path = (name: string) => {
    count += 1;
    return join(base, `${count}-${name}`);
  };
  let made: string | undefined;
  /** Made once: a copy takes a fifth of the time. */
  const template = () => {
    if (made !== undefined) return made;
    made = join(base, "template");
    mkdirSync(made);
    const first = repositoryAt(made, env);
    first.git("init", "--quiet");
    first.commit({ "a.txt": "a\n", "b.txt": "b\n", "folder/c.txt": "c\n" }, "first");
    return made;
  };
  const stage: Stage = {
    base,
    env,
    git: createGit({ env }),
    createGit: (options) => createGit({ env, ...options }),
    path,
    repository(name = "user") {
      const folder = path(name);
      cpSync(template(), folder, { recursive: true, preserveTimestamps: true });
      return repositoryAt(folder, env);
    },
    async control(like) {
      const control = await stage.git.openControl(path("control.git"), like?.folder);
      if (like !== undefined) await control.syncFrom({ from: like.folder, name: "user" });
      return control;
    },
  };
  return stage;
}

const commitAll = 'git add --all && git commit --quiet --allow-empty -m "$1" && git rev-parse HEAD';

export function repositoryAt(folder: string, env: Readonly<Record<string, string>>): Repository {
  const run = (program: string, ...args: readonly string[]) =>
    execFileSync(program, [...args], {
      cwd: folder,
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 20_000,
    }).trim();
  const git = (...args: readonly string[]) => run("git", ...args);
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  return {
    folder,
    git,
    write,
    read: (path) => readFileSync(join(folder, path), "utf8"),
    commit(files = {}, message = "more") {
      for (const [path, text] of Object.entries(files)) write(path, text);
      // One fork of this large process instead of three.
      return run("sh", "-c", commitAll, "sh", message);
    },
    at: (revision) => git("rev-parse", revision),
  };
}

/** A clone, like a workspace of kind `clone`, on a branch of its own. */
export function cloneOf(stage: Stage, source: Repository, branch = "task"): Repository {
  const folder = stage.path("clone");
  source.git("clone", "--quiet", "--no-hardlinks", source.folder, folder);
  const clone = repositoryAt(folder, stage.env);
  clone.git("checkout", "--quiet", "-b", branch);
  return clone;
}

/** A worktree of the user's repository, like a workspace of kind `worktree`. */
export function worktreeOf(stage: Stage, source: Repository, branch = "task"): Repository {
  const folder = stage.path("worktree");
  source.git("worktree", "add", "--quiet", "-b", branch, folder);
  return repositoryAt(folder, stage.env);
}

/** The thrown error, which must be a Fault. */
export async function faultOf(promise: Promise<unknown>): Promise<Fault> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof Fault) return error;
  throw error ?? new Error("Nothing was thrown.");
}

export function controlGit(stage: Stage, control: ControlRepository): Repository["git"] {
  return repositoryAt(control.folder, stage.env).git;
}
