import { stat, utimes, writeFile } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { Fault } from "../../../fault.ts";
import { createTurns } from "../../../keyed.ts";
import {
  type BranchMove,
  type Collected,
  type CollectOrder,
  lacksCommit,
  type Synced,
  type SyncOrder,
  taskRef,
} from "../../../ports/control-repository.ts";
import { masked } from "../faults.ts";
import { findFolders, listRefs, lookForRef } from "../git-folder.ts";
import { branchRef, checkCommit, checkPart, joinNul, noCommit, remoteOptions } from "../names.ts";
import { keep, moveRef } from "./control.ts";
import type { ControlGit } from "./control-git.ts";
import { checkFolder, checkWhole, fetchInto } from "./fetch-into.ts";
import { commitAt, isAncestor, knownCommits, noteAncestor, noteReached, treeOf } from "./history.ts";
import { bringIn } from "./packs.ts";

const inTurn = createTurns();

/**
 * Fetches into a temporary ref first; the task's ref moves only when all objects were checked. A crash in between
 * leaves the task's ref where it was. One call at a time for each task: two would delete each other's temporary ref.
 */
export function collect(control: ControlGit, order: CollectOrder): Promise<Collected> {
  return inTurn(`${control.folder} ${order.task}`, () => collectAlone(control, order));
}

async function collectAlone(control: ControlGit, order: CollectOrder): Promise<Collected> {
  const { folder, branch, task, seenAt, contains } = order;
  const ref = taskRef(checkPart(task));
  const known = seenAt === undefined ? undefined : await commitAt(control, ref);
  if (known !== undefined && known === seenAt && (contains ?? known) === known)
    return { commit: known, previous: known };
  const incoming = `refs/signalbox/incoming/tasks/${task}`;
  branchRef(branch);
  checkFolder(folder);
  if ((await lookForRef(control.folder, incoming)).kind !== "absent") await forget(control, incoming);
  const seen = seenAt !== undefined && (await isBroughtIn(control, order, seenAt, known)) ? seenAt : undefined;
  const commit = seen ?? (await fetchBranch(control, order, incoming));
  if (contains !== undefined && !(await isAncestor(control, checkCommit(contains), commit))) {
    if (seen === undefined) await forget(control, incoming);
    throw new Fault(lacksCommit, `The branch ${JSON.stringify(branch)} of ${folder} does not contain ${contains}.`);
  }
  const previous = await commitAt(control, ref);
  await moveRef(control, ref, commit, previous);
  if ((await commitAt(control, ref)) !== commit) throw lost(folder, branch);
  noteReached(control, [commit]);
  if (seen === undefined) await forget(control, incoming);
  return { commit, previous };
}

/** Whether the control repository has a commit with everything that it needs; copies it if it can. */
async function isBroughtIn(
  control: ControlGit,
  { folder, signal }: CollectOrder,
  commit: string,
  previous: string | undefined,
): Promise<boolean> {
  const { whole } = knownCommits(control);
  if (whole.has(checkCommit(commit))) return true;
  const branches = (await listRefs(control.folder, "refs/remotes/user/")) ?? new Map<string, string>();
  const known = [...(previous === undefined ? [] : [previous]), ...branches.values()];
  if (known.length === 0 || !(await bringIn(control, { folder, commit, known, signal }))) return false;
  const parents = await checkWhole(control, [commit]);
  // These calls throw if the object is not a commit.
  if (previous === undefined) await treeOf(control, commit);
  else if (parents.has(previous)) await noteAncestor(control, previous, commit);
  else await isAncestor(control, previous, commit);
  whole.add(commit);
  return true;
}

async function fetchBranch(
  control: ControlGit,
  { folder, branch, signal }: CollectOrder,
  incoming: string,
): Promise<string> {
  const refspecs = [`+${branchRef(branch)}:${incoming}`];
  await fetchInto(control, { from: checkFolder(folder), refspecs, prunes: false, signal });
  const commit = await commitAt(control, incoming);
  if (commit === undefined) throw lost(folder, branch);
  await checkWhole(control, [commit]);
  return commit;
}

async function forget(control: ControlGit, incoming: string): Promise<void> {
  await control.git(["update-ref", "--no-deref", "-d", "--end-of-options", incoming], { writes: true });
}

function lost(folder: string, branch: string): Fault {
  return new Fault("git.ref-moved", `The branch ${JSON.stringify(branch)} of ${folder} did not arrive.`, {
    retry: "later",
    hint: "Another process may have collected it at the same moment; the daemon tries again.",
  });
}

// Two syncs of the same remote at the same time would move each other's refs.
const inSyncTurn = createTurns();

