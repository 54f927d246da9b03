import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import { taskRef } from "../../ports/control-repository.ts";
import type { Merge } from "../../ports/records.ts";
import type { Project, Store } from "../../ports/store.ts";
import { oneLine } from "../../text.ts";
import {
  type LandingPlace,
  type PlaceName,
  type PublishPorts,
  placeAt,
  placeOf,
  type Tips,
  unreachable,
  type Where,
} from "../landing-place.ts";
import { lostTrouble, lostWork } from "../lost-work.ts";
import { unreviewedTrouble, unreviewedWork } from "../reviewed.ts";
import { type MergeableWork, mergeableWork, refusedAt } from "../task-work.ts";
import type { ProjectWorkspaces, WorkspacesOf } from "../workspaces/project-workspaces.ts";
import {
  type Entry,
  type Landing,
  movedOn,
  type Outcome,
  outcomeOf,
  type Ready,
  refused,
  stoppedByPerson,
  type Waiting,
} from "./merge-queue.ts";
import { bringTogether, type Merged, obstacle, type Stack, stackUp, wholeWork } from "./stack.ts";

export interface LandEntriesPorts {
  readonly store: Store;
  readonly workspacesOf: WorkspacesOf;
  /** Whether a person has just stopped the merge of a task. */
  isStopped?(task: string): boolean;
  /** Whether the merge waits for the end of a pause. */
  isHalted?(entry: Entry): boolean;
  /** Which branch is authoritative: the user's, the remote's, or both. */
  where(): Where;
  /** How a project's merges are tested and published. */
  landingOf(
    project: Project,
    own: ProjectWorkspaces,
  ): Promise<Omit<LandPorts, "planned" | "published" | "unwanted" | "lost" | "isHalted" | "publishing">>;
}

/** Called around a test with the tasks whose merges are tested. */
type Testing = <T>(tasks: readonly string[], test: () => Promise<T>) => Promise<T>;

/** Called around a publication, which nothing stops any more, with the tasks whose merges are published. */
type Publishing = <T>(tasks: readonly string[], publish: () => Promise<T>) => Promise<T>;

/** Merges entries of one queue, each at the commit that was recorded when its merge was requested. */
export async function landEntries(
  ports: LandEntriesPorts & { readonly testing: Testing; readonly publishing: Publishing },
  name: string,
  into: PlaceName,
  entries: readonly Entry[],
): Promise<ReadonlyMap<Entry, Outcome>> {
  const project = await ports.store.getProject(name);
  if (project === undefined) return new Map(entries.map((entry) => [entry, refused("The project was removed.")]));
  const own = await ports.workspacesOf(project);
  const place = placeAt({ store: ports.store, where: ports.where() }, own, project, into);
  const outcomes = new Map<Entry, Outcome>();
  const ready = new Map<Ready, Entry>();
  for (const entry of entries) {
    // An entry whose work cannot be read does not stop the others.
    const found = await prepare(ports, own, project, place, entry).catch((error): Outcome => {
      if (error instanceof Fault) return outcomeOf(error);
      throw error;
    });
    if ("kind" in found) outcomes.set(entry, found);
    else ready.set(found, entry);
  }
  const given = await ports.landingOf(project, own);
  const { test } = given;
  const landing: LandPorts = {
    ...given,
    test: test && ((commit, merged) => ports.testing(tasksOf(merged), () => test(commit, merged))),
    planned: (merged: readonly Merged[]) => plan(ports, merged),
    published: (merged: readonly Merged[]) => notePush(ports, merged),
    unwanted: (entry: Entry) => unwanted(ports, entry),
    isHalted: (entry: Entry) => ports.isHalted?.(entry) === true,
    publishing: ports.publishing,
    lost: (entry, tip) => lost(ports, own, entry, tip),
  };
  const landed = await land(landing, own, project, place, [...ready.keys()]);
  for (const [each, outcome] of landed) {
    const entry = ready.get(each);
    if (entry !== undefined) outcomes.set(entry, outcome);
  }
  return outcomes;
}

function tasksOf(merged: readonly Merged[]): readonly string[] {
  return merged.map(({ entry }) => entry.task);
}

