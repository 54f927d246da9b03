import type { ExplanationView } from "../../api/tasks.ts";
import type { Decision, TaskEvent } from "../../engine/decision.ts";
import { theWayBack } from "../../engine/persons-turn.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import { createTurns } from "../../keyed.ts";
import { type ControlRepository, taskRef } from "../../ports/control-repository.ts";
import type { GivenBack, Merge } from "../../ports/records.ts";
import type { Store, StoredTask } from "../../ports/store.ts";
import type { Clock } from "../../ports/system.ts";
import { oneLine, shownTime } from "../../text.ts";
import type { Core } from "../core.ts";
import { type PlaceName, placeAt, placeOf } from "../landing-place.ts";
import { parentOf, targetOf } from "../project.ts";
import type { Submit } from "../submit.ts";
import type { Addition } from "../task-documents.ts";
import type { WorkspacesOf } from "../workspaces/project-workspaces.ts";
import type { LandEntriesPorts } from "./land.ts";
import { laterWork } from "./later-work.ts";
import { restoreMessage, restoreWork, takenBack } from "./stack.ts";

/** Open tasks that conflict with this task, in sentences. */
export async function expectedConflicts({ store, repositories }: Core, id: string): Promise<string[]> {
  const sentences: string[] = [];
  for (const { task, files } of repositories?.predictions.of(id) ?? []) {
    const other = await store.getTask(task);
    if (other === undefined || !other.isOpen) continue;
    const { project, number, summary } = other.task;
    const title = summary === "" ? "" : ` (${oneLine(summary)})`;
    sentences.push(`The task will conflict with ${project}#${number}${title} in ${files.join(", ")}.`);
  }
  return sentences;
}

/** Submodules whose commit is on no remote, in sentences with the command that helps. */
export async function warnOfModules(core: Core, task: Task): Promise<string[]> {
  return (await unpushedModules(core, task)).map(
    (name) =>
      `${name} points to a commit that no remote of its repository has. Push it: git -C ${task.workspace}/${name} push origin HEAD:refs/heads/${task.branch}`,
  );
}

/** The same after the merge, which releases the workspace. */
export function mergedModules(names: readonly string[]): string[] {
  return names.map(
    (name) =>
      `${name} points to a commit that no remote of its repository has, so other clones cannot check it out. It is salvaged with the workspace: signalbox salvage list`,
  );
}

/** Paths of submodules whose commit is on no remote. */
export async function unpushedModules({ store, repositories }: Core, task: Task): Promise<string[]> {
  const project = task.workspace === "" ? undefined : await store.getProject(task.project);
  if (project === undefined || repositories === undefined) return [];
  try {
    const own = await repositories.workspacesOf(project);
    const { control } = own;
    const base = await (await placeOf({ store, where: repositories.where() }, own, project, task)).lastSeen();
    const commit = await control.commitAt(taskRef(task.id));
    const from = base && commit && (await control.mergeBase(base, commit));
    if (from === undefined || commit === undefined || from === "" || commit === "") return [];
    const found = await control.unpushedModules({ folder: task.workspace, from, to: commit });
    return found.map(({ text }) => text);
  } catch (error) {
    if (error instanceof Fault) return [];
    throw error;
  }
}

/** A conflict that an agent was told to resolve, while the task is in the stay that was entered for that. */
export async function givenBackConflict({ store }: Core, task: Task): Promise<ExplanationView["blocked"]> {
  const merge = task.phase === "over" ? undefined : await store.merges.get(task.id);
  if (merge?.state !== "conflict" || merge.givenBack === undefined) return [];
  const { givenBack, target, files, entry } = merge;
  const isThere = entry === undefined ? task.status === givenBack.to : task.entry === entry + 1;
  if (!isThere) return [];
  const shown = files.slice(0, maxNamedFiles).join(", ");
  const where = files.length > maxNamedFiles ? `${shown} and ${files.length - maxNamedFiles} more files` : shown;
  const told =
    givenBack.run === "" ? "" : ` ${givenBack.run} was told to resolve the conflict and to hand the work over again.`;
  const reason = `The task's work conflicts with "${target}" in ${where}.${told}`;
  return [{ reason, fix: `See what the agent is doing: signalbox task peek ${task.id}` }];
}

const maxNamedFiles = 5;

