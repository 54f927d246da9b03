import { droppedLine, foreignLine } from "../engine/protected-lines.ts";
import type { Task } from "../engine/task.ts";
import { beganRef, type ControlRepository, taskRef } from "../ports/control-repository.ts";
import type { Project, Store } from "../ports/store.ts";
import type { LandingPlace } from "./landing-place.ts";
import { droppedWork, listed } from "./lost-work.ts";
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
 * the changes that the work lacks.
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
  const found: ForeignCommits[] =
    dropped === undefined
      ? []
      : [{ line: droppedLine(place.branch, listed(dropped.files)), commits: [dropped.commit] }];
  const others = await otherTips(store, control, task);
  if (others.length === 0) return found;
  const tips = others.map(({ tip }) => tip);
  const [mine, rest] = await Promise.all([
    control.listCommits(commit, bases),
    control.listCommits(commit, [...bases, ...tips]),
  ]);
  if (rest.size === mine.size) return found;
  const own = firstParents(mine, commit);
  const unknown = await control.listCommits(commit, [...bases, ...(await personsTips(control, project, others))]);
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

/** The tips of the user's branches that no other open task works on. */
async function personsTips(
  control: ControlRepository,
  { path }: Project,
  others: readonly { readonly task: Task }[],
): Promise<readonly string[]> {
  const taken = new Set(others.map(({ task }) => task.branch));
  const { branches } = await control.syncFrom({ from: path, name: "user" });
  return Object.entries(branches).flatMap(([branch, tip]) => (taken.has(branch) ? [] : [tip]));
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