export function syncFrom(control: ControlGit, order: SyncOrder): Promise<Synced> {
  return inSyncTurn(`${control.folder} ${order.name}`, () => syncAlone(control, order));
}

async function syncAlone(control: ControlGit, { from, name, only, noticed, signal }: SyncOrder): Promise<Synced> {
  const incoming = `refs/signalbox/incoming/sync/${checkPart(name)}/`;
  const startedAt = new Date();
  const since = await lastSync(control, name);
  const filed = `refs/remotes/${name}/`;
  const options = isAbsolute(from) ? {} : ({ ...remoteOptions(from), configuration: "user" } as const);
  const all = isAbsolute(from) ? await readBoth(control, checkFolder(from), filed) : undefined;
  const read = all && only ? narrowed(all, only) : all;
  const isAllHere = read !== undefined && hasAll(control, read);
  const order = { from: isAbsolute(from) ? checkFolder(from) : from, signal, options };
  const fetchAll = async () => {
    // The fetched refs stay as a mirror, so that the next fetch writes only changed ones.
    await fetchInto(control, { ...order, refspecs: [`+refs/heads/*:${incoming}*`], prunes: true });
    return tips(control, incoming, filed);
  };
  const { theirs, ours } = isAllHere
    ? read
    : await fetchAll().catch((error) =>
        all === undefined ? raise(error) : fetchEach(control, order, all, incoming, error),
      );
  if (theirs.size === 0 && (all === undefined || all.theirs.size === 0)) throw empty(from);
  const lost = await leftBehind(control, { theirs, ours });
  for (const old of lost) await keep(control, name, old);
  const moves = await movesOf(control, { theirs, ours }, lost);
  const branches = Object.fromEntries([...theirs].map(([branch, tip]) => [toText(branch), tip]));
  const synced: Synced = { branches, moves, ...(since === undefined ? {} : { since }) };
  await noticed?.(synced);
  const gone = [...ours].filter(([branch]) => !theirs.has(branch));
  const moved = [...theirs].filter(([branch, tip]) => ours.get(branch) !== tip);
  const deletions = gone.flatMap(([branch, old]) => [`delete ${filed}${branch}`, old]);
  const updates = moved.flatMap(([branch, tip]) => [
    `update ${filed}${branch}`,
    tip,
    ours.get(branch) ?? noCommit(tip),
  ]);
  // A new branch may have the name of a folder of deleted branches; git cannot replace that in one step.
  const isInPlace = gone.some(([old]) => moved.some(([branch]) => isInside(old, branch)));
  for (const parts of isInPlace ? [deletions, updates] : [[...deletions, ...updates]]) await change(control, parts);
  noteReached(control, theirs.values());
  if (only === undefined) await noteSync(control, name, startedAt);
  return synced;
}

function raise(error: unknown): never {
  throw error;
}

/**
 * A branch whose commits git cannot read, such as one with a missing file, stops the fetch of all. So each branch is fetched
 * alone, and those that cannot be read stay at their last known commits.
 */
async function fetchEach(
  control: ControlGit,
  order: Pick<Parameters<typeof fetchInto>[1], "from" | "signal" | "options">,
  { theirs, ours }: Branches,
  incoming: string,
  error: unknown,
): Promise<Branches> {
  if (!isUnreadable(error)) throw error;
  const { whole } = knownCommits(control);
  const read = new Map(theirs);
  for (const [branch, tip] of theirs) {
    if (ours.get(branch) === tip || whole.has(tip)) continue;
    const name = toText(branch);
    await fetchInto(control, {
      ...{ ...order, refspecs: [`+refs/heads/${name}:${incoming}${name}`], prunes: false },
    }).catch((each) => {
      if (!isUnreadable(each)) throw each;
      const known = ours.get(branch);
      if (known === undefined) read.delete(branch);
      else read.set(branch, known);
    });
  }
  return { theirs: read, ours };
}

function isUnreadable(error: unknown): boolean {
  return error instanceof Fault && error.retry === "never" && ["git.failed", "git.bad-ref"].includes(error.code);
}

/** The modification time of this file is when all branches were last read. It survives a restart of the daemon. */
function syncNote(control: ControlGit, name: string): string {
  return join(control.folder, `signalbox-synced-${name}`);
}

async function lastSync(control: ControlGit, name: string): Promise<number | undefined> {
  return (await stat(syncNote(control, name)).catch(() => undefined))?.mtimeMs;
}

/** Only tells when a branch may have been deleted, so a disk that is full is no reason to fail. */
async function noteSync(control: ControlGit, name: string, at: Date): Promise<void> {
  const note = syncNote(control, name);
  await utimes(note, at, at)
    .catch(() => writeFile(note, "").then(() => utimes(note, at, at)))
    .catch(() => {});
}

