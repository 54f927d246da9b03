import type { Effect } from "../../engine/decision.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { Turns } from "../../keyed.ts";
import { taskRef } from "../../ports/control-repository.ts";
import type { Merge } from "../../ports/records.ts";
import type { Project } from "../../ports/store.ts";
import type { Clock } from "../../ports/system.ts";
import { shellWord } from "../../shell-quote.ts";
import { oneLine } from "../../text.ts";
import { beganByPerson } from "../deadlines.ts";
import { placeNameOf } from "../landing-place.ts";
import { listed, missingWork } from "../lost-work.ts";
import { partsOf } from "../parts.ts";
import type { Perform } from "../perform.ts";
import { parentOf, projectOf, remoteName } from "../project.ts";
import type { Protection } from "../protection.ts";
import { branchOfTask } from "../task-branch.ts";
import { mergeableWork, taskCommit } from "../task-work.ts";
import { identityOf, type ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import { prepareMerge } from "./conflicts.ts";
import { type LandEntriesPorts, messageOf } from "./land.ts";
import { noteMerge } from "./merge-history.ts";
import { newMerge } from "./merge-record.ts";
import type { Merging } from "./merging.ts";
import { obstacle } from "./stack.ts";

interface MergeEffectPorts extends LandEntriesPorts {
  readonly clock: Clock;
  readonly inTurn: Turns;
  readonly signal: AbortSignal;
  readonly merging: Merging;
  readonly protection: Pick<Protection, "mustBeConfirmed">;
  workflowOf(task: Task): Promise<Workflow>;
}

/** Merges a task's work into the branch that it goes into, or the work of its parts into its own branch. */
export function mergeEffect(ports: MergeEffectPorts): Perform {
  return async (effect, context) => {
    const { from = "task", into = "default" } = effect.params;
    if (from === "children" && into === "task") return mergeParts(ports, context.task);
    if (from !== "task" || into === "task")
      throw new Fault("effect.unavailable", `Merging from ${from} into ${into} is not available in this version yet.`);
    if (into === "parent" && parentOf(context.task) === "")
      throw new Fault("merge.no-parent", "The task is no part of another task's plan, so it has no parent's branch.", {
        hint: "Only tasks that a fan-out has made are merged into their parent.",
      });
    return mergeWork(ports, effect, context.task);
  };
}

/**
 * Merges the task's work into its parent's branch, or into the default branch. Done when the work was seen there. Work that
 * changes what decides about work ends with `protected` until a person has confirmed it.
 */
async function mergeWork(ports: MergeEffectPorts, { params }: Effect, task: Task): Promise<void> {
  const { store, merging, workspacesOf, protection } = ports;
  const { strategy, uncommitted } = params;
  const project = await projectOf(store, task.project);
  const place = await placeNameOf(store, project, task);
  const leaves = uncommitted === "leave";
  const own = await workspacesOf(project);
  const known = await store.merges.get(task.id);
  // A merge that a crash interrupted goes on with the commit that was checked before; a refused one had none.
  const isInterrupted = known?.endedAt === undefined && known?.entry === task.entry;
  const checked = isInterrupted && known.only !== "" ? known.only : undefined;
  const work = await mergeableWork(store, own, project, task, leaves);
  const commit = checked ?? (work.kind === "ready" ? work.commit : undefined);
  if (commit !== undefined) await protection.mustBeConfirmed(task, commit);
  const merge = await merging.askAndWait(task, {
    ...place,
    strategy: strategy === "ff" ? "ff" : "merge",
    to: "",
    // A person may have requested the state in which the workflow merges.
    by: (await beganByPerson(store, task.id)) ? "human" : "engine",
    ...(leaves ? { leaves: true } : {}),
    // Only the commit that was checked.
    only: commit ?? "",
  });
  if (merge.state === "refused" && work.kind === "ready") {
    const now = await mergeableWork(store, own, project, task, leaves);
    const reason = "The branch has moved since its work was checked.";
    if (now.kind === "ready" && now.commit !== commit) throw new Fault("merge.moved", reason, { retry: "later" });
  }
  if (merge.state !== "merged") throw new Fault(wordOf(merge), await reasonOf(ports, task, merge));
  // No one has asked to merge the later commits: the workflow must not end the task as if they were merged.
  if (merge.reason !== "") throw new Fault("merge.later", merge.reason);
}

/** A part's agent mends what does not fit together, so it is told how to get the parent's branch. */
async function reasonOf(ports: MergeEffectPorts, task: Task, merge: Merge): Promise<string> {
  const isMendable = merge.state === "conflict" || merge.state === "tests";
  if (merge.parent === undefined || !isMendable) return merge.reason;
  const command = await prepareMerge(ports, task, merge);
  await ports.store.merges.put({ ...merge, command });
  return `${merge.reason}\nIn the workspace, run: ${command}`;
}

/** The workflow's word for the result. */
function wordOf({ state, isOutside }: Merge): string {
  if (state === "conflict" || state === "tests") return state;
  return isOutside === true ? "merge.outside" : "merge.refused";
}

interface Left {
  readonly task: Task;
  readonly commit: string;
}

/**
 * Proves that the task's branch contains the work of every part that is done, and merges what is missing. What conflicts with
 * the branch is left out, and ends the merge with `conflict`.
 */
async function mergeParts(ports: MergeEffectPorts, task: Task): Promise<void> {
  const { store, protection } = ports;
  const project = await projectOf(store, task.project);
  const own = await ports.workspacesOf(project);
  const head = await taskCommit(own, project, task);
  const done = await doneParts(ports, own, task);
  const left: Left[] = [];
  for (const part of done) {
    const isIn = head !== undefined && (await own.control.isAncestor(part.commit, head));
    if (!isIn) left.push(part);
    else await mustBeWhole(own, task, part, done, head);
  }
  const known = await store.merges.get(task.id);
  if (left.length === 0) {
    // An earlier conflict is resolved.
    if (known?.parent === task.id) await store.merges.remove(task.id);
    return;
  }
  if (head === undefined)
    throw new Fault(
      "merge.no-target",
      `The branch "${task.branch}" has no commit that its parts could be merged onto.`,
      {
        hint: `See what has happened: signalbox task history ${task.id}`,
      },
    );
  const author = await identityOf(own.git, project.path);
  const date = ports.clock.now();
  const answers = await own.control.mergeAll({
    onto: head,
    author,
    entries: left.map((part) => ({ branch: part.commit, strategy: "merge", message: messageOf(part.task), date })),
  });
  let top = head;
  for (const answer of answers) if ("commit" in answer) top = answer.commit;
  if (top !== head) {
    await protection.mustBeConfirmed(task, top);
    await moveOwnBranch(ports, own, task, head, top);
  }
  for (const [index, answer] of answers.entries()) {
    const part = left[index];
    if (part !== undefined && answer.kind === "conflict") throw await clash(ports, own, project, task, part, answer);
  }
}

/** The parts that are done, and have commits. */
async function doneParts(
  ports: MergeEffectPorts,
  { control }: ProjectWorkspaces,
  task: Task,
): Promise<readonly Left[]> {
  const done: Left[] = [];
  for (const part of await partsOf(ports, task)) {
    if (part.outcome !== "done") continue;
    const { id } = part.task;
    const commit = (await control.commitAt(taskRef(id))) ?? (await ports.store.merges.get(id))?.commit ?? "";
    if (commit !== "") done.push({ task: part.task, commit });
  }
  return done;
}

/**
 * Throws if the branch contains a part's commits without their changes, as after a revert or `git merge -s ours`: the task would
 * be completed without this work. Another part that was built on it may have undone them.
 */
async function mustBeWhole(
  { control }: ProjectWorkspaces,
  { branch, workspace }: Task,
  part: Left,
  done: readonly Left[],
  head: string,
): Promise<void> {
  const lost = await missingWork(control, part.commit, head);
  if (lost === undefined) return;
  for (const { commit } of done) {
    if (commit === part.commit || !(await control.isAncestor(part.commit, commit))) continue;
    const undone = new Set((await missingWork(control, part.commit, commit))?.files);
    if (lost.files.every((file) => undone.has(file))) return;
  }
  const { project, number, part: planned } = part.task;
  const name = `the part ${project}#${number} (${oneLine(planned?.title ?? part.task.summary)})`;
  const begin = lost.begin.slice(0, 10);
  const commit = lost.commit.slice(0, 10);
  const git = `git -C ${shellWord(workspace === "" ? control.folder : workspace)}`;
  const files = lost.files.slice(0, maxRestored).map(shellWord).join(" ");
  const restore = `${git} restore --source=${commit} --staged --worktree -- ${files}`;
  throw new Fault(
    "dropped",
    `"${branch}" has the commits of ${name}, but not their changes: ${listed(lost.files)}. A merge has dropped them, or they were reverted.`,
    {
      hint: [
        `See them: ${git} diff ${begin} ${commit}`,
        ...(workspace === "" ? [] : [`To bring them back: ${restore}`, `Then: ${git} commit -m "Bring back the part"`]),
      ].join("\n"),
    },
  );
}

const maxRestored = 50;

/** Moves the task's branch forward: with its files in the task's workspace, or else in the control repository only. */
async function moveOwnBranch(
  { inTurn, signal }: MergeEffectPorts,
  { control, kind }: ProjectWorkspaces,
  task: Task,
  head: string,
  commit: string,
): Promise<void> {
  const { workspace: folder, branch, id } = task;
  if (folder === "") return inTurn(branchOfTask(id), () => control.moveRef(taskRef(id), commit, head));
  if (kind.kind === "clone") await kind.forwardBranch(folder, commit);
  else {
    const result = await control.publish({ repository: folder, branch, commit, expected: head, signal });
    if (result.kind === "waits") throw new Fault("merge.in-the-way", result.text, { retry: "later" });
    if (result.kind === "moved") throw new Fault("merge.moved", `"${branch}" has moved just now.`, { retry: "later" });
  }
  await control.collect({ folder, branch, task: id });
}

/** The fault of a part that conflicts. The task's agent is given its branch. */
async function clash(
  ports: MergeEffectPorts,
  { control, kind }: ProjectWorkspaces,
  project: Project,
  task: Task,
  part: Left,
  answer: Parameters<typeof obstacle>[1],
): Promise<Fault> {
  const outcome = obstacle({ target: task.branch }, answer);
  const { reason, files } = outcome.kind === "conflict" ? outcome : { reason: "", files: [] };
  const title = `The work of ${part.task.project}#${part.task.number} (${part.task.part?.title ?? ""})`;
  const isClone = kind.kind === "clone" && task.workspace !== "";
  if (isClone) await kind.learnBranch(task.workspace, part.task.branch, part.commit);
  else await control.giveCommit({ repository: project.path, commit: part.commit });
  const command = `git merge ${isClone ? `${remoteName}/${part.task.branch}` : part.commit}`;
  const text = `${reason.replace(/^The task's work/, title)}\nIn the workspace, run: ${command}`;
  const wanted = { target: task.branch, parent: task.id, strategy: "merge", to: "", by: "engine" } as const;
  const merge: Merge = { ...newMerge(task, wanted, ports.clock.now()), state: "conflict", reason: text, files };
  const ended = { ...merge, command, commit: part.commit, endedAt: ports.clock.now() };
  await noteMerge(ports, ended, "merge.failed", { word: "conflict", reason: text, files });
  return new Fault("conflict", text);
}