/** The merge in progress in a sentence: who asked, since when, and how far it is. Undefined if there is none. */
export async function mergeUnderWay({ store, repositories }: Core, task: Task): Promise<string | undefined> {
  const merge = task.phase === "waiting" ? await store.merges.get(task.id) : undefined;
  if (merge === undefined || merge.endedAt !== undefined || (merge.entry ?? task.entry) !== task.entry)
    return undefined;
  if (merge.state !== "lined-up" && merge.state !== "waits") return undefined;
  const who = merge.by === "human" ? "A person" : merge.by;
  const what = merge.only === undefined ? "its work" : merge.only.slice(0, 10);
  const stage = merge.state === "waits" ? "it waits" : (repositories?.merging.stageOf(task.id) ?? "it continues soon");
  // A workflow's own merge is stopped by moving or cancelling its task.
  const stop = merge.to === "" ? "" : ` To stop the merge: signalbox task merge ${task.id} --cancel`;
  return `The task is in "${task.status}" and is being merged. ${who} asked at ${shownTime(merge.at)} to merge ${what} into "${merge.target}": ${stage}.${stop}`;
}

/** Which of the task's work its last merge does not contain; checked now, not recorded. */
export async function partlyMerged(core: Core, task: Task): Promise<ExplanationView["blocked"]> {
  const { store, repositories } = core;
  const known = await store.merges.get(task.id);
  if (known?.onRemote === true && known.endedAt !== undefined) return [{ reason: known.reason, fix: "" }];
  const merge = task.phase === "over" ? undefined : known;
  if (repositories === undefined || merge?.state !== "merged" || merge.entry !== task.entry) return [];
  // After a workflow's merge, the task is held with this reason or has followed its rules.
  if (merge.to === "") return [];
  const reason = await laterWork(repositories, merge, task);
  return reason === "" ? [] : [{ reason, fix: "" }];
}

/** The next step of a task's merge that needs no request. */
export async function nextOfMerge(
  { store, repositories }: Core,
  { task }: StoredTask,
): Promise<ExplanationView["next"]> {
  const merge = task.phase === "over" ? undefined : await store.merges.get(task.id);
  if (merge?.state === "waits")
    return [{ what: `Merge into "${merge.target}" as soon as nothing blocks it`, at: null }];
  if (merge?.state !== "lined-up") return [];
  const before = repositories?.merging.before(task.id) ?? 0;
  const others = before === 0 ? "" : ` (after ${before} others)`;
  return [{ what: `Merge into "${merge.target}"${others}`, at: null }];
}

/** For an ended task: that the target no longer contains its work, if that is known, and how to restore it. */
export async function lostMerge(core: Core, { task }: StoredTask): Promise<ExplanationView["blocked"]> {
  const merge = task.phase === "over" ? await core.store.merges.get(task.id) : undefined;
  if (merge === undefined || (merge.state !== "merged" && merge.state !== "undone") || merge.commit === "") return [];
  try {
    const reason = await howLost(core, task, merge);
    const fix = `To bring its work back in a new task: signalbox task create --from ${task.id}`;
    return reason === undefined ? [] : [{ reason, fix }];
  } catch (error) {
    // Commits that were pruned or cannot be read now: unknown, so nothing is reported.
    if (error instanceof Fault) return [];
    throw error;
  }
}

async function howLost(core: Core, task: Task, merge: Merge): Promise<string | undefined> {
  const { repositories, store, clock } = core;
  const project = await store.getProject(task.project);
  if (repositories === undefined || project === undefined) return undefined;
  const own = await repositories.workspacesOf(project);
  const { control } = own;
  const { target, commit, after, parent } = merge;
  if (parent === undefined) await control.syncFrom({ from: project.path, name: "user", only: [target] });
  const tip = await placeAt({ store, where: repositories.where() }, own, project, merge).lastSeen();
  if (tip === undefined) return undefined;
  const isThere = (await control.isAncestor(commit, tip)) || (after !== "" && (await control.isAncestor(after, tip)));
  if (!isThere) return `The task was merged, but "${target}" no longer contains its work: the branch was moved back.`;
  const author = await own.git.identityOf(project.path);
  const how = { message: restoreMessage(task, target), author, date: clock.now() };
  const lost = await takenBack({ control, store }, merge, commit, tip, how);
  if ((await restoreWork(control, lost, tip, how)) === undefined) return undefined;
  return `The task's merge into "${target}" was undone.`;
}

export interface GiveBackPorts extends LandEntriesPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly submit: Submit;
  workflowOf(task: Task): Promise<Workflow>;
}

/** A conflict that an agent has to resolve. */
export interface Clash {
  /** The branch that the task's branch conflicts with. */
  readonly branch: string;
  readonly files: readonly string[];
  /** Git's message; may be empty. */
  readonly text: string;
}

