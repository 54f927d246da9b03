import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Turns } from "../../keyed.ts";
import { asideRef, type BranchMove, type ControlRepository, type Synced } from "../../ports/control-repository.ts";
import type { Git } from "../../ports/git.ts";
import type { Run, Workspace } from "../../ports/records.ts";
import type { MovedBranch, Project, Store } from "../../ports/store.ts";
import type { Clock, Log } from "../../ports/system.ts";
import { allTasks, targetOf } from "../project.ts";
import { isOwnBranch } from "./own-branches.ts";
import type { ForeignTip } from "./project-workspaces.ts";

interface MovesPorts {
  readonly store: Store;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  readonly inTurn: Turns;
  readonly git: Git;
  readonly control: ControlRepository;
  /** The folder that contains the project's workspaces. */
  readonly folder: string;
  /** Whether the daemon itself has moved a branch to this commit, or deleted it. */
  isOurs(branch: string, commit: string | undefined): boolean;
}

/** What a sync of the user's branches has found. */
interface Found extends Synced {
  /** The branches that were looked at; all if missing. */
  readonly only?: readonly string[] | undefined;
}

/**
 * Records branches of the user that an agent in a worktree may have moved or deleted. A move counts only if it happened
 * while a run worked in a worktree, and not if the user made it in a checkout. If the branch was moved in a task's
 * worktree, or its new commit was made there, the daemon calls a person and merges nothing into the branch. Otherwise
 * the user may have moved it, and the daemon only notes it.
 */
export async function noticeMoves(ports: MovesPorts, name: string, found: Found): Promise<void> {
  const { store, inTurn } = ports;
  const { moves } = found;
  if (moves.length === 0 && !(await store.getProject(name))?.movedBranches?.length) return;
  await inTurn(`moved branches ${name}`, async () => {
    const project = await store.getProject(name);
    if (project === undefined) return;
    const bound = moves.length === 0 ? [] : await boundTasks(store, name);
    const before = project.movedBranches ?? [];
    let known: readonly MovedBranch[] = [];
    for (const each of before) if (!(await isSettled(ports, project, found, each))) known = [...known, each];
    for (const move of moves) known = await judge({ ...ports, since: found.since ?? 0 }, project, bound, move, known);
    if (known.length !== before.length || known.some((each, index) => each !== before[index]))
      await save(store, name, known);
  });
}

/**
 * While a parent has no workspace, only merges of its parts may move its branch. If anything else has added commits,
 * such as a part that has checked the branch out, this keeps them under a ref, notes them and restores the branch. If a
 * checkout has the branch's files, the branch stays where it is, but the added commits are not used.
 */
export async function setForeignAside(
  { store, clock, log, inTurn, control }: Omit<MovesPorts, "isOurs" | "git" | "folder">,
  { name, path }: Pick<Project, "name" | "path">,
  { task, branch, commit, tip }: ForeignTip,
): Promise<void> {
  await inTurn(`moved branches ${name}`, async () => {
    const setAside = asideRef(task, tip);
    const known = (await store.getProject(name))?.movedBranches ?? [];
    if ((await control.commitAt(setAside)) === undefined) await control.moveRef(setAside, tip, undefined);
    await control.restoreBranch({ repository: path, branch, commit, from: tip }).catch((error: unknown) => {
      if (!(error instanceof Fault)) throw error;
      log.warn("The branch of a parent could not be restored", { task, branch, error });
    });
    if (known.some((each) => each.setAside === setAside)) return;
    const at = clock.now();
    const way = await wayOf(control, commit, tip);
    const about = { branch, before: commit, after: tip, isKnown: false, setAside };
    await store.addEvents(task, [{ type: "branch.moved", by: "engine", data: about, set: {} }], at);
    await save(store, name, [...known, { ...about, way, tasks: [task], blocks: false, at }]);
    log.warn("Commits that no merge has made were set aside from the branch of a parent", { task, ...about });
  });
}

/** How long the daemon lists a move that the user may have made. */
const noteTime = 30 * 24 * 60 * 60_000;

