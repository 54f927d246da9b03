import type { Task } from "../engine/task.ts";
import { createMemo, type Memo } from "../keyed.ts";
import { beganRef, type ControlRepository } from "../ports/control-repository.ts";
import type { Store } from "../ports/store.ts";
import { eventsOf } from "./project.ts";

/** A branch contains commits of a task, but some of their changes are missing from it. */
export interface LostWork {
  /** The newest of these commits. */
  readonly commit: string;
  /** The commit that their changes are counted from. */
  readonly begin: string;
  /** The files whose changes are missing. */
  readonly files: readonly string[];
}

/** Where the histories of a project are. */
interface Histories {
  readonly store: Store;
  readonly control: ControlRepository;
}

/**
 * The work that a branch has in its history and not in its files: somebody has merged the task's commits with `-s ours`, has
 * dropped some of their changes in the merge, or has reverted them. Git considers such work merged. Undefined if nothing is
 * missing, or if the task's own merge brought these commits in: what became of its changes since is not lost work.
 */
export async function lostWork(
  { store, control }: Histories,
  { id }: Pick<Task, "id">,
  target: string,
  commit: string,
  tip: string,
): Promise<LostWork | undefined> {
  const began = await control.commitAt(beganRef(id));
  const known = commit === began ? began : await control.mergeBase(tip, commit);
  // Without a commit of its own that the branch has, a task has lost nothing.
  if (known === undefined || known === began) return undefined;
  const lost = await lossesIn(control).get([known, tip].join(" "), () => look(control, known, tip));
  return lost === undefined || (await isOwnLanding(store, control, id, target, lost.commit, tip)) ? undefined : lost;
}

/**
 * The work of a part that its parent's branch has in its history and not in its files. Other than with `lostWork`, the part's own
 * merge is no excuse: the parent is only done with the work of all its parts. Changes that were brought back are not missing.
 */
export async function missingWork(
  control: ControlRepository,
  commit: string,
  tip: string,
): Promise<LostWork | undefined> {
  return lossesIn(control).get(["part", commit, tip].join(" "), async () => {
    const brought = await broughtIn(control, commit, tip);
    const now = await lostIn(brought, tip);
    if (brought === undefined || now === undefined || now.files.length === brought.files.length) return now;
    // Later parts may have undone some of the changes, but a merge that joins them may not.
    const dropped = new Set((await lostIn(brought, brought.merge))?.files);
    const files = now.files.filter((file) => dropped.has(file));
    return files.length === 0 ? undefined : { ...now, files };
  });
}

/**
 * The other way round: work that contains commits which a merge of another task has brought into the branch, without their
 * changes. Merging it would remove these changes, although the work's diff did not show that before.
 */
export async function droppedWork(
  { store, control }: Histories,
  { id }: Pick<Task, "id">,
  target: string,
  commit: string,
  tip: string,
): Promise<LostWork | undefined> {
  const known = await control.mergeBase(tip, commit);
  if (known === undefined || known === commit || known === (await control.commitAt(beganRef(id)))) return undefined;
  const key = [known, tip, commit].join(" ");
  const lost = await lossesIn(control).get(key, async () => lostIn(await broughtIn(control, known, tip), commit));
  return lost === undefined || (await isOwnLanding(store, control, id, target, known, tip)) ? undefined : lost;
}

/** The answers of one daemon: those that another daemon in this process was still waiting for when it died never come. */
const losses = new WeakMap<ControlRepository, Memo<LostWork | undefined>>();

function lossesIn(control: ControlRepository): Memo<LostWork | undefined> {
  const known = losses.get(control) ?? createMemo<LostWork | undefined>();
  losses.set(control, known);
  return known;
}

async function look(control: ControlRepository, commit: string, tip: string): Promise<LostWork | undefined> {
  const brought = await broughtIn(control, commit, tip);
  const dropped = await lostIn(brought, brought?.merge ?? "");
  if (brought === undefined || dropped !== undefined) return dropped;
  // Later commits may have renamed or removed some of the files. If all changes are gone, they were reverted.
  const gone = await lostIn(brought, tip);
  return gone?.files.length === brought.files.length ? gone : undefined;
}

interface Brought extends LostWork {
  /** The merge that brought the commits into the branch. */
  readonly merge: string;
  /** The files that differ between the beginning and another commit. */
  changedIn(commit: string): Promise<ReadonlySet<string>>;
}

/** The changes that came into a branch with a commit; undefined for a commit of the branch itself. */
async function broughtIn(control: ControlRepository, commit: string, tip: string): Promise<Brought | undefined> {
  const merge = await control.mergeOf(commit, tip);
  const begin = merge && (await control.mergeBase(merge.before, commit));
  if (merge === undefined || begin === undefined) return undefined;
  const files = (await control.changedFiles(begin, commit)).map(({ path }) => path.text);
  const changedIn = async (other: string) => {
    const changed = await control.changedFiles(begin, other);
    return new Set(changed.flatMap(({ path, from }) => [path.text, ...(from === undefined ? [] : [from.text])]));
  };
  return { commit, begin, files, merge: merge.after, changedIn };
}

async function lostIn(brought: Brought | undefined, at: string): Promise<LostWork | undefined> {
  if (brought === undefined || brought.files.length === 0) return undefined;
  const { commit, begin, files } = brought;
  const changed = await brought.changedIn(at);
  const missing = files.filter((path) => !changed.has(path));
  return missing.length === 0 ? undefined : { commit, begin, files: missing };
}

/** Whether a merge of the task itself, which was not undone, has brought a commit into a branch. */
async function isOwnLanding(
  store: Store,
  control: ControlRepository,
  task: string,
  target: string,
  commit: string,
  tip: string,
): Promise<boolean> {
  const merge = await store.merges.get(task);
  const landed = new Set<string>();
  for await (const { event } of eventsOf(store, task)) {
    if (event.data.target !== target) continue;
    if (event.type === "merge.landed" && event.data.before !== event.data.after) landed.add(String(event.data.commit));
    if (event.type === "merge.undone") landed.clear();
  }
  // A daemon that was killed after publishing has recorded only its plan.
  const isPlanned = merge?.target === target && merge.state !== "undone" && merge.after !== merge.before;
  if (isPlanned && (await control.isAncestor(merge.after, tip))) landed.add(merge.commit);
  for (const each of landed) if (await control.isAncestor(commit, each)) return true;
  return false;
}

const maxListed = 10;

/** Says which work is missing, and what a person can do about it. */
export function lostTrouble(
  { id, project, number }: Pick<Task, "id" | "project" | "number">,
  target: string,
  { commit, begin, files }: LostWork,
): { readonly reason: string; readonly fix: string } {
  return {
    reason: `The commits of ${project}#${number} up to ${commit.slice(0, 10)} are in "${target}", but their changes are not: ${listed(files)}. They came in with a merge that dropped these changes, or were reverted.`,
    fix: [
      `See the changes: git diff ${begin.slice(0, 10)} ${commit.slice(0, 10)}`,
      `To bring them back in a new task: signalbox task cancel ${id}, then signalbox task create --from ${id}`,
    ].join("\n"),
  };
}

export function listed(files: readonly string[]): string {
  const more = files.length > maxListed ? ` and ${files.length - maxListed} more` : "";
  return `${files.slice(0, maxListed).join(", ")}${more}`;
}