/** The message to the agent; the details are in the section. */
export const tellConflict =
  "Your branch conflicts with its target branch: read ## Feedback in {task_file}, the newest comes last. Merge that branch into yours, resolve the conflicts, then hand the work over again.";

/**
 * Prepares the workspace for resolving a merge conflict. If a person asked and there is one way back to an agent, moves the
 * task there with the feedback. Undefined if the task stays.
 */
export async function giveBack(ports: GiveBackPorts, merge: Merge): Promise<GivenBack | undefined> {
  const stored = await ports.store.getTask(merge.task);
  if (stored === undefined) return undefined;
  const { task } = stored;
  const clash: Clash = { branch: merge.target, files: merge.files, text: merge.reason.split("\n").slice(1).join("\n") };
  const command = await prepareMerge(ports, task, merge);
  if (merge.by !== "human" || merge.givesBack !== true) return undefined;
  const to = theWayBack(await ports.workflowOf(task), task);
  if (typeof to !== "string") return undefined;
  const word = { tell: tellConflict, entry: task.entry };
  const request = { kind: "move", to, actor: { role: "human" }, word } as const;
  const { decision } = await ports.submit(task.id, request, feedbackOn(clash, command, ports.clock.now()));
  return decision.kind === "moved" ? { to, ...learningIn(decision) } : undefined;
}

/** Makes a branch available in the task's workspace, and returns the command that merges it there. */
export async function prepareMerge(ports: LandEntriesPorts, task: Task, into: PlaceName): Promise<string> {
  const project = await ports.store.getProject(task.project);
  if (project === undefined || task.workspace === "") return `git merge ${into.target}`;
  const own = await ports.workspacesOf(project);
  return placeAt({ store: ports.store, where: ports.where() }, own, project, into).bringTo(task);
}

/** Written by the engine, not by a person: text from conflicting files must not count as a person's at a gate. */
export function feedbackOn({ branch, files, text }: Clash, command: string, at: number): Addition {
  const shown = files.slice(0, maxFiles).map((file) => `- ${file}`);
  const more = files.length > maxFiles ? [`- … and ${files.length - maxFiles} more`] : [];
  const said = text.trim() === "" ? [] : [`Git reports:\n\n${text.trim().replace(/^/gm, "    ")}`];
  return {
    section: "Feedback",
    by: "engine",
    at,
    text: [
      `This branch conflicts with "${branch}" in:`,
      [...shown, ...more].join("\n"),
      `In the workspace, run: ${command}`,
      "Resolve the conflicts so that both intentions survive, run the tests, and commit. Then hand the work over again.",
      ...said,
    ].join("\n\n"),
  };
}

const maxFiles = 50;

/** Which run is told about a request's text, and how. */
export function learningIn(decision: Decision): Pick<GivenBack, "run" | "how"> {
  const effects = decision.kind === "moved" || decision.kind === "stayed" ? decision.effects : [];
  const told = effects.findLast(({ agent }) => agent !== undefined);
  if (told?.agent === undefined) return { run: "", how: "" };
  return { run: told.agent.run, how: told.action === "spawn_agent" ? "start" : "message" };
}

interface PredictPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly workspacesOf: WorkspacesOf;
  onError(error: unknown): void;
}

export interface Predictions {
  /**
   * A task's branch was collected at this commit, with this many commits that the default branch does not have. Its
   * conflicts are computed in the background.
   */
  collected(task: Task, commit: string, commits: number): void;
  /** Open tasks of the project that conflict with this one, with the files. */
  of(task: string): readonly Predicted[];
  /** Resolves when every started computation has ended. */
  stop(): Promise<void>;
}

interface Predicted {
  readonly task: string;
  readonly files: readonly string[];
}

/** Each costs one merge in memory, a few milliseconds. */
const maxOthers = 100;
/** Commits that are merged or replaced within this time need no prediction. */
const predictPause = 2_000;