async function prepare(
  { store, isStopped }: LandEntriesPorts,
  own: ProjectWorkspaces,
  project: Project,
  place: LandingPlace,
  entry: Entry,
): Promise<Ready | Outcome> {
  const stored = await store.getTask(entry.task);
  if (stored === undefined || stored.task.phase === "over") return refused("The task has ended.");
  if (stored.task.entry !== entry.stay) return movedOn(stored.task);
  if (isStopped?.(entry.task)) return stoppedByPerson;
  const asked = await store.merges.get(entry.task);
  const work = await recordedWork(store, own, project, place, stored.task, asked);
  if (work.kind === "refused") return { ...work, files: [] };
  const whole = await wholeWork(own, project, stored.task, asked, place, work.commit, entry.at);
  if (whole.kind === "conflict") return obstacle(entry, whole);
  return { ...entry, commit: whole.commit, message: messageOf(stored.task) };
}

/** The commit to merge. Records of older versions name none: then it is the current commit of the work. */
async function recordedWork(
  store: Store,
  own: ProjectWorkspaces,
  project: Project,
  place: LandingPlace,
  task: Task,
  asked: Merge | undefined,
): Promise<MergeableWork> {
  const commit = asked?.only;
  if (commit === undefined) return mergeableWork(store, own, project, task, asked?.leaves);
  // An unreadable commit fails here, so that it does not fail the other merges of the batch.
  const now = await own.control.commitAt(taskRef(task.id));
  if (now !== undefined && now !== commit) await own.control.isAncestor(commit, now);
  const trouble = await place.trouble(task);
  return trouble === undefined ? { kind: "ready", commit } : refusedAt(task, trouble);
}

/** The commit that a merge requested now would merge, or why there is none. `only`: the approved commit. */
export async function workToMerge(
  ports: LandEntriesPorts & { workflowOf(task: Task): Promise<Workflow> },
  task: Task,
  { only, leaves }: Pick<Merge, "only" | "leaves">,
): Promise<MergeableWork> {
  const project = await ports.store.getProject(task.project);
  if (project === undefined) return { kind: "refused", reason: "The project was removed." };
  const own = await ports.workspacesOf(project);
  const work = await mergeableWork(ports.store, own, project, task, leaves);
  if (work.kind === "refused") return work;
  if (only === undefined || only === work.commit) {
    const place = await placeOf({ store: ports.store, where: ports.where() }, own, project, task);
    const unreviewed = await unreviewedWork(own, place, task, work.commit);
    if (unreviewed === undefined) return work;
    const { reason, fix } = unreviewedTrouble(await ports.workflowOf(task), task, unreviewed);
    return { kind: "refused", reason: `${reason}\n${fix}` };
  }
  const [from, to] = [short(only), short(work.commit)];
  const reason = `The branch has moved since it was approved, from ${from} to ${to}. Review the newer commits, and approve those.`;
  return { kind: "refused", reason };
}

function short(commit: string): string {
  return commit.slice(0, 10);
}

/** Why the merge of an entry is no longer wanted: a person stopped it, or its task has left the stay of the request. */
export async function unwanted(
  { store, isStopped }: Pick<LandEntriesPorts, "store" | "isStopped">,
  entry: Entry,
): Promise<Landing | undefined> {
  if (isStopped?.(entry.task)) return stoppedByPerson;
  const stored = await store.getTask(entry.task);
  if (stored === undefined) return refused("The task was deleted.");
  return stored.task.entry === entry.stay ? undefined : movedOn(stored.task);
}

/** Refuses an entry whose commits are in the branch without their changes: the task must not count as merged. */
async function lost(
  { store }: Pick<LandEntriesPorts, "store">,
  { control }: ProjectWorkspaces,
  { task: id, target, commit }: Ready,
  tip: string,
): Promise<Landing | undefined> {
  const task = (await store.getTask(id))?.task;
  const found = task && (await lostWork({ store, control }, task, target, commit, tip));
  if (task === undefined || found === undefined) return undefined;
  const { reason, fix } = lostTrouble(task, target, found);
  return refused(`${reason}\n${fix}`);
}

/** Records the merges before the branch moves, so that a recovery after a crash knows which commits they made. */
async function plan({ store }: LandEntriesPorts, merged: readonly Merged[]): Promise<void> {
  for (const { entry, before, after } of merged) {
    const merge = before === after ? undefined : await store.merges.get(entry.task);
    if (merge === undefined) continue;
    const { onRemote: _, ...rest } = merge;
    await store.merges.put({ ...rest, commit: entry.commit, before, after });
  }
}

