import { join } from "node:path";
import { Fault } from "../../../fault.ts";
import type { Waits } from "../../../ports/control-repository.ts";
import type { ControlGit } from "../control/control-git.ts";
import { fileName } from "../file-name.ts";
import { gitFault, lockHint } from "../git-fault.ts";
import type { GitPlace } from "../git-runner.ts";
import { describeLock, lookAtLock } from "../left-lock.ts";
import type { GitEnd } from "../spawn-git.ts";
import { checkedOutRef, gitFolderOf } from "./git-folders.ts";
import { giveObjects } from "./give-objects.ts";
import { undoHalfDone, updateNote } from "./half-done.ts";
import { type LocalChange, localChanges } from "./local-changes.ts";
import { waits } from "./waits.ts";
import { operationIn } from "./worktrees.ts";

export interface Forward {
  readonly folder: string;
  readonly ref: string;
  readonly before: string;
  readonly commit: string;
  readonly signal: AbortSignal | undefined;
}

/** Undefined where git had nothing against it, or found the branch elsewhere: the caller looks. */
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

/** What somebody is in the middle of in a worktree. */
export async function busyWith(control: ControlGit, place: GitPlace): Promise<Waits | undefined> {
  const { folder } = place;
  const gitFolder = await gitFolderOf(control.run, place);
  const operation = operationIn(gitFolder);
  if (operation !== undefined) {
    return waits(
      "operation",
      `A ${operation} is under way in ${folder}. End it, or abort it: git ${operation} --abort`,
    );
  }
  // A git that a killed daemon has started may still be at it: what looks half-done is being done.
  const lock = lookAtLock(join(gitFolder, "index.lock"), folder);
  return lock.since === undefined ? undefined : waits("locked", `${describeLock(lock)} ${lockHint}`);
}

/** A git that was killed here has left files behind that look like the user's changes; a note tells that it was. */
async function update(
  control: ControlGit,
  place: GitPlace,
  before: string,
  commit: string,
): Promise<Waits | undefined> {
  const note = updateNote(control, place.folder);
  if (note.cutShort.length > 0) await undoHalfDone(control, place, before, note.cutShort);
  await note.add(commit);
  const end = await mergeInto(control, place, commit);
  if (end.code === 0 || isMoved(end)) {
    note.remove();
    return undefined;
  }
  if (isInTheWay(end)) {
    note.remove();
    return changesInTheWay(place, await filesInTheWay(control, place, before, commit, end.stderr));
  }
  const fault = gitFault({ command: "merge", cwd: place.folder, code: end.code, stderr: end.stderr, isRemote: false });
  // Otherwise git may have stopped in the middle, for want of space or of a filter.
  if (fault.code === "git.locked") note.remove();
  throw fault;
}

/** Git's own list cannot be read where names have line ends; where we find nothing, it is the better one. */
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

/** `git stash` alone does not take what git does not know. */
export function changesInTheWay({ folder }: GitPlace, found: readonly InTheWay[]): Waits {
  const files = found.map(({ path }) => path);
  const namesOf = (isMeant: (each: InTheWay) => boolean) => list(found.filter(isMeant).map(({ path }) => path.text));
  const changed = namesOf(({ state }) => state !== "unknown");
  const unknown = namesOf(({ state }) => state === "unknown");
  // What is ignored as well it takes with --all only, and then with everything that was ever built there.
  const put = `Move them away or, unless git ignores them: git -C ${folder} stash --include-untracked`;
  const sentences = [
    ...(changed === "" ? [] : [`Changes of your own in ${folder} are in the way: ${changed}. Commit or stash them.`]),
    ...(unknown === "" ? [] : [`Files in ${folder} that git does not know are in the way: ${unknown}. ${put}`]),
  ];
  return waits("files", sentences.join(" "), files);
}

/** Not to be stopped half-way: files would be new and the branch old. It takes no longer than writing the files. */
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
  // A branch may have options of its own in the user's configuration.
  "--commit",
  "--no-squash",
  // By itself git overwrites files that are ignored.
  "--no-overwrite-ignore",
  "--no-autostash",
  "--no-verify-signatures",
  "--no-stat",
  "--no-progress",
];

function isMoved({ stderr }: GitEnd): boolean {
  return /Not possible to fast-forward|cannot lock ref 'HEAD'.*(but expected|unable to resolve)/.test(stderr);
}

function isInTheWay({ stderr }: GitEnd): boolean {
  return /would be overwritten by merge|would lose untracked files|would be removed by merge/.test(stderr);
}

function list(names: readonly string[]): string {
  const shown = names.slice(0, 10).join(", ");
  return names.length > 10 ? `${shown} and ${names.length - 10} more` : shown;
}
