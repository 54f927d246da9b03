import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { syncFolder } from "../../../durable-file.ts";
import { Fault } from "../../../fault.ts";
import type { PushOrder, RemoteBranchOrder, Waits } from "../../../ports/control-repository.ts";
import type { CloneOrder, FileName, Person } from "../../../ports/git.ts";
import { keep } from "../control/control.ts";
import type { ControlGit } from "../control/control-git.ts";
import { fetchFlags, fromControl, fsckSeverities } from "../control/fetch-into.ts";
import { isAncestor, refAt, treeOf } from "../control/history.ts";
import { packCommit } from "../control/packs.ts";
import { masked } from "../faults.ts";
import { entryIfSeen } from "../file-entries.ts";
import { listRefs, readSmall } from "../git-folder.ts";
import { lastingCommits, syncAllObjects, syncNames } from "../lasting.ts";
import { branchRef, checkCommit, fileName, isObjectId, operations, remoteOptions, splitNul } from "../names.ts";
import { obstaclesTo, removedBy, statusFlags, type TreeChange, treeChanges } from "../obstacles.ts";
import type { GitPlace, RunGit } from "../runner.ts";

/** Uses the user's credentials, and only the protocol of the address. The folder gets its name when it is complete. */
export async function cloneRepository(run: RunGit, { from, folder, signal }: CloneOrder): Promise<void> {
  const { protocols, ...options } = remoteOptions(from);
  if (existsSync(folder)) return checkSame(run, folder, from);
  const draft = `${folder}.new`;
  const parent = dirname(folder);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  await rm(draft, { recursive: true, force: true });
  await run({ folder: parent, configuration: "user" }, ["clone", ...cloneFlags, "--end-of-options", from, draft], {
    ...options,
    protocols: protocols.includes("file") ? protocols : remote,
    writes: true,
    signal,
    about: from,
  });
  await syncFolder(draft);
  await rename(draft, folder);
  await syncFolder(parent);
}

// Many users configure git to use ssh for https addresses (`url.….insteadOf`).
const remote = ["https", "ssh"] as const;

const cloneFlags = [
  "--origin=origin",
  "--quiet",
  "--no-progress",
  // The user's templates may contain hooks.
  "--template=",
  "--no-recurse-submodules",
  "--no-shared",
  "--no-local",
];

/** A clone that was interrupted after the rename is complete; any other folder is refused. */
async function checkSame(run: RunGit, folder: string, from: string): Promise<void> {
  const place = { folder, gitDir: `${folder}/.git`, configuration: "ours" } as const;
  const { stdout } = await run(place, ["config", "--local", "--get", "remote.origin.url"], { accepts: [0, 1, 128] });
  if (stdout.toString("utf8").replace(/\n$/, "") === from) return;
  throw new Fault("git.in-the-way", `${folder} exists already, and is not a clone of ${masked(from)}.`, {
    hint: "Choose another name: --name NAME",
  });
}

/** Git compares and deletes in one step, so that a push in between is not lost. */
export async function deleteRemoteBranch(control: ControlGit, order: RemoteBranchOrder): Promise<void> {
  const { remote, branch, expected, signal } = order;
  const ref = branchRef(branch);
  const options = { ...remoteOptions(remote), configuration: "user", signal } as const;
  const { stdout } = await control.git(["ls-remote", "--quiet", "--end-of-options", remote, ref], options);
  // The pattern may also match the end of a longer name.
  const [at] = stdout
    .toString("utf8")
    .split("\n")
    .flatMap((line) => (line.endsWith(`\t${ref}`) ? [line.slice(0, line.indexOf("\t"))] : []));
  if (at === undefined) return;
  if (at !== expected) {
    throw new Fault(
      "git.ref-moved",
      `The branch ${JSON.stringify(branch)} of the remote is at ${at}, not at ${expected}.`,
      {
        hint: "There was a push to it; check the new commits before you delete it.",
      },
    );
  }
  const lease = `--force-with-lease=${ref}:${checkCommit(expected)}`;
  await control.git(["push", "--no-verify", "--no-progress", lease, "--end-of-options", remote, `:${ref}`], options);
}

/**
 * Copies a commit and what it needs into the user's repository, without moving a ref. All of it is durable afterwards:
 * objects that agents and the user committed there without an fsync come along in the same pack.
 */
export async function giveObjects(
  control: ControlGit,
  place: GitPlace,
  commit: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const objects = join(await commonFolderOf(control.run, place), "objects");
  const lasting = await lastingCommits(control.folder, objects);
  if (lasting.known.length === 0) await syncAllObjects(objects);
  const known = lasting.known.length === 0 ? await seenBranches(control) : lasting.known;
  if (await givePack(control, place, commit, known, signal)) await syncNames(join(objects, "pack"), objects);
  else {
    await control.run(place, ["fetch", ...fetchFlags, ...fromControl, "--end-of-options", control.folder, commit], {
      protocols: ["file"],
      isLong: true,
      writes: true,
      signal,
    });
    await syncAllObjects(objects);
  }
  await lasting.add(commit);
}

