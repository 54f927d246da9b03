import { isUnsettled } from "../../engine/findings.ts";
import type { Facts, Unreadable } from "../../engine/request.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { ControlRepository } from "../../ports/control-repository.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { Clock } from "../../ports/system.ts";
import type { Inspection, MendedHead, Operation, WorkspaceKind } from "../../ports/workspaces.ts";
import { type LandingPlace, placeOf, type Where } from "../landing-place.ts";
import { lostWork } from "../lost-work.ts";
import { isOtherBranch, keptWork } from "../task-work.ts";
import { isReleased } from "./guard-workspaces.ts";
import type { ProjectWorkspaces, WorkspacesOf } from "./project-workspaces.ts";
import { noFiles, readTaskFiles, type TaskFiles } from "./task-files.ts";

/** The present state of a task's workspace. */
export interface Outside extends TaskFiles {
  /** Undefined if the task has no workspace. */
  readonly facts: WorkspaceFacts | undefined;
}

/** What a decision depends on, besides the workspace itself. */
export interface Asked {
  /** The target branch, which people move without notice, so it is fetched first. */
  readonly main?: boolean;
  /** The files that have changed since findings of reviews were closed. */
  readonly changes?: boolean;
  /** The commits since the task entered its state. */
  readonly newCommits?: boolean;
}

export type OutsideOf = (task: Task, asked?: Asked) => Promise<Outside>;

/** Called with the branch that is checked out in a task's workspace, if it is not the task's. */
export type FollowBranch = (task: Task, branch: string) => void;

export const nothingOutside: Outside = { ...noFiles, facts: undefined };

interface OutsidePorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly workspacesOf: WorkspacesOf;
  /** Called when a task's branch was collected, with the number of its own commits. */
  collected(task: Task, commit: string, commits: number): void;
  readonly follow: FollowBranch;
  /** Called when task files were deleted, so that they are written again. */
  filesGone(task: Task): void;
  /** Which branch decides whether work is merged: the user's or the remote's. */
  where(): Where;
}

export function createOutside(ports: OutsidePorts): OutsideOf {
  const { store, clock, workspacesOf, collected, follow, filesGone, where } = ports;
  const mended = ({ id, workspace }: Task, head: MendedHead) =>
    store.addEvents(
      id,
      [{ type: "workspace.mended", by: "engine", data: { workspace, ...head }, set: {} }],
      clock.now(),
    );
  return async (task, { main: asksForMain = false, changes: asksForChanges = false, newCommits = false } = {}) => {
    // Without a workspace, only the facts of the task's branch are known.
    if (task.workspace === "" && (!asksForMain || task.runCount === 0)) return nothingOutside;
    const project = await store.getProject(task.project);
    if (project === undefined) return nothingOutside;
    const workspaces = await workspacesOf(project);
    if (asksForMain) await workspaces.control.syncFrom({ from: project.path, name: "user" });
    const place = await placeOf({ store, where: where() }, workspaces, project, task);
    const found = await workspaceFacts(workspaces, project, task, place, clock.now(), (head) => mended(task, head));
    const counted = newCommits ? await withNewCommits(workspaces.control, task, found) : found;
    const seen = await withMerged(store, workspaces, task, place, counted);
    if (task.workspace === "") return { ...noFiles, facts: seen };
    const branch = await workspaces.kind.currentBranch(task.workspace);
    // Nothing can be read from a missing folder; earlier text is in the store.
    const read = seen.numbers.workspace === 1 ? await readTaskFiles(store, workspaces.kind, task) : noFiles;
    // Meanwhile the folder may have been released, and the files may be another task's.
    const isStillOurs = (await store.workspaces.list({ task: task.id })).some(({ path }) => path === task.workspace);
    if (!isStillOurs) return { ...noFiles, facts: nowhere };
    const changes = asksForChanges ? await changedSince(workspaces.control, task, seen.head) : {};
    const facts = await asItIsNow(workspaces.kind, task, { ...seen, ...changes });
    if (facts.head !== "") collected(task, facts.head, facts.numbers.commits ?? 0);
    if (branch !== undefined && branch !== task.branch) follow(task, branch);
    if (read.gone.length > 0) filesGone(task);
    return { ...read, unreadable: facts.unreadable ?? read.unreadable, facts };
  };
}

/** Gathering facts may take long. Work counts as merged only if the branch has not moved since, so this is checked last. */
async function asItIsNow(
  kind: Pick<WorkspaceKind, "branchAt">,
  { workspace, branch }: Task,
  facts: WorkspaceFacts,
): Promise<WorkspaceFacts> {
  if (facts.numbers.merged !== 1 || facts.numbers.workspace !== 1) return facts;
  const tip = await kind.branchAt(workspace, branch).catch(() => undefined);
  if (tip === undefined || tip === facts.head) return facts;
  const { commits = 0 } = facts.numbers;
  return { ...facts, numbers: { ...facts.numbers, merged: 0, commits: Math.max(1, commits) } };
}

/**
 * A forge may have squashed the work: then the branch contains it, but none of the task's commits. Work whose commits are in the
 * branch without their changes is not merged; a forge may call it merged nevertheless.
 */
