import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";

/**
 * Contents that must never be lost, by their git ids. Neither recording nor finding them uses our own code, only git
 * and the file system.
 */
export interface Manifest {
  /** Adds contents that must be found in the end. */
  add(contents: Contents, about: string): void;
  /** Lost contents: neither reachable from a ref, nor a file in one of the folders. */
  lost(places: Places): readonly string[];
  readonly size: number;
}

/** The kind of content by id. */
export type Contents = ReadonlyMap<string, "file" | "ignored file" | "staged" | "committed">;

export interface Places {
  readonly repositories: readonly string[];
  /** The trash, and existing workspaces. */
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

/** All contents of a workspace: files, staged files, stashes, and every commit in HEAD's reflog. */
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

/** Commits of HEAD and all refs, and stashes: these survive the deletion of a worktree's folder. */
export function committedIn(folder: string, env: Environment, more: readonly string[] = []): Contents {
  const ids = reachableIn(folder, env, ["HEAD", ...more]);
  return new Map(ids.map((id) => [id, "committed"]));
}

/** Everything that refs reach, and the stashes, which only a reflog has. */
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

/** The commits in a ref's reflog. */
function logOf(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n");
  return [...new Set(lines.flatMap((line) => line.split(" ")[1] ?? []))].filter((id) => !/^0+$/.test(id));
}

/** Undefined if git would find no repository. */
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

/** Whether a file is not an agent's: the git folder, and the task file, which the daemon writes from the store. */
function isOurs(name: string): boolean {
  return name === ".git" || name === "TASK.md";
}

function idOf(path: string): string {
  const content = readFileSync(path);
  return createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");
}