/** Makes a commit that is in the user's repository durable, with all that it needs. */
export async function makeLasting(
  control: ControlGit,
  place: GitPlace,
  commit: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const objects = join(await commonFolderOf(control.run, place), "objects");
  const { known } = await lastingCommits(control.folder, objects);
  if (!known.includes(commit)) await giveObjects(control, place, commit, signal);
}

/** The user's branches at the last sync. Git checks that everything the pack refers to exists. */
async function seenBranches({ folder }: ControlGit): Promise<readonly string[]> {
  return [...((await listRefs(folder, "refs/remotes/user/")) ?? new Map<string, string>()).values()];
}

async function givePack(
  control: ControlGit,
  place: GitPlace,
  commit: string,
  known: readonly string[],
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (known.length === 0) return false;
  try {
    const pack = await packCommit(control, { commit, known, signal });
    if (pack === undefined || pack.count === 0) return false;
    const args = ["index-pack", "--stdin", `--strict=${fsckSeverities}`];
    await control.run(place, args, { input: pack.bytes, writes: true, isLong: true, signal });
    return true;
  } catch (error) {
    if (error instanceof Fault && error.retry === "never") return false;
    throw error;
  }
}

export async function identityOf(run: RunGit, repository: string): Promise<Person> {
  const { stdout } = await run({ folder: repository, configuration: "user" }, ["var", "GIT_AUTHOR_IDENT"], {
    // Git must not guess an identity from the names of the user and the machine.
    settings: ["user.useConfigOnly=true"],
  });
  const [, name = "", email = ""] = /^(.*) <(.*)> \d+ [+-]\d+$/m.exec(stdout.toString("utf8")) ?? [];
  return { name, email };
}

/** Pushes from the control repository, with the user's credentials. */
export async function pushBranch(control: ControlGit, order: PushOrder): Promise<void> {
  const { remote, branch, commit, expected, isOwn, signal } = order;
  const ref = branchRef(branch);
  await treeOf(control, commit);
  if (isOwn && expected !== undefined) await keepReplaced(control, expected, commit);
  const force = isOwn ? [`--force-with-lease=${ref}:${expected ?? ""}`] : [];
  await control.git(["push", ...pushFlags, ...force, "--end-of-options", remote, `${checkCommit(commit)}:${ref}`], {
    ...remoteOptions(remote),
    configuration: "user",
    signal,
  });
}

/** Pins the commit that the push removes from the remote's branch, so that it is not lost. */
async function keepReplaced(control: ControlGit, expected: string, commit: string): Promise<void> {
  try {
    if (!(await isAncestor(control, expected, commit))) await keep(control, "remote", expected);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "git.bad-ref") throw error;
    throw new Fault("git.ref-moved", `The remote's branch is at ${expected}, which was never fetched.`, {
      retry: "later",
      hint: "Sync from the remote first.",
      cause: error,
    });
  }
}

const pushFlags = [
  "--no-verify",
  "--no-follow-tags",
  "--recurse-submodules=no",
  "--no-signed",
  "--no-force-if-includes",
  "--no-progress",
];

export async function remoteUrl(
  run: RunGit,
  repository: string,
  remote: string,
  way: "push" | "fetch",
): Promise<string | undefined> {
  const place = { folder: repository, configuration: "user" } as const;
  // 2: there is no such remote.
  const { code, stdout } = await run(
    place,
    ["remote", "get-url", ...(way === "push" ? ["--push"] : []), "--end-of-options", remote],
    {
      accepts: [0, 2],
    },
  );
  return code === 0 ? stdout.toString("utf8").replace(/\n$/, "") : undefined;
}

/** The commit of a remote-tracking branch; undefined if there is none. */
export function remoteBranchAt(
  run: RunGit,
  repository: string,
  remote: string,
  branch: string,
): Promise<string | undefined> {
  return branchAt(run, { folder: repository, configuration: "ours" }, `refs/remotes/${remote}/${branch}`);
}

// These functions read git's files where they can: starting git takes longer, and blocks other work.

/** The git folder that all worktrees of a repository share. */
export async function commonFolderOf(run: RunGit, place: GitPlace): Promise<string> {
  return usualFolder(place) ?? resolve(place.folder, await ask(run, place, ["rev-parse", "--git-common-dir"]));
}

/** The git folder of one worktree. */
export async function gitFolderOf(run: RunGit, place: GitPlace): Promise<string> {
  return usualFolder(place) ?? ask(run, place, ["rev-parse", "--absolute-git-dir"]);
}

/** The commit of a branch of the user's repository; undefined if there is no such branch. */
export async function branchAt(run: RunGit, place: GitPlace, ref: string): Promise<string | undefined> {
  const usual = usualFolder(place);
  const loose = usual && (await readSmall(join(usual, ref)))?.trim();
  return loose !== undefined && isObjectId(loose) ? loose : refAt(run, place, ref);
}

