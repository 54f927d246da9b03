import { droppedLine, foreignLine } from "../engine/protected-lines.ts";
import type { Task } from "../engine/task.ts";
import { beganRef, type ControlRepository, taskRef } from "../ports/control-repository.ts";
import type { Project, Store } from "../ports/store.ts";
import type { LandingPlace } from "./landing-place.ts";
import { droppedWork, listed, missingWork } from "./lost-work.ts";
import { allTasks, continuedBy } from "./project.ts";

/** Commits in a task's work that belong to another open task, or whose changes it has dropped. */
export interface ForeignCommits {
  readonly line: string;
  readonly commits: readonly string[];
}

/**
 * An agent can merge the commits of another open task, and drop their changes: then git considers that task's work merged. Such
 * commits are found if neither the target nor the commit that the work began at has them. A commit that both tasks have belongs
 * to the one whose first-parent history it is in; if that is both, it is reported for both. If that is neither, it may be of a
 * person's branch that both have merged. Parts of the task are no others. Once the target has the commits, they are found by
 * the changes that the work lacks. So are commits of the user's branches that a merge has brought in.
 */
export async function foreignCommits(
  store: Store,
  control: ControlRepository,
  project: Project,
  place: LandingPlace,
  task: Task,
  commit: string,
): Promise<readonly ForeignCommits[]> {
  const [tip, start, began] = await Promise.all([place.lastSeen(), place.start(), control.commitAt(beganRef(task.id))]);
  const bases = [tip, start, began].filter((each) => each !== undefined);
  if (bases.includes(commit) || tip === undefined) return [];
  const dropped = await droppedWork({ store, control }, task, place.branch, commit, tip);
  const mine = await control.listCommits(commit, bases);
  const own = firstParents(mine, commit);
  const others = await otherTips(store, control, task);
  const found: ForeignCommits[] =
    dropped === undefined
      ? []
      : [{ line: droppedLine(place.branch, listed(dropped.files)), commits: [dropped.commit] }];
  if (sideCommits(mine).length > 0)
    for (const [branch, tip] of Object.entries(await personsBranches(control, project, others))) {
      const isOther = branch !== task.branch && branch !== place.branch;
      const line = isOther ? await droppedBranch(control, commit, branch, tip, mine, own) : undefined;
      if (line !== undefined) found.push(line);
    }
  if (others.length === 0) return found;
  const tips = others.map(({ tip }) => tip);
  const rest = await control.listCommits(commit, [...bases, ...tips]);
  if (rest.size === mine.size) return found;
  const unknown = await control.listCommits(commit, [
    ...bases,
    ...Object.values(await personsBranches(control, project, others)),
  ]);
  for (const { task: other, tip } of others) {
    const theirs = await control.listCommits(tip, bases);
    const first = firstParents(theirs, tip);
    const isTheirs = (id: string) => first.has(id) || (!own.has(id) && unknown.has(id));
    const commits = [...mine.keys()].filter((id) => theirs.has(id) && isTheirs(id));
    if (commits.length > 0 && !(await continues(store, other, task)))
      found.push({ line: foreignLine(`${other.project}#${other.number}`, commits), commits });
  }
  return found;
}

/** Whether a task was made from another one, so that the commits of that one are in both. Older versions recorded the branch only. */
async function continues(store: Store, { id, branch }: Task, ended: Task): Promise<boolean> {
  if (ended.phase !== "over") return false;
  return branch === ended.branch || (await continuedBy(store, id)) === ended.id;
}

/** The user's branches that no other open task works on, with their commits. */
async function personsBranches(
  control: ControlRepository,
  { path }: Project,
  others: readonly { readonly task: Task }[],
): Promise<Readonly<Record<string, string>>> {
  const taken = new Set(others.map(({ task }) => task.branch));
  const { branches } = await control.syncFrom({ from: path, name: "user" });
  return Object.fromEntries(Object.entries(branches).filter(([branch]) => !taken.has(branch)));
}

/** The commits that merges have brought in beside their first parent. */
function sideCommits(commits: ReadonlyMap<string, readonly string[]>): readonly string[] {
  return [...commits.values()].flatMap(([, ...sides]) => sides.filter((side) => commits.has(side)));
}

/** What a merge has brought in of a branch of the user's without its changes. A branch made of the work itself is none. */
async function droppedBranch(
  control: ControlRepository,
  commit: string,
  branch: string,
  tip: string,
  mine: ReadonlyMap<string, readonly string[]>,
  own: ReadonlySet<string>,
): Promise<ForeignCommits | undefined> {
  const theirs = mine.has(tip) ? tip : await control.mergeBase(tip, commit);
  if (theirs === undefined || !mine.has(theirs) || own.has(theirs)) return undefined;
  const lost = await missingWork(control, theirs, commit);
  return lost && { line: droppedLine(branch, listed(lost.files)), commits: [theirs] };
}

/** The collected commits of the project's other open tasks. */
async function otherTips(store: Store, control: ControlRepository, { id, project }: Task) {
  const open = (await allTasks(store, { project, isOpen: true })).map(({ task }) => task);
  const parents = new Map(open.map((each) => [each.id, each.parent ?? ""]));
  const isPart = (each: string, depth = 0): boolean =>
    each === id || (each !== "" && depth < parents.size && isPart(parents.get(each) ?? "", depth + 1));
  const tips = await Promise.all(
    open
      .filter((each) => !isPart(each.id))
      .map(async (each) => ({ task: each, tip: await control.commitAt(taskRef(each.id)) })),
  );
  return tips.flatMap(({ task, tip }) => (tip === undefined ? [] : [{ task, tip }]));
}

function firstParents(commits: ReadonlyMap<string, readonly string[]>, tip: string): ReadonlySet<string> {
  const chain = new Set<string>();
  for (let next: string | undefined = tip; next !== undefined && commits.has(next); next = commits.get(next)?.[0])
    chain.add(next);
  return chain;
}