async function withMerged(
  store: Store,
  { control }: ProjectWorkspaces,
  task: Task,
  place: LandingPlace,
  seen: WorkspaceFacts,
): Promise<WorkspaceFacts> {
  const isOnForge = (await store.pullRequests.get(task.id))?.state === "merged";
  if (!isOnForge && seen.numbers.merged !== 1) return seen;
  const tip = seen.head === "" ? undefined : await place.lastSeen();
  const lost = tip && (await lostWork({ store, control }, task, place.branch, seen.head, tip));
  return { ...seen, numbers: { ...seen.numbers, merged: lost ? 0 : 1 } };
}

/** Counts the commits since the task entered its state. Without a commit at that time, all of its own are new. */
async function withNewCommits(
  control: ControlRepository,
  { spent }: Task,
  facts: WorkspaceFacts,
): Promise<WorkspaceFacts> {
  const { head, numbers } = facts;
  const count =
    spent.head === "" ? (numbers.commits ?? 0) : head === "" ? 0 : await control.countCommits(spent.head, head);
  return { ...facts, numbers: { ...numbers, new_commits: count } };
}

/** The files that have changed since findings were closed. A commit for which git cannot tell is missing. */
async function changedSince(
  control: ControlRepository,
  { ledger }: Task,
  head: string,
): Promise<Pick<Facts, "changedSince">> {
  const closed = (ledger?.findings ?? []).filter(({ state, commit }) => !isUnsettled(state) && commit !== "");
  const changes: Record<string, readonly string[]> = {};
  for (const commit of head === "" ? [] : new Set(closed.map((finding) => finding.commit))) {
    const changed = commit === head ? [] : await control.changedFiles(commit, head).catch(() => undefined);
    if (changed === undefined) continue;
    changes[commit] = changed.flatMap(({ path, from = path }) => [path.text, from.text]);
  }
  return { changedSince: changes };
}

/** Git's facts about a task's work, from its workspace or, if that is missing, as last collected. */
export type WorkspaceFacts = Pick<Facts, "head" | "taskFileTracked" | "taskFile" | "unreadable" | "changedSince"> & {
  readonly numbers: Facts["numbers"];
};

const nowhere: WorkspaceFacts = { head: "", taskFileTracked: false, numbers: { workspace: 0 } };

/**
 * Collects the branch first, so that the commit that is decided about stays in the control repository whatever the agent does
 * next.
 */
async function workspaceFacts(
  workspaces: ProjectWorkspaces,
  project: Project,
  task: Task,
  place: LandingPlace,
  now: number,
  mended: (head: MendedHead) => Promise<void>,
): Promise<WorkspaceFacts> {
  const { kind } = workspaces;
  const collected =
    task.workspace === "" ? undefined : await collectBranch(workspaces, project, task, place, now, mended);
  if (collected === undefined) return keptFacts(workspaces, project, task, place);
  const { commit, dirty, unreadable } = collected;
  const known = commit === undefined ? {} : await numbersOf(workspaces, place, commit);
  const taskFile = await kind.taskFileName(task.workspace);
  return {
    head: commit ?? "",
    taskFileTracked: await kind.isTaskFileTracked(task.workspace, taskFile),
    taskFile,
    numbers: { workspace: 1, dirty: dirty ? 1 : 0, ...known },
    ...(unreadable === undefined ? {} : { unreadable }),
  };
}

/** The facts without a workspace: from the branch and the collected commits. */
async function keptFacts(
  workspaces: ProjectWorkspaces,
  project: Project,
  task: Task,
  place: LandingPlace,
): Promise<WorkspaceFacts> {
  const head = await keptWork(workspaces, project, task);
  if (head === undefined) return nowhere;
  const known = await numbersOf(workspaces, place, head);
  return { head, taskFileTracked: false, numbers: { workspace: 0, dirty: 0, ...known } };
}

async function numbersOf({ control }: ProjectWorkspaces, place: LandingPlace, commit: string) {
  const [start, base] = await Promise.all([place.start(), place.lastSeen()]);
  const commits = start === undefined ? 0 : await control.countCommits(start, commit);
  // Work without a commit that the base lacks is merged, unless the base was moved there without a merge.
  const isIn =
    base !== undefined && (start === base ? commits === 0 : (await control.countCommits(base, commit)) === 0);
  const isMerged = isIn && !(await place.isOnlyByMove(commit));
  return { commits, merged: isMerged ? 1 : 0 };
}

interface CollectedWork {
  /** Undefined if the task has no commit. */
  readonly commit: string | undefined;
  readonly dirty: boolean;
  readonly unreadable?: Unreadable | undefined;
}