/** The full ref of the checked-out branch; undefined if HEAD is detached. */
export async function checkedOutRef(run: RunGit, place: GitPlace): Promise<string | undefined> {
  const usual = usualFolder(place);
  const text = usual && (await readSmall(join(usual, "HEAD")));
  const [, ref] = /^ref: (refs\/heads\/\S+)\n$/.exec(text ?? "") ?? [];
  if (ref !== undefined && ref !== "refs/heads/.invalid") return ref;
  const { stdout } = await run(place, ["symbolic-ref", "--quiet", "HEAD"], { accepts: [0, 1] });
  return stdout.toString("utf8").trim() || undefined;
}

/** The folder `.git`, if it is a complete repository and not a linked worktree. */
function usualFolder({ folder, gitDir }: GitPlace): string | undefined {
  const usual = join(folder, ".git");
  const isWhole =
    gitDir === undefined &&
    entryIfSeen(join(usual, "HEAD"))?.isFile() &&
    entryIfSeen(join(usual, "objects"))?.isDirectory() &&
    entryIfSeen(join(usual, "refs"))?.isDirectory();
  return isWhole && entryIfSeen(usual)?.isDirectory() && entryIfSeen(join(usual, "commondir")) === undefined
    ? usual
    : undefined;
}

async function ask(run: RunGit, place: GitPlace, args: readonly string[]): Promise<string> {
  return (await run(place, args)).stdout.toString("utf8").replace(/\n$/, "");
}

export interface LocalChange {
  readonly path: FileName;
  /**
   * changed: differs from HEAD. missing: only deleted in the worktree, which blocks nothing, as git writes it again.
   * unknown: something untracked is there. inside: it is untracked, in a folder that becomes a file.
   */
  readonly state: "changed" | "missing" | "unknown" | "inside";
  readonly isStaged: boolean;
}

/** Files that differ between two commits, and that also differ from HEAD in a worktree. */
export async function localChanges(
  control: ControlGit,
  place: GitPlace,
  from: string,
  to: string,
): Promise<readonly LocalChange[]> {
  const [own, changes] = await Promise.all([ownChanges(control, place), changesBetween(control, from, to)]);
  const removed = removedBy(changes);
  return changes.flatMap(({ path, kind }): readonly LocalChange[] => {
    const name = { path: fileName(path) };
    const letters = own.get(path.toString("latin1"));
    if (letters === " D") return [{ ...name, state: "missing", isStaged: false }];
    if (letters !== undefined) return [{ ...name, state: "changed", isStaged: letters[0] !== " " }];
    const taken = kind === "added" ? obstaclesTo(place.folder, path, removed) : [];
    return taken.map((obstacle) => {
      const state = obstacle.equals(path) ? "unknown" : "inside";
      return { path: fileName(obstacle), state, isStaged: false };
    });
  });
}

export async function changesBetween(control: ControlGit, from: string, to: string): Promise<readonly TreeChange[]> {
  return treeChanges((await control.git(["diff-tree", ...statusFlags, "--end-of-options", from, to])).stdout);
}

/** Git's two status letters (index and worktree) by file name. */
async function ownChanges(control: ControlGit, place: GitPlace): Promise<ReadonlyMap<string, string>> {
  const flags = ["--porcelain=v1", "-z", "--untracked-files=no", "--no-renames", "--ignore-submodules=all"];
  const { stdout } = await control.run(place, ["status", ...flags], { isLong: true });
  const lines = splitNul(stdout).map((line) => line.toString("latin1"));
  return new Map(lines.map((line) => [line.slice(3), line.slice(0, 2)]));
}

export function waits(reason: Waits["reason"], text: string, files: readonly FileName[] = []): Waits {
  return { kind: "waits", reason, files, text };
}

export interface Worktree {
  readonly folder: string;
  /** The full ref of the branch; undefined if HEAD is detached, or the repository is bare. */
  readonly branch: string | undefined;
  readonly isMissing: boolean;
}

export async function listWorktrees(run: RunGit, place: GitPlace): Promise<readonly Worktree[]> {
  const { stdout } = await run(place, ["worktree", "list", "--porcelain", "-z"]);
  const worktrees: Worktree[] = [];
  let lines: string[] = [];
  for (const part of splitNul(stdout)) {
    if (part.length > 0) lines.push(part.toString("utf8"));
    else {
      worktrees.push(readWorktree(lines));
      lines = [];
    }
  }
  return worktrees;
}

function readWorktree(lines: readonly string[]): Worktree {
  const after = (word: string) => lines.find((line) => line.startsWith(`${word} `))?.slice(word.length + 1);
  const folder = after("worktree") ?? "";
  return { folder, branch: after("branch"), isMissing: !existsSync(folder) };
}

/** The operation that is under way in a worktree, such as `rebase`; undefined if there is none. */
export function operationIn(gitFolder: string): string | undefined {
  return operations.find(([file]) => existsSync(join(gitFolder, file)))?.[1];
}