/** Whether the user has put a branch back, or has accepted it in a checkout. */
async function isSettled(
  { git, control, clock, folder }: MovesPorts,
  { path }: Project,
  { branches, only }: Found,
  { branch, before, after, way, blocks, setAside, at }: MovedBranch,
): Promise<boolean> {
  if (!blocks && clock.now() - at > noteTime) return true;
  if (setAside !== undefined) return false;
  const tip = branches[branch];
  if (tip === undefined || (only !== undefined && !only.includes(branch))) return false;
  if (tip === before) return true;
  if (way !== "forward" && (await control.isAncestor(before, tip))) return true;
  return tip === after && (await git.whoMoved(path, branch, tip, folder)).isUser;
}

/** Moves of the user's branches that the daemon makes itself, until a sync has seen them. */
export function createOwnMoves() {
  interface Move {
    readonly branch: string;
    readonly commit: string | undefined;
    isDone: boolean;
  }
  const moves = new Set<Move>();
  return {
    includes: (branch: string, commit: string | undefined) =>
      [...moves].some((each) => each.branch === branch && each.commit === commit),
    /** Makes a move; a `commit` of undefined deletes the branch. */
    async during<T>(branch: string, commit: string | undefined, make: () => Promise<T>): Promise<T> {
      const move: Move = { branch, commit, isDone: false };
      moves.add(move);
      try {
        return await make();
      } finally {
        move.isDone = true;
      }
    },
    /**
     * Called before a sync. Returns a function that forgets the moves this sync sees: the same move later is an
     * agent's.
     */
    seen(only: readonly string[] | undefined): () => void {
      const done = [...moves].filter(({ branch, isDone }) => isDone && (only?.includes(branch) ?? true));
      return () => {
        for (const move of done) moves.delete(move);
      };
    },
  };
}

function save(store: Store, project: string, movedBranches: readonly MovedBranch[]): Promise<Project> {
  return store.updateProject(project, { movedBranches });
}

interface BoundTask {
  readonly task: Task;
  readonly workspace: Workspace;
  readonly runs: readonly Run[];
}

/** The tasks with a worktree. */
async function boundTasks(store: Store, project: string): Promise<readonly BoundTask[]> {
  const found: BoundTask[] = [];
  for (const workspace of await store.workspaces.list({ project })) {
    if (workspace.kind !== "worktree" || workspace.task === "") continue;
    const task = (await store.getTask(workspace.task))?.task;
    if (task !== undefined) found.push({ task, workspace, runs: await store.runs.list({ task: task.id }) });
  }
  return found;
}

/** Times in reflogs are whole seconds, and a run's end is recorded a little after its last command. */
const leeway = 2_000;

/** Whether a run of the task worked at any time between two moments. */
function isAtWork({ runs }: BoundTask, from: number, to: number): boolean {
  return runs.some(({ at, endedAt, started }) => {
    const end = Math.min(endedAt ?? Number.POSITIVE_INFINITY, started?.asleepSince ?? Number.POSITIVE_INFINITY);
    return at <= to + leeway && end >= from - leeway;
  });
}

async function judge(
  ports: MovesPorts & { readonly since: number },
  project: Project,
  all: readonly BoundTask[],
  move: BranchMove,
  known: readonly MovedBranch[],
): Promise<readonly MovedBranch[]> {
  const { git, store, clock, log, folder, since } = ports;
  const { branch, after = "" } = move;
  const earlier = known.find((each) => each.branch === branch);
  const others = known.filter((each) => each !== earlier);
  // The daemon was killed after it had recorded the move.
  if (earlier !== undefined && earlier.before === move.before && earlier.after === after) return known;
  if (all.length === 0 || (await isExpected(ports, project, all, move))) return known;
  const { isUser, isOurs, isRenamed, at, ...made } = await git.whoMoved(project.path, branch, after, folder);
  const now = clock.now();
  const bound = all.filter((each) => isAtWork(each, at ?? since, at ?? now));
  if (isUser && earlier?.blocks === false) return others;
  if (isUser || isOurs || isRenamed || bound.length === 0) return known;
  // A branch that an agent has made for itself is not the user's.
  const isMade = ({ workspace: { path, branches } }: BoundTask) =>
    made.visitors.includes(path) && branches?.includes(branch) === false;
  if (bound.some(isMade)) return known;
  const movers = bound.filter(({ workspace }) => made.movers.includes(workspace.path));
  const makers = bound.filter(
    ({ task, workspace }) => made.workspaces.includes(workspace.path) || made.branches.includes(task.branch),
  );
  const makersOrMovers = movers.length > 0 ? movers : makers;
  const isKnown = makersOrMovers.length > 0;
  if (move.way === "forward" && !isKnown) return known;
  const tasks = [...new Set((isKnown ? makersOrMovers : bound).map(({ task }) => task.id))];
  const before = earlier?.before ?? move.before;
  const way = earlier === undefined || after === "" ? move.way : await wayOf(ports.control, before, after);
  const blocks = isKnown || earlier?.blocks === true || (await endangersTarget(ports, project, all, move));
  const moved: MovedBranch = { branch, before, after, way, tasks, isKnown, blocks, at: now };
  log.warn("A branch of the user was moved or deleted while agents had worktrees", { ...moved });
  const event = { type: "branch.moved", by: "engine", data: { branch, before, after, isKnown }, set: {} } as const;
  for (const task of tasks) await store.addEvents(task, [event], now);
  return [...others, moved];
}

