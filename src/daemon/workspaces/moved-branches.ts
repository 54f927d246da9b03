import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Turns } from "../../keyed.ts";
import type { BranchMove, ControlRepository } from "../../ports/control-repository.ts";
import type { Git } from "../../ports/git.ts";
import type { Workspace } from "../../ports/records.ts";
import type { MovedBranch, Project, Store } from "../../ports/store.ts";
import type { Clock, Log } from "../../ports/system.ts";
import { allTasks, targetOf } from "../project.ts";
import { isOwnBranch } from "./own-branches.ts";

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

/**
 * Records the branches of the user's that an agent in a worktree may have moved or deleted, and tells their tasks. Nobody
 * can always distinguish an agent's move from the user's own. So this leaves out moves that the user made in a checkout,
 * fast-forwards to commits that no agent made, and deletions that lose no commit.
 */
export async function noticeMoves(ports: MovesPorts, name: string, moves: readonly BranchMove[]): Promise<void> {
  const { store, inTurn } = ports;
  if (moves.length === 0) return;
  await inTurn(`moved branches ${name}`, async () => {
    const project = await store.getProject(name);
    if (project === undefined) return;
    const bound = await boundTasks(store, name);
    const before = project.movedBranches ?? [];
    let known = before;
    for (const move of moves) known = await judge(ports, project, bound, move, known);
    if (known !== before) await save(store, name, known);
  });
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
    /** Called before a sync. Returns what forgets the moves that this sync sees: the same move later is an agent's. */
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
}

/** The tasks with a worktree, in which an agent was started at least once. */
async function boundTasks(store: Store, project: string): Promise<readonly BoundTask[]> {
  const found: BoundTask[] = [];
  for (const workspace of await store.workspaces.list({ project })) {
    if (workspace.kind !== "worktree" || workspace.task === "") continue;
    const task = (await store.getTask(workspace.task))?.task;
    if (task !== undefined && task.runCount > 0) found.push({ task, workspace });
  }
  return found;
}

async function judge(
  ports: MovesPorts,
  project: Project,
  bound: readonly BoundTask[],
  move: BranchMove,
  known: readonly MovedBranch[],
): Promise<readonly MovedBranch[]> {
  const { branch, after = "", way } = move;
  const earlier = known.find((each) => each.branch === branch);
  const others = known.filter((each) => each !== earlier);
  // Somebody has put it back.
  if (earlier !== undefined && after === earlier.before) return others;
  if (bound.length === 0 || (await isExpected(ports, project, bound, move))) return known;
  const { isUser, ...made } = await ports.git.whoMoved(project.path, branch, after, ports.folder);
  if (isUser) return known;
  const makers = bound.filter(
    ({ task, workspace }) => made.workspaces.includes(workspace.path) || made.branches.includes(task.branch),
  );
  if (way === "forward" && makers.length === 0) return known;
  const isKnown = makers.length > 0;
  const tasks = (isKnown ? makers : bound).map(({ task }) => task.id);
  const before = earlier?.before ?? move.before;
  const moved: MovedBranch = { branch, before, after, way, tasks, isKnown, at: ports.clock.now() };
  ports.log.warn("A branch of the user was moved or deleted while agents had worktrees", { ...moved });
  const event = { type: "branch.moved", by: "engine", data: { branch, before, after, isKnown }, set: {} } as const;
  for (const task of tasks) await ports.store.addEvents(task, [event], moved.at);
  return [...others, moved];
}

async function isExpected(
  { store, control, isOurs }: MovesPorts,
  project: Project,
  bound: readonly BoundTask[],
  { branch, after, way, isLost }: BranchMove,
): Promise<boolean> {
  if (isOurs(branch, after)) return true;
  // A daemon that was killed right after a fast-forward does not remember that it made it.
  for (const { task } of way === "forward" ? bound : []) {
    const merge = await store.merges.get(task.id);
    const isMerged = merge?.state === "merged" || merge?.state === "lined-up";
    if (isMerged && merge.target === branch && after && [merge.after, merge.only].includes(after)) return true;
  }
  const isTarget = branch === project.defaultBranch || bound.some(({ task }) => targetOf(project, task) === branch);
  if (isTarget) return false;
  if (way === "deleted" && !isLost) return true;
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
    if (decision === "restore") {
      const from = moved.after === "" ? {} : { from: moved.after };
      await control.restoreBranch({ repository: path, branch, commit: moved.before, ...from });
    }
    await save(
      store,
      name,
      known.filter((each) => each !== moved),
    );
    return moved;
  });
}