/** Predicts conflicts between open tasks, long before the second of them is merged. */
export function createPredictions({ store, clock, workspacesOf, onError }: PredictPorts): Predictions {
  const heads = new Map<string, string>();
  /** Tasks whose branch has no commit that the default branch lacks. */
  const workless = new Set<string>();
  const found = new Map<string, Map<string, readonly string[]>>();
  const inTurn = createTurns();
  const under = new Set<Promise<void>>();
  /** Cancels the pending prediction of a task. */
  const timers = new Map<string, () => void>();
  let stopped = false;
  const track = (work: Promise<void>) => {
    const safe = work.catch(onError);
    under.add(safe);
    safe.finally(() => under.delete(safe));
  };

  const of = (task: string) => found.get(task) ?? new Map<string, readonly string[]>();
  const forget = (task: string) => {
    heads.delete(task);
    workless.delete(task);
    for (const other of of(task).keys()) found.get(other)?.delete(task);
    found.delete(task);
  };
  const note = async (task: Task, other: string, files: readonly string[]) => {
    const isNew = of(task.id).get(other)?.join("\n") !== files.join("\n");
    // The event first, so that every conflict that is shown is in the history.
    if (isNew && files.length > 0) {
      const event: TaskEvent = { type: "merge.predicted", by: "engine", data: { other, files }, set: {} };
      await store.addEvents(task.id, [event], clock.now());
    }
    for (const [one, two] of [
      [task.id, other],
      [other, task.id],
    ] as const) {
      if (files.length === 0) found.get(one)?.delete(two);
      else found.set(one, of(one).set(two, files));
    }
  };

  const predictLater = (task: Task, commit: string) => {
    timers.get(task.id)?.();
    const cancel = clock.after(predictPause, () => track(inTurn(task.project, () => predict(task, commit))));
    timers.set(task.id, cancel);
  };

  async function predict(task: Task, commit: string): Promise<void> {
    if (stopped || heads.get(task.id) !== commit) return;
    timers.delete(task.id);
    const project = await store.getProject(task.project);
    const isOpen = (await store.getTask(task.id))?.isOpen ?? false;
    if (project === undefined || !isOpen) return;
    const { control } = await workspacesOf(project);
    const parent = parentOf(task);
    const base = await control.commitAt(
      parent === "" ? `refs/remotes/user/${targetOf(project, task)}` : taskRef(parent),
    );
    const all = await store.listTasks({ project: task.project, isOpen: true }, { limit: maxOthers });
    const asked: { readonly id: string; readonly commit: string }[] = [];
    for (const { task: other } of all) {
      // Its own pending prediction will compare it with this task.
      if (timers.has(other.id)) continue;
      if (other.id === task.id || (workless.has(other.id) && !of(task.id).has(other.id))) continue;
      const theirs = heads.get(other.id) ?? (await control.commitAt(taskRef(other.id)));
      if (theirs === undefined || theirs === commit) continue;
      // Not collected since the daemon started: a commit of the default branch is no work of the task.
      if (!heads.has(other.id) && base !== undefined && (await control.isAncestor(theirs, base))) continue;
      asked.push({ id: other.id, commit: theirs });
    }
    if (stopped || heads.get(task.id) !== commit) return;
    const conflicts = await control.predictConflicts(
      commit,
      asked.map((other) => other.commit),
    );
    for (const [index, other] of asked.entries()) {
      const files = conflicts[index]?.files.map(({ path }) => path.text) ?? [];
      await note(task, other.id, await betweenThem(control, base, commit, other.commit, files));
    }
    const open = new Set(all.map(({ task: each }) => each.id));
    for (const other of of(task.id).keys()) if (!open.has(other)) forget(other);
  }

  return {
    collected(task, commit, commits) {
      if (stopped || heads.get(task.id) === commit) return;
      heads.set(task.id, commit);
      // Most tasks have no commit for most of their lives, and cannot conflict.
      if (commits === 0) workless.add(task.id);
      else workless.delete(task.id);
      if (commits > 0 || of(task.id).size > 0) predictLater(task, commit);
    },
    of: (task) => [...of(task)].map(([other, files]) => ({ task: other, files })),
    async stop() {
      stopped = true;
      for (const cancel of timers.values()) cancel();
      await Promise.all(under);
    },
  };
}

/**
 * The conflicts of two tasks, without files that only one of them has changed: such a file differs because the other task
 * began at a newer commit of the target.
 */
async function betweenThem(
  control: ControlRepository,
  target: string | undefined,
  one: string,
  two: string,
  files: readonly string[],
): Promise<readonly string[]> {
  if (files.length === 0 || target === undefined) return files;
  const [from, since] = await Promise.all([one, two].map((commit) => control.mergeBase(target, commit)));
  if (from === undefined || since === undefined || from === since) return files;
  const namesOf = async (before: string, after: string) =>
    new Set((await control.changedFiles(before, after)).flatMap((each) => [each.path.text, each.from?.text]));
  const ofTarget = await namesOf(from, since);
  const [ofOne, ofTwo] = [await namesOf(from, one), await namesOf(since, two)];
  return files.filter((file) => !ofTarget.has(file) || (ofOne.has(file) && ofTwo.has(file)));
}