/** An agent may rename its branch between the inspection and the collecting: then both are retried. */
async function collectBranch(
  own: ProjectWorkspaces,
  project: Project,
  task: Task,
  place: LandingPlace,
  now: number,
  mended: (head: MendedHead) => Promise<void>,
): Promise<CollectedWork | undefined> {
  const { control, kind } = own;
  const { workspace, id } = task;
  for (let tries = 1; ; tries++) {
    const found = await kind.inspect(workspace);
    if (found.kind === "broken" && tries < maxTries) {
      const head = await mend(own, project, task, now);
      if (head === undefined) return undefined;
      await mended(head);
      continue;
    }
    if (found.kind !== "there") return undefined;
    const { branch, head, dirty } = found;
    try {
      if (branch === undefined) return await collectDetached(own, project, task, found, place, now);
      const { commit } = await control.collect({ folder: workspace, branch, task: id, seenAt: head });
      return { commit, dirty };
    } catch (error) {
      if (isReleased(error)) return undefined;
      if (isOtherBranch(error) && branch !== undefined) {
        const other = { reason: error.message, fix: `${error.hint}. Then ask again.`, otherBranch: branch };
        return await collectDetached(own, project, task, found, place, now, other);
      }
      if (tries === maxTries || (await kind.currentBranch(workspace)) === branch) throw error;
    }
  }
}

const maxTries = 3;

/**
 * Mends a broken HEAD from what was collected, and salvages the folder: staged and changed files are now compared with
 * another commit, and a person may want to see them as they were.
 */
async function mend(
  own: ProjectWorkspaces,
  project: Project,
  task: Task,
  now: number,
): Promise<MendedHead | undefined> {
  const { control, kind, repository } = own;
  const { workspace: folder, branch, id } = task;
  try {
    const head = await kind.mendHead({ folder, branch, commit: await keptWork(own, project, task) });
    if (head !== undefined) await control.salvage({ folder, task: id, at: now, repository });
    return head;
  } catch (error) {
    // `explain` reports the flaw, and how the workspace is made again from the saved work.
    if (error instanceof Fault && error.retry === "never") return undefined;
    throw error;
  }
}

/**
 * If HEAD is detached, or on a branch that is not the task's (`other`), the task's work is that of its own branch. Commits that
 * only HEAD has are salvaged, and no evidence counts until they are on the task's branch: it may be about them.
 */
async function collectDetached(
  own: ProjectWorkspaces,
  project: Project,
  task: Task,
  { head, dirty, operation }: Extract<Inspection, { kind: "there" }>,
  place: LandingPlace,
  now: number,
  other?: Unreadable,
): Promise<CollectedWork> {
  const { control, kind, repository } = own;
  const { workspace: folder, branch, id } = task;
  const commit = await control.collect({ folder, branch, task: id }).then(
    (collected) => collected.commit,
    (error) => {
      // The branch may have been deleted there: then the last collected commit counts.
      if (isReleased(error) || !(error instanceof Fault)) throw error;
      return keptWork(own, project, task);
    },
  );
  const base = await place.lastSeen();
  let relation = await relationOf(control, commit, base, head);
  let trouble = "";
  if (relation === "unknown") {
    const saving = control.salvage({ folder, task: id, at: now, repository });
    trouble = await saving.then(() => "", troubleOf);
    relation = await relationOf(control, commit, base, head);
  }
  if (other !== undefined) return { commit, dirty, unreadable: { ...other, reason: `${other.reason}${trouble}` } };
  const gone = (await kind.branchAt(folder, branch)) === undefined ? commit : undefined;
  const { reason, fix } =
    operation === undefined ? onNoBranch(task, head, relation, gone) : unfinished(folder, operation);
  if (relation === "contained" && operation === undefined) return { commit, dirty };
  return { commit, dirty, unreadable: { reason: `${reason}${trouble}`, fix } };
}

/** A failed salvage is reported with the trouble, and does not fail the request. */
function troubleOf(error: unknown): string {
  if (!(error instanceof Fault)) throw error;
  return ` They could not be saved: ${error.message}`;
}

/** How HEAD is related to the task's branch and to its target. unknown: the control repository does not have HEAD. */
type Relation = "contained" | "ahead" | "diverged" | "unknown";

async function relationOf(
  control: ControlRepository,
  commit: string | undefined,
  base: string | undefined,
  head: string,
): Promise<Relation> {
  try {
    if (base !== undefined && (await control.isAncestor(head, base))) return "contained";
    if (commit === undefined) return "unknown";
    if (await control.isAncestor(head, commit)) return "contained";
    return (await control.isAncestor(commit, head)) ? "ahead" : "diverged";
  } catch (error) {
    if (error instanceof Fault) return "unknown";
    throw error;
  }
}

/** `gone`: the last commit of the task's branch, if it was deleted. */
function onNoBranch({ workspace, branch }: Task, head: string, relation: Relation, gone?: string): Unreadable {
  return {
    reason: `${workspace} is on no branch (detached HEAD), so its newest commits are not on "${branch}".`,
    fix:
      relation === "diverged"
        ? `Move them there: git switch ${gone === undefined ? branch : `-C ${branch} ${gone}`} && git merge ${head}. Then ask again.`
        : `Move them there: git switch -C ${branch}. Then ask again.`,
  };
}

function unfinished(folder: string, operation: Operation): Unreadable {
  const end =
    operation === "bisect"
      ? "End it there: git bisect reset."
      : `End it there: git ${operation} --continue, or git ${operation} --abort.`;
  return { reason: `A ${operation} is under way in ${folder}, which is on no branch.`, fix: `${end} Then ask again.` };
}