/** Records that the remote's branch has the merges: from now on they can only be undone. */
async function notePush({ store }: LandEntriesPorts, merged: readonly Merged[]): Promise<void> {
  for (const { entry, before, after } of merged) {
    const merge = before === after ? undefined : await store.merges.get(entry.task);
    if (merge?.after === after) await store.merges.put({ ...merge, onRemote: true });
  }
}

export function messageOf({ branch, summary, project, number, id, ticket = "" }: Task): string {
  // A task of an earlier version may have a summary of several lines.
  const title = oneLine(summary);
  const named = ticket === "" ? "" : `Ticket: ${oneLine(ticket)}\n`;
  return `Merge ${branch}${title === "" ? "" : `: ${title}`}\n\nTask: ${project}#${number} (${id})\n${named}`;
}

export interface LandPorts extends PublishPorts {
  /** Called before the merges are published. */
  planned(merged: readonly Merged[]): Promise<void>;
  /** Called when the remote's branch has the merges, before the user's branch follows. */
  published(merged: readonly Merged[]): Promise<void>;
  /** Why the merge of an entry is no longer wanted; undefined while it is. */
  unwanted(entry: Entry): Promise<Landing | undefined>;
  /** Whether the merge waits for the end of a pause: it stays in the queue. */
  isHalted?(entry: Entry): boolean;
  readonly publishing?: Publishing;
  /** Why an entry is not merged although the branch, at `tip`, has some of its commits; undefined if it has their changes. */
  lost(entry: Ready, tip: string): Promise<Landing | undefined>;
  /** Tests a commit. Undefined if merges are not tested. */
  readonly test: ((commit: string, merged: readonly Merged[]) => Promise<Tested>) | undefined;
}

/** How the tests of a merge ended. `none`: no command that runs tests was found. */
export type Tested = "passed" | "none" | { readonly failing: string };

interface Round extends LandPorts {
  readonly project: Project;
  readonly place: LandingPlace;
  readonly own: ProjectWorkspaces;
  readonly outcomes: Map<Ready, Outcome>;
}

/** The user may move the branch meanwhile. After this many rounds, the entries wait for their next turn. */
const maxRounds = 8;

/**
 * Merges tasks into a branch: stacked one after the other, tested together, published in one step.
 * If the branch has moved meanwhile, the tasks are merged and tested again.
 */
export async function land(
  ports: LandPorts,
  own: ProjectWorkspaces,
  project: Project,
  place: LandingPlace,
  entries: readonly Ready[],
): Promise<ReadonlyMap<Ready, Outcome>> {
  const outcomes = new Map<Ready, Outcome>(entries.map((entry) => [entry, { kind: "again" }]));
  const round: Round = { ...ports, own, project, place, outcomes };
  let open = entries;
  for (let count = 0; open.length > 0 && count < maxRounds; count++) open = await oneRound(round, open);
  return outcomes;
}

/** Returns the entries to retry immediately. */
async function oneRound(round: Round, entries: readonly Ready[]): Promise<readonly Ready[]> {
  const { own, project, place, outcomes } = round;
  const [author, tips] = await Promise.all([
    own.git.identityOf(project.path),
    reachable(round, entries, () => place.find()),
  ]);
  if (tips === undefined) return [];
  const base = tips.apart ? await bringTogether(own, place.branch, tips, entries, author) : tips.base;
  if (base === undefined) {
    const reason = `Local "${place.branch}" and the remote's "${place.branch}" have diverged. Reconcile them first: git pull`;
    for (const entry of entries) outcomes.set(entry, refused(reason));
    return [];
  }
  const stack = await stackUp(own.control, base, entries, author);
  for (const [entry, outcome] of stack.others) outcomes.set(entry, outcome);
  if (stack.merged.length === 0) return [];
  const whole = await withoutLost(round, stack.merged);
  if (whole.length < stack.merged.length) return whole;
  const tested = stack.top === base ? undefined : await round.test?.(stack.top, stack.merged);
  if (typeof tested === "object") return split(round, stack, tested.failing);
  return publish(round, tips, stack, tested === "none" ? { untested: true } : {});
}

