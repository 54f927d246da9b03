import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { syncFolder } from "../../../durable-file.ts";
import { Fault } from "../../../fault.ts";
import type { Waits } from "../../../ports/control-repository.ts";
import { shellWord } from "../../../shell-quote.ts";
import type { ControlGit } from "../control/control-git.ts";
import { isAncestor } from "../control/history.ts";
import { describeLock, gitFault, type LeftLock, lockHint, lookAtLock } from "../faults.ts";
import { entryIfSeen } from "../file-entries.ts";
import { fileName, isObjectId, joinNul, splitNul } from "../names.ts";
import { replacesFolder } from "../obstacles.ts";
import type { GitEnd, GitPlace } from "../runner.ts";
import {
  changesBetween,
  checkedOutRef,
  gitFolderOf,
  giveObjects,
  type LocalChange,
  localChanges,
  operationIn,
  waits,
} from "./repository.ts";

interface Forward {
  readonly folder: string;
  readonly ref: string;
  readonly before: string;
  readonly commit: string;
  readonly signal: AbortSignal | undefined;
}

/** Undefined if git fast-forwarded the branch, or found it moved: the caller checks which. */
export async function forwardWorktree(control: ControlGit, forward: Forward): Promise<Waits | undefined> {
  const { folder, ref, before, commit, signal } = forward;
  const place: GitPlace = { folder, configuration: "user" };
  const busy = await busyWith(control, place);
  if (busy !== undefined) return busy;
  try {
    await giveObjects(control, place, commit, signal);
    if ((await checkedOutRef(control.run, place)) !== ref) return undefined;
    return await update(control, place, before, commit);
  } catch (error) {
    if (error instanceof Fault && error.code === "git.locked") return waits("locked", `${error.message} ${error.hint}`);
    throw error;
  }
}

/** An operation or a git process in a worktree that the update must wait for. */
export async function busyWith(control: ControlGit, place: GitPlace): Promise<Waits | undefined> {
  const { folder } = place;
  const gitFolder = await gitFolderOf(control.run, place);
  const operation = operationIn(gitFolder);
  if (operation !== undefined) {
    const abort = operation === "bisect" ? "git bisect reset" : `git ${operation} --abort`;
    return waits("operation", `A ${operation} is under way in ${folder}. End it, or abort it: ${abort}`);
  }
  // A git process that a killed daemon started may still be running, and its update only looks interrupted.
  const lock = lookAtLock(join(gitFolder, "index.lock"), folder);
  return lock.since === undefined ? undefined : waits("locked", `${describeLock(lock)} ${lockHint}`);
}

/** A git process that is killed here leaves files that look like the user's changes. A note records the update. */
async function update(
  control: ControlGit,
  place: GitPlace,
  before: string,
  commit: string,
): Promise<Waits | undefined> {
  const note = updateNote(control, place.folder);
  if (note.cutShort.length > 0) await undoHalfDone(control, place, before, note.cutShort);
  const lost = await lostByGit(control, place, before, commit);
  if (lost !== undefined) return lost;
  await note.add(commit);
  const end = await mergeInto(control, place, commit);
  if (end.code === 0 || isRefusedByMove(end)) {
    note.remove();
    return undefined;
  }
  // Git has written the files already. The caller merges again onto the new commit, and that update undoes this one.
  if (isMovedMeanwhile(end)) return undefined;
  if (isInTheWay(end)) {
    note.remove();
    return changesInTheWay(place, await filesInTheWay(control, place, before, commit, end.stderr));
  }
  const fault = gitFault({ command: "merge", cwd: place.folder, code: end.code, stderr: end.stderr, isRemote: false });
  // Git locks the index before it writes a file, and the branch afterwards.
  if (isIndexLock(fault)) {
    note.remove();
    throw fault;
  }
  throw withSentence(fault, await takeBack(control, place, before));
}

/** Git removes staged files, unasked, with the folder that a file replaces. */
async function lostByGit(
  control: ControlGit,
  place: GitPlace,
  before: string,
  commit: string,
): Promise<Waits | undefined> {
  if (!replacesFolder(await changesBetween(control, before, commit))) return undefined;
  const found = (await localChanges(control, place, before, commit)).filter(({ state }) => state !== "missing");
  return found.some(({ state }) => state === "inside") ? changesInTheWay(place, found) : undefined;
}

/**
 * Undoes what failed or interrupted updates of a worktree have begun, and forgets them. Returns what could not be undone, as
 * a sentence for a person; empty if nothing is left.
 */