async function movesOf(
  control: ControlGit,
  { theirs, ours }: Branches,
  lost: readonly string[],
): Promise<readonly BranchMove[]> {
  const moves: BranchMove[] = [];
  for (const [branch, before] of ours) {
    const after = theirs.get(branch);
    if (after === before) continue;
    const way = after === undefined ? "deleted" : await wayOf(control, before, after);
    moves.push({ branch: toText(branch), before, after, way, isLost: lost.includes(before) });
  }
  return moves;
}

async function wayOf(control: ControlGit, before: string, after: string): Promise<BranchMove["way"]> {
  if (await isAncestor(control, before, after)) return "forward";
  return (await isAncestor(control, after, before)) ? "back" : "apart";
}

/** Branches by name, with one character for each byte. */
interface Branches {
  readonly theirs: ReadonlyMap<string, string>;
  readonly ours: ReadonlyMap<string, string>;
}

/** Undefined if the files are not conclusive: then git is asked. Reading files is faster if little has changed. */
async function readBoth(control: ControlGit, from: string, filed: string): Promise<Branches | undefined> {
  const folders = await findFolders(from);
  const theirs = folders && (await listRefs(folders.commonFolder, "refs/heads/"));
  const ours = theirs && (await listRefs(control.folder, filed));
  return theirs && ours && { theirs, ours };
}

/** Whether nothing has to be fetched: agents' work was collected before, and merges were created here. */
function hasAll(control: ControlGit, { theirs, ours }: Branches): boolean {
  const { whole } = knownCommits(control);
  return [...theirs].every(([branch, tip]) => ours.get(branch) === tip || whole.has(tip));
}

/** Both sides with the branches in `only`; with all branches if one of these names is a folder of another's name. */
function narrowed(all: Branches, only: readonly string[]): Branches {
  const names = new Set(only.map((branch) => Buffer.from(branch).toString("latin1")));
  const isApart = [...all.ours.keys()].every((branch) => [...names].every((name) => !isInside(branch, name)));
  const some = (branches: ReadonlyMap<string, string>) =>
    new Map([...branches].filter(([branch]) => names.has(branch)));
  return isApart ? { theirs: some(all.theirs), ours: some(all.ours) } : all;
}

/** Whether one of two names is a folder of the other. */
function isInside(one: string, other: string): boolean {
  return one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
}

/** Former tips of branches that no branch contains any more. */
async function leftBehind(control: ControlGit, { theirs, ours }: Branches): Promise<readonly string[]> {
  const asked = new Set<string>();
  for (const [branch, old] of ours) {
    const tip = theirs.get(branch);
    if (tip !== old && (tip === undefined || !(await isAncestor(control, old, tip)))) asked.add(old);
  }
  const areIn = async (commits: readonly string[]) => {
    const lines = [...commits, ...new Set([...theirs.values()].map((tip) => `^${tip}`))];
    const input = Buffer.from(lines.map((line) => `${line}\n`).join(""));
    return (await control.git(["rev-list", "--max-count=1", "--stdin"], { input, isLong: true })).stdout.length === 0;
  };
  if (asked.size === 0 || (await areIn([...asked]))) return [];
  const left: string[] = [];
  for (const old of asked) if (!(await areIn([old]))) left.push(old);
  return left;
}

/** The branches below the two folders of refs. */
async function tips(control: ControlGit, ...folders: readonly [string, string]): Promise<Branches> {
  const { stdout } = await control.git([
    "for-each-ref",
    "--format=%(objectname) %(refname)",
    "--end-of-options",
    ...folders,
  ]);
  const refs = stdout
    .toString("latin1")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => [line.slice(line.indexOf(" ") + 1), line.slice(0, line.indexOf(" "))] as const);
  const below = (folder: string) =>
    new Map(refs.flatMap(([name, id]) => (name.startsWith(folder) ? [[name.slice(folder.length), id]] : [])));
  return { theirs: below(folders[0]), ours: below(folders[1]) };
}

async function change(control: ControlGit, parts: readonly string[]): Promise<void> {
  if (parts.length === 0) return;
  const input = joinNul(parts.map((part) => Buffer.from(part, "latin1")));
  await control.git(["update-ref", "--no-deref", "-m", "synced", "--stdin", "-z"], {
    input,
    writes: true,
    isLong: true,
  });
}

function toText(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}

function empty(from: string): Fault {
  return new Fault("git.no-commits", `${masked(from)} has no commit yet.`, {
    hint: "Make a first one: git commit --allow-empty -m start",
  });
}