async function wayOf(control: ControlRepository, before: string, after: string): Promise<MovedBranch["way"]> {
  if (await control.isAncestor(before, after)) return "forward";
  return (await control.isAncestor(after, before)) ? "back" : "apart";
}

/**
 * Whether a move harms a branch that work is merged into: it is gone, or it has lost commits that no other branch has.
 */
async function endangersTarget(
  { git }: MovesPorts,
  project: Project,
  bound: readonly BoundTask[],
  { branch, after, isLost }: BranchMove,
): Promise<boolean> {
  if (!isTarget(project, bound, branch)) return false;
  if (after === undefined) return true;
  // A branch that follows its remote, for example after a force-push, has lost nothing.
  return isLost && !(await git.isInRemote(project.path, after));
}

function isTarget(project: Project, bound: readonly BoundTask[], branch: string): boolean {
  return branch === project.defaultBranch || bound.some(({ task }) => targetOf(project, task) === branch);
}

async function isExpected(
  { store, control, git, isOurs }: MovesPorts,
  project: Project,
  bound: readonly BoundTask[],
  { branch, before, after, way, isLost }: BranchMove,
): Promise<boolean> {
  if (isOurs(branch, after)) return true;
  // A branch that git cannot read is not deleted; another check reports it.
  if (way === "deleted" && (await git.lookAtBranch(project.path, branch))?.isThere !== false) return true;
  // A daemon that was killed right after a fast-forward has not recorded it as its own.
  for (const { task } of way === "forward" ? bound : []) {
    const merge = await store.merges.get(task.id);
    const isMerged = merge?.state === "merged" || merge?.state === "lined-up";
    if (isMerged && merge.target === branch && after && [merge.after, merge.only].includes(after)) return true;
  }
  if (isTarget(project, bound, branch)) return false;
  if (way === "deleted" && (!isLost || (await git.isInRemote(project.path, before)))) return true;
  for (const { task } of bound) if (await isOwnBranch(control, { id: task.id, branch })) return true;
  // An agent moves its task's own branch, and the user deletes those of ended tasks.
  return (await allTasks(store, { project: project.name })).some(({ task }) => task.branch === branch);
}

/** A person decides about a moved branch: it goes back to the commit that it had, or stays where it is. */
export async function settleMovedBranch(
  { store, inTurn, control }: Pick<MovesPorts, "store" | "inTurn" | "control">,
  { name, path }: Project,
  branch: string,
  decision: "restore" | "accept",
): Promise<MovedBranch> {
  return inTurn(`moved branches ${name}`, async () => {
    const known = (await store.getProject(name))?.movedBranches ?? [];
    const moved = known.find((each) => each.branch === branch);
    if (moved === undefined)
      throw new Fault("project.invalid", `"${branch}" is not among the moved branches of ${name}.`, {
        hint: `List them: signalbox project branches ${name}`,
      });
    if (decision === "restore" && moved.setAside === undefined)
      await control.restoreBranch({ repository: path, branch, commit: moved.before, from: moved.after });
    await save(
      store,
      name,
      known.filter((each) => each !== moved),
    );
    return moved;
  });
}