async function withoutLost(round: Round, merged: readonly Merged[]): Promise<readonly Ready[]> {
  const whole: Ready[] = [];
  for (const { entry, before } of merged) {
    const lost = await round.lost(entry, before);
    if (lost === undefined) whole.push(entry);
    else round.outcomes.set(entry, lost);
  }
  return whole;
}

/** A batch whose tests fail is bisected until one task is left. */
function split({ outcomes }: Round, { merged }: Stack, reason: string): readonly Ready[] {
  const [first] = merged;
  if (first !== undefined && merged.length === 1) outcomes.set(first.entry, { kind: "tests", reason, files: [] });
  return merged.length === 1 ? [] : merged.slice(0, Math.floor(merged.length / 2)).map(({ entry }) => entry);
}

async function publish(
  round: Round,
  tips: Tips,
  { top, merged }: Stack,
  tested: Pick<Merge, "untested">,
): Promise<readonly Ready[]> {
  const wanted = await stillWanted(round, merged);
  // Asked last: nothing comes between this and the publication. Halted entries have no outcome, and so stay in the queue.
  const isGoing = ({ before, after, entry }: Merged) => before === after || round.isHalted?.(entry) !== true;
  const isIn = new Set(merged.filter(isGoing).map(({ entry }) => entry));
  const going = wanted.filter((entry) => isIn.has(entry));
  // Without the others the stack is another commit, which must be tested itself.
  if (going.length < merged.length) return going;
  const run = () => publishStack(round, tips, { top, merged }, tested);
  return round.publishing === undefined ? run() : round.publishing(tasksOf(merged), run);
}

async function publishStack(
  round: Round,
  tips: Tips,
  { top, merged }: Pick<Stack, "top" | "merged">,
  tested: Pick<Merge, "untested">,
): Promise<readonly Ready[]> {
  const { place, outcomes } = round;
  await round.planned(merged);
  const result = await place.publish({ ...round, pushed: () => round.published(merged) }, tips, top);
  if (result.kind === "moved") return merged.map(({ entry }) => entry);
  if (result.kind === "waits") return waitFor(round, merged, result);
  for (const { entry, before, after } of merged) {
    const { commit } = entry;
    const { pushed } = result.kind === "published" ? result : {};
    const how = { ...tested, ...(pushed === undefined ? {} : { pushed }) };
    outcomes.set(entry, result.kind === "refused" ? result : { kind: "merged", commit, before, after, ...how });
  }
  return [];
}

/** Tests take long, and a task may have moved meanwhile. Work that is already in the branch stays. */
async function stillWanted(round: Round, merged: readonly Merged[]): Promise<readonly Ready[]> {
  const wanted: Ready[] = [];
  for (const { entry, before, after } of merged) {
    const unwanted = before === after ? undefined : await round.unwanted(entry);
    if (unwanted === undefined) wanted.push(entry);
    else round.outcomes.set(entry, unwanted);
  }
  return wanted;
}

/** Entries that change the blocking files wait; the others are retried without them. */
async function waitFor(round: Round, merged: readonly Merged[], waiting: Waiting): Promise<readonly Ready[]> {
  const isTouched = new Set(waiting.files);
  const concerned = await Promise.all(
    merged.map(async ({ before, after }) => {
      const changed = before === after ? [] : await round.own.control.changedFiles(before, after);
      return changed.some(
        ({ path, from }) => isTouched.has(path.text) || (from !== undefined && isTouched.has(from.text)),
      );
    }),
  );
  // If none of them, or all of them, change these files, all of them wait.
  const some = concerned.some((is) => is) && !concerned.every((is) => is);
  merged.forEach(({ entry }, index) => {
    if (!some || concerned[index] === true) round.outcomes.set(entry, waiting);
  });
  return some ? merged.flatMap(({ entry }, index) => (concerned[index] === true ? [] : [entry])) : [];
}

/** If the remote is unreachable, all entries wait. */
async function reachable<T>(
  { outcomes }: Round,
  entries: readonly Ready[],
  ask: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    const waiting = unreachable(error);
    if (waiting === undefined) throw error;
    for (const entry of entries) outcomes.set(entry, waiting);
    return undefined;
  }
}