export async function takeBack(control: ControlGit, place: GitPlace, before: string): Promise<string> {
  const note = updateNote(control, place.folder);
  if (note.cutShort.length === 0) return "";
  try {
    const left = await undoHalfDone(control, place, before, note.cutShort);
    if (left.length > 0)
      return `An unfinished merge changed files in ${place.folder} that could not be restored: ${list(left)}. See them: git -C ${shellWord(place.folder)} status`;
    note.remove();
    return "";
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return `What an unfinished merge changed in ${place.folder} could not be undone: ${error.message}`;
  }
}

function isIndexLock({ code, cause }: Fault): boolean {
  return code === "git.locked" && basename((cause as LeftLock).path) === "index.lock";
}

function withSentence(fault: Fault, text: string): Fault {
  if (text === "") return fault;
  const { code, message, retry, hint, cause } = fault;
  return new Fault(code, `${message}\n${text}`, { retry, ...(hint === undefined ? {} : { hint }), cause });
}

/** Git's own list is ambiguous if names contain line ends, so it is used only if we find nothing. */
async function filesInTheWay(
  control: ControlGit,
  place: GitPlace,
  before: string,
  commit: string,
  stderr: string,
): Promise<readonly InTheWay[]> {
  const found = (await localChanges(control, place, before, commit)).filter(({ state }) => state !== "missing");
  if (found.length > 0) return found;
  const state = /untracked working tree files/.test(stderr) ? "unknown" : "changed";
  return [...stderr.matchAll(/^\t(.+)$/gm)].map(([, name = ""]) => ({ path: fileName(Buffer.from(name)), state }));
}

type InTheWay = Pick<LocalChange, "path" | "state">;

function isUntracked({ state }: Pick<LocalChange, "state">): boolean {
  return state === "unknown" || state === "inside";
}

/** `git stash` alone does not take untracked files, so they get another command. */
export function changesInTheWay({ folder }: GitPlace, found: readonly InTheWay[]): Waits {
  const files = found.map(({ path }) => path);
  const namesOf = (isMeant: (each: InTheWay) => boolean) => list(found.filter(isMeant).map(({ path }) => path.text));
  const changed = namesOf((each) => !isUntracked(each));
  const unknown = namesOf(isUntracked);
  // Ignored files are stashed only with --all, which would take all dependencies and build results along.
  const put = `Move them away or, unless git ignores them: git -C ${folder} stash --include-untracked`;
  const sentences = [
    ...(changed === "" ? [] : [`Your own changes in ${folder} are in the way: ${changed}. Commit or stash them.`]),
    ...(unknown === "" ? [] : [`Untracked files in ${folder} are in the way: ${unknown}. ${put}`]),
  ];
  return waits("files", sentences.join(" "), files);
}

/** Must not be stopped half-way: the files would be new and the branch old. Takes only as long as writing the files. */
async function mergeInto(control: ControlGit, place: GitPlace, commit: string): Promise<GitEnd> {
  return control.run(place, ["merge", ...mergeFlags, "--end-of-options", commit], {
    accepts: [0, 1, 128],
    isLong: true,
    isUnstoppable: true,
    writes: true,
    protocols: ["https", "ssh", "file"],
  });
}

const mergeFlags = [
  "--ff-only",
  // The user's configuration may set merge options for a branch.
  "--commit",
  "--no-squash",
  // By default git overwrites ignored files.
  "--no-overwrite-ignore",
  "--no-autostash",
  "--no-verify-signatures",
  "--no-stat",
  "--no-progress",
];

function isRefusedByMove({ stderr }: GitEnd): boolean {
  return /Not possible to fast-forward/.test(stderr);
}

function isMovedMeanwhile({ stderr }: GitEnd): boolean {
  return /cannot lock ref 'HEAD'.*(but expected|unable to resolve)/.test(stderr);
}

function isInTheWay({ stderr }: GitEnd): boolean {
  return /would be overwritten by merge|would lose untracked files|would be removed by merge/.test(stderr);
}

function list(names: readonly string[]): string {
  const shown = names.slice(0, 10).join(", ");
  return names.length > 10 ? `${shown} and ${names.length - 10} more` : shown;
}

/** A note that a worktree is being updated to a commit. It exists during the update, and after an interrupted one. */
interface UpdateNote {
  /** The target commits of interrupted updates. */
  readonly cutShort: readonly string[];
  /** Adds a target commit. */
  add(commit: string): Promise<void>;
  remove(): void;
}

/** Whether an update of some worktree is noted, so that it may have been interrupted. */
export function hasUpdateNotes({ folder }: ControlGit): boolean {
  const notes = join(folder, "updates");
  return entryIfSeen(notes)?.isDirectory() === true && readdirSync(notes).length > 0;
}

