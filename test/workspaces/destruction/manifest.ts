import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";

/**
 * Contents that must never be lost, by the ids that git gives them. Our own code has no part in writing this, nor in
 * finding things again: only git and the file system are asked.
 */
export interface Manifest {
  /** From now on these are looked for. */
  add(contents: Contents, about: string): void;
  /** What is nowhere: neither reachable from a ref, nor a file in one of the folders. */
  lost(places: Places): readonly string[];
  readonly size: number;
}

/** By id, with what it was. */
export type Contents = ReadonlyMap<string, "file" | "ignored file" | "staged" | "committed">;

export interface Places {
  readonly repositories: readonly string[];
  /** The trash, and living workspaces. */
  readonly folders: readonly string[];
}

type Environment = Readonly<Record<string, string>>;

export function createManifest(env: Environment): Manifest {
  const noted = new Map<string, string>();
  return {
    add(contents, about) {
      for (const [id, what] of contents) if (!noted.has(id)) noted.set(id, `${what}, ${about}`);
    },
    lost({ repositories, folders }) {
      const found = new Set([
        ...repositories.flatMap((folder) => reachableIn(folder, env)),
        ...folders.flatMap((folder) => filesIn(folder).map(idOf)),
      ]);
      return [...noted].filter(([id]) => !found.has(id)).map(([id, about]) => `${id} (${about})`);
    },
    get size() {
      return noted.size;
    },
  };
}

/** Everything that is in a workspace: files, what is staged, stashes, and every commit that HEAD has been at. */
export function contentsOf(folder: string, env: Environment): Contents {
  const files = filesIn(folder, isOurs);
  const gitFolder = gitFolderOf(folder);
  return new Map([
    ...(gitFolder === undefined ? [] : committedIn(folder, env, [...logOf(join(gitFolder, "logs/HEAD"))])),
    ...(gitFolder === undefined ? [] : stagedIn(folder, env)),
    ...files.map((path) => {
      const isIgnored = /\.log$|^build\//.test(path.slice(folder.length + 1));
      return [idOf(path), isIgnored ? ("ignored file" as const) : ("file" as const)] as const;
    }),
  ]);
}

/** What is committed where HEAD or any ref is, and stashes: what outlives the folder of a worktree. */
export function committedIn(folder: string, env: Environment, more: readonly string[] = []): Contents {
  const ids = reachableIn(folder, env, ["HEAD", ...more]);
  return new Map(ids.map((id) => [id, "committed"]));
}

/** What refs reach, and the stashes, which only the log of one ref knows. */
function reachableIn(folder: string, env: Environment, more: readonly string[] = []): readonly string[] {
  const gitFolder = gitFolderOf(folder);
  if (gitFolder === undefined) return [];
  const common = join(gitFolder, "commondir");
  const commonFolder = existsSync(common) ? resolve(gitFolder, readFileSync(common, "utf8").trim()) : gitFolder;
  const args = ["--objects", "--no-object-names", "--filter=object:type=blob", "--filter-provided-objects", "--all"];
  return git(folder, env, ["rev-list", ...args, ...more, ...logOf(join(commonFolder, "logs/refs/stash"))]);
}

function stagedIn(folder: string, env: Environment): readonly (readonly [string, "staged"])[] {
  return git(folder, env, ["ls-files", "--stage"]).map((line) => [line.split(" ")[1] ?? "", "staged"]);
}

/** The commits that a ref has been at. */
function logOf(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n");
  return [...new Set(lines.flatMap((line) => line.split(" ")[1] ?? []))].filter((id) => !/^0+$/.test(id));
}

/** Undefined where git would find nothing. */
function gitFolderOf(folder: string): string | undefined {
  const dotGit = join(folder, ".git");
  if (!existsSync(dotGit)) return existsSync(join(folder, "objects")) ? folder : undefined;
  if (statSync(dotGit).isDirectory()) return dotGit;
  return resolve(folder, readFileSync(dotGit, "utf8").replace("gitdir: ", "").trim());
}

function git(folder: string, env: Environment, args: readonly string[]): readonly string[] {
  const options = { cwd: folder, env, encoding: "utf8", maxBuffer: 1e9 } as const;
  return execFileSync("git", args, options)
    .split("\n")
    .filter((line) => line !== "");
}

function filesIn(folder: string, isLeftOut = (_: string) => false): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (isLeftOut(name)) return [];
    const found = lstatSync(path);
    if (found.isDirectory()) return filesIn(path, isLeftOut);
    return found.isFile() ? [path] : [];
  });
}

/** The task file is written by us, from what the store has. */
function isOurs(name: string): boolean {
  return name === ".git" || name === "TASK.md";
}

function idOf(path: string): string {
  const content = readFileSync(path);
  return createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");
}
