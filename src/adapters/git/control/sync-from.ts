import { isAbsolute } from "node:path";
import { Fault } from "../../../fault.ts";
import type { Synced, SyncOrder } from "../../../ports/control-repository.ts";
import { checkPart, noCommit } from "../check-names.ts";
import { joinNul } from "../file-name.ts";
import { listRefs } from "../list-refs.ts";
import { masked } from "../masked.ts";
import { remoteOptions } from "../remote-options.ts";
import { createTurns } from "../turns.ts";
import { findFolders } from "../workspace/user-repository.ts";
import type { ControlGit } from "./control-git.ts";
import { checkFolder, fetchInto } from "./fetch-into.ts";
import { keep } from "./keep.ts";
import { knownCommits, noteReached } from "./known-commits.ts";
import { isAncestor } from "./read-history.ts";

// Two at once would find each other's refs elsewhere than they believed.
const turns = createTurns();

export function syncFrom(control: ControlGit, order: SyncOrder): Promise<Synced> {
  return turns.take(`${control.folder} ${order.name}`, () => syncAlone(control, order));
}

async function syncAlone(control: ControlGit, { from, name, only, signal }: SyncOrder): Promise<Synced> {
  const incoming = `refs/signalbox/incoming/sync/${checkPart(name)}/`;
  const filed = `refs/remotes/${name}/`;
  const options = isAbsolute(from) ? {} : ({ ...remoteOptions(from), configuration: "user" } as const);
  const all = isAbsolute(from) ? await readBoth(control, checkFolder(from), filed) : undefined;
  const read = all && only ? narrowed(all, only) : all;
  const isAllHere = read !== undefined && hasAll(control, read);
  // A mirror that stays, so that only what has changed is written.
  if (!isAllHere)
    await fetchInto(control, {
      from: isAbsolute(from) ? checkFolder(from) : from,
      refspecs: [`+refs/heads/*:${incoming}*`],
      prunes: true,
      signal,
      options,
    });
  const { theirs, ours } = isAllHere ? read : await tips(control, incoming, filed);
  if (theirs.size === 0 && (all === undefined || all.theirs.size === 0)) throw empty(from);
  for (const old of await leftBehind(control, { theirs, ours })) await keep(control, name, old);
  const gone = [...ours].filter(([branch]) => !theirs.has(branch));
  const moved = [...theirs].filter(([branch, tip]) => ours.get(branch) !== tip);
  const deletions = gone.flatMap(([branch, old]) => [`delete ${filed}${branch}`, old]);
  const updates = moved.flatMap(([branch, tip]) => [
    `update ${filed}${branch}`,
    tip,
    ours.get(branch) ?? noCommit(tip),
  ]);
  // A branch may take the place of a folder of branches that are gone, which git does not do in one step.
  const isInPlace = gone.some(([old]) => moved.some(([branch]) => isInside(old, branch)));
  for (const parts of isInPlace ? [deletions, updates] : [[...deletions, ...updates]]) await change(control, parts);
  noteReached(control, theirs.values());
  return { branches: Object.fromEntries([...theirs].map(([branch, tip]) => [toText(branch), tip])) };
}

/** Branches by name, whose bytes are kept as they are. */
interface Branches {
  readonly theirs: ReadonlyMap<string, string>;
  readonly ours: ReadonlyMap<string, string>;
}

/** Undefined where files do not say it: then git has to look. Most of the time little has changed, or nothing. */
async function readBoth(control: ControlGit, from: string, filed: string): Promise<Branches | undefined> {
  const folders = await findFolders(from);
  const theirs = folders && (await listRefs(folders.commonFolder, "refs/heads/"));
  const ours = theirs && (await listRefs(control.folder, filed));
  return theirs && ours && { theirs, ours };
}

/** Whether nothing has to be brought in: agents' work was collected, and what is merged was made here. */
function hasAll(control: ControlGit, { theirs, ours }: Branches): boolean {
  const { whole } = knownCommits(control);
  return [...theirs].every(([branch, tip]) => ours.get(branch) === tip || whole.has(tip));
}

/** Both with some branches alone; all of them where one of these takes the place of others, or others take its place. */
function narrowed(all: Branches, only: readonly string[]): Branches {
  const names = new Set(only.map((branch) => Buffer.from(branch).toString("latin1")));
  const isApart = [...all.ours.keys()].every((branch) => [...names].every((name) => !isInside(branch, name)));
  const some = (branches: ReadonlyMap<string, string>) =>
    new Map([...branches].filter(([branch]) => names.has(branch)));
  return isApart ? { theirs: some(all.theirs), ours: some(all.ours) } : all;
}

/** Whether one of two is a folder for the other. */
function isInside(one: string, other: string): boolean {
  return one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
}

/** Where branches were, and what none of them contains any more. */
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

/** Of each folder of refs. */
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