export function updateNote({ folder }: ControlGit, worktree: string): UpdateNote {
  const notes = join(folder, "updates");
  const path = join(notes, createHash("sha256").update(worktree).digest("hex").slice(0, 32));
  const cutShort = entryIfSeen(path)?.isFile() ? readFileSync(path, "utf8").split("\n").filter(isObjectId) : [];
  return {
    cutShort,
    async add(commit) {
      mkdirSync(notes, { recursive: true });
      writeFileSync(path, [...new Set([...cutShort, commit])].map((line) => `${line}\n`).join(""), { flush: true });
      await syncFolder(notes);
    },
    remove: () => rmSync(path, { force: true }),
  };
}

/**
 * Restores files that interrupted updates to these commits have written, partly written, removed or staged. A file with
 * any other content is the user's, and stays. Returns the names of the files that could not be restored.
 */
async function undoHalfDone(
  control: ControlGit,
  place: GitPlace,
  before: string,
  commits: readonly string[],
): Promise<readonly string[]> {
  const left: string[] = [];
  for (const commit of commits) {
    // Git moves the branch last, so an update that the branch contains is complete.
    if (await isAncestor(control, commit, before)) continue;
    await unstage(control, place, before, commit);
    const files = await localChanges(control, place, before, commit);
    for (const file of files)
      if (await isBegun(control, place, commit, file)) rmSync(join(place.folder, file.path.text));
    for (const { path, state } of files) if (state === "missing") removeEmpty(join(place.folder, path.text));
    const known = files.filter((file) => !isUntracked(file) && !file.isStaged);
    // Writes only missing files.
    await control.run(place, ["checkout-index", "--quiet", "-z", "--stdin"], {
      accepts: [0, 1, 128],
      input: joinNul(known.map(({ path }) => path.bytes)),
      isLong: true,
      isUnstoppable: true,
    });
    for (const file of files.length === 0 ? [] : await localChanges(control, place, before, commit))
      if (file.state === "missing" || (await isBegun(control, place, commit, file))) left.push(file.path.text);
  }
  return left;
}

/** The folders that an update made in the place of a file, without the files that it has not written. */
function removeEmpty(folder: string): void {
  if (entryIfSeen(folder)?.isDirectory() !== true) return;
  for (const name of readdirSync(folder)) removeEmpty(join(folder, name));
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}

/** Git writes the index before it moves the branch: a file that is staged exactly as in the commit is the update's. */
async function unstage(control: ControlGit, place: GitPlace, before: string, commit: string): Promise<void> {
  const { stdout } = await control.run(place, ["ls-files", "--stage", "-z"], { isLong: true });
  const staged = new Map(splitNul(stdout).map(stagedEntry));
  const flags = ["-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--end-of-options"];
  const parts = splitNul((await control.git(["diff-tree", ...flags, before, commit])).stdout);
  const back = parts.flatMap((path, index) => {
    // Each entry is `:MODE MODE OBJECT OBJECT LETTER`, followed by the name.
    const [mode = "", newMode = "", object = "", newObject = ""] = String(parts[index - 1])
      .slice(1)
      .split(" ");
    const wanted = newMode === nothing ? undefined : `${newMode} ${newObject} 0`;
    if (index % 2 === 0 || staged.get(path.toString("latin1")) !== wanted) return [];
    return [Buffer.concat([Buffer.from(`${mode === nothing ? "0" : mode} ${object}\t`), path])];
  });
  if (back.length === 0) return;
  await control.run(place, ["update-index", "-z", "--index-info"], {
    input: joinNul(back),
    isLong: true,
    isUnstoppable: true,
    writes: true,
  });
}

const nothing = "000000";

/** `MODE OBJECT STAGE`, by name. */
function stagedEntry(line: Buffer): readonly [string, string] {
  const tab = line.indexOf("\t");
  return [line.subarray(tab + 1).toString("latin1"), line.subarray(0, tab).toString("latin1")];
}

// Larger files are left to the person, who sees their names.
const mostBytes = 256 * 1024 * 1024;

/** Whether a file is a prefix of, or equal to, the commit's file after the user's filters. */
async function isBegun(
  control: ControlGit,
  place: GitPlace,
  commit: string,
  { path, state, isStaged }: LocalChange,
): Promise<boolean> {
  // Staged files are the user's. Names that must be escaped are too rare to support.
  if (state === "missing" || state === "inside" || isStaged || path.text.startsWith('"')) return false;
  const file = join(place.folder, path.text);
  const found = entryIfSeen(file);
  if (!(found?.isFile() || found?.isSymbolicLink()) || found.size > mostBytes) return false;
  if (found.size === 0) return true;
  const wanted = `${commit}:${path.text}`;
  const { code, stdout, isCut } = await control.run(place, ["cat-file", "--filters", "--end-of-options", wanted], {
    accepts: [0, 128],
    most: found.size,
    cuts: true,
  });
  const content = found.isFile() ? readFileSync(file) : readlinkSync(file, "buffer");
  return (code === 0 || isCut) && content.equals(stdout.subarray(0, found.size));
}
