import { apply, type Effect, type TaskEvent } from "../../src/engine/decision.ts";
import { ownsSection } from "../../src/engine/gate.ts";
import type { Task } from "../../src/engine/task.ts";
import type { Workflow } from "../../src/engine/workflow.ts";
import { taskRef } from "../../src/ports/control-repository.ts";
import { isCheckout, type Merge } from "../../src/ports/records.ts";
import type { SavedDecision, StoredArtifact, StoredDocument } from "../../src/ports/store.ts";
import type { Tickets } from "../../src/ports/tickets.ts";
import { checkChildrenEffect, checkJoined } from "./families.ts";
import { changedPaths } from "./memory-repositories.ts";
import { checkStageEffect } from "./stage-promises.ts";
import { authorOf, isSame, mainBranch, type Program, type World } from "./world.ts";

/** The knowledge about a task from its history alone. */
export interface Known {
  task: Task;
  revision: number;
  authors: StoredDocument["authors"];
  /** Verdicts that have opened a gate for the task. */
  readonly used: Set<string>;
  /** The commits that were judged. A merge that was requested for an earlier one is still made. */
  readonly judged: Set<string>;
}

/** No transition is lost or doubled: history replays to the task, along existing ways, one revision after the other. */
export function checkDecision(world: World, known: Known, saved: SavedDecision): void {
  const { task, events, revision } = saved;
  const workflow = world.workflowOf(task);
  if (revision !== known.revision)
    world.violate(
      "no transition lost or doubled",
      `${task.id} was at ${known.revision}, but ${revision} was replaced.`,
    );
  const replayed = events.reduce(apply, known.task);
  if (!isSame(replayed, task))
    world.violate("no transition lost or doubled", `The history of ${task.id} gives another task.`);
  if (workflow.states[known.task.status]?.terminal === true && known.task.status !== task.status)
    world.violate("no transition lost or doubled", `${task.id} left "${known.task.status}", which is terminal.`);
  const moves = events.filter(({ type }) => type === "task.moved");
  for (const move of moves) checkMove(world, task, move, saved.artifacts ?? []);
  // A person who migrates a task may put it into another state, where a new stay begins.
  const migrated = events.filter(({ type, set }) => type === "task.migrated" && set.entry !== undefined);
  if (task.entry !== known.task.entry + moves.length + migrated.length)
    world.violate("no transition lost or doubled", `The stays of ${task.id} are counted wrong.`);
  for (const artifact of saved.artifacts ?? [])
    checkArtifact(world, workflow, artifact, saved.document?.authors ?? known.authors, moves, known.used);
}

/** A way that has a gate is taken with evidence for that gate, and with no other. */
function checkMove(world: World, about: Task, { data }: TaskEvent, artifacts: readonly StoredArtifact[]): void {
  const task = about.id;
  const ways = world.workflowOf(about).ways.filter(({ from, to }) => from === data.from && to === data.to);
  const name = `${String(data.from)} → ${String(data.to)}`;
  if (ways.length === 0) world.violate("no transition lost or doubled", `${task} went ${name}, where there is no way.`);
  const isOpen = ways.some(({ gates, implied }) => {
    if (gates.length === 0 || implied === "escalation") return true;
    return gates.every(({ section, verdict }) =>
      artifacts.some(
        (each) => each.section === section && (verdict === undefined || new RegExp(`\\b${verdict}\\b`).test(each.text)),
      ),
    );
  });
  if (!isOpen) world.violate("no gate is passed without its artifact", `${task} went ${name} with no evidence.`);
}

/** No artifact counts if another role wrote it, or if it is for another commit. */
function checkArtifact(
  world: World,
  workflow: Workflow,
  artifact: StoredArtifact,
  authors: StoredDocument["authors"],
  moves: readonly TaskEvent[],
  used: Set<string>,
): void {
  const { section, role, task, commit, text } = artifact;
  const author = authorOf(text);
  const promise = "no artifact from the wrong author or for another commit";
  if (author === undefined) return;
  if (author.task !== task) world.violate(promise, `## ${section} of ${task} was written for ${author.task}.`);
  if (author.role !== role) world.violate(promise, `## ${section} of ${task} is by ${author.role}, not ${role}.`);
  // A document that a run hands over is no section.
  if (artifact.document !== undefined) return;
  if (!ownsSection(workflow, author.role, section))
    world.violate(promise, `## ${section} of ${task} is by ${author.role}, who does not own it.`);
  const verdicts = moves.flatMap(({ data }) =>
    workflow.ways
      .filter(({ from, to }) => from === data.from && to === data.to)
      .flatMap(({ gates }) => gates.flatMap((gate) => (gate.section === section ? [gate.verdict] : []))),
  );
  const isVerdict = verdicts.some((verdict) => verdict !== undefined);
  if (isVerdict && used.has(text)) world.violate(promise, `The verdict in ## ${section} of ${task} counted before.`);
  if (isVerdict) used.add(text);
  const seenAt = authors[section]?.commit ?? "";
  // A FAIL sends the work back, whatever was added to it since.
  if (verdicts.includes("PASS") && seenAt !== "" && commit !== "" && seenAt !== commit)
    world.violate(promise, `The verdict in ## ${section} of ${task} is for another commit.`);
}

/** Done means that the work is in the branch that it goes into, if the workflow merges or a merge was requested. */
export function checkDone(world: World, before: Task, after: Task, merge: Merge | undefined): void {
  const { states } = world.workflowOf(after);
  const state = states[after.status];
  if (before.status === after.status || state?.outcome !== "done") return;
  const from = states[before.status];
  const ways = from?.out[after.status] ?? [];
  const isGuarded = ways.some(({ when }) => when.some(({ field }) => field === "merged"));
  const merges = from?.do.some(({ name }) => name === "merge" || name === "merge_pr") ?? false;
  if (!isGuarded && !merges && merge?.state !== "merged") return;
  if (!isInMain(world, before, after.spent.head))
    world.violate("done only if in main", `${after.id} is done, its work is not in main.`);
}

/**
 * The work as it was collected last: commits that an agent makes while the daemon decides are saved, but came too late. If
 * those were collected meanwhile, the `seen` work counts, provided that it was current just before.
 */
export function isInMain({ repositories }: World, task: Task, seen?: string): boolean {
  const { commits, folders, refs, previous } = repositories;
  const folder = folders.get(task.workspace);
  const ref = taskRef(task.id);
  const last = refs.get(ref) ?? (folder && repositories.head(folder));
  const work = seen !== undefined && seen === previous.get(ref) ? seen : last;
  const target = targetOf(repositories, task.part === undefined ? undefined : task.parent);
  return work === undefined || (target !== undefined && commits.isAncestor(work, target));
}

/** The commit of the branch that work is merged into: the default branch, or that of a parent. */
export function targetOf(
  { branches, remote, refs }: World["repositories"],
  parent: string | undefined,
): string | undefined {
  return parent === undefined ? (remote.get(mainBranch) ?? branches.get(mainBranch)) : refs.get(taskRef(parent));
}

export function checkMerge({ repositories, violate }: World, merge: Merge, judged: ReadonlySet<string>): void {
  const { state, commit, task, endedAt } = merge;
  const target = targetOf(repositories, merge.parent);
  if (state !== "merged" || commit === "" || target === undefined) return;
  const { commits } = repositories;
  const isSame = (each: string) => {
    const reviewed = commits.merge(merge.before, each);
    return reviewed.kind === "merged" && changedPaths(reviewed.tree, commits.get(merge.after).tree).length === 0;
  };
  const isNew = endedAt === undefined && merge.after !== merge.before;
  if (isNew && judged.size > 0 && !judged.has(commit) && ![...judged].some(isSame))
    violate(
      "what is merged is what was reviewed",
      `${task} was merged at ${commit.slice(0, 7)}, which nobody reviewed.`,
    );
  if (!repositories.commits.isAncestor(commit, target))
    violate("done only if in main", `${task} counts as merged, but ${commit.slice(0, 7)} is not in its target.`);
}

/** A message reaches its agent once. */
export async function checkTold({ store, violate }: World, { task, run, told }: Program, text: string): Promise<void> {
  const isSame = (other: string) => other.replace(/\s+/g, "") === text.replace(/\s+/g, "");
  const kept = (await store.messages.list({ task })).filter((each) => each.to === run && isSame(each.text));
  if (kept.length > 0 && told.filter(isSame).length > kept.length)
    violate("a message reaches its agent once", `${run} of ${task} was told again: ${text.slice(0, 40)}`);
}

/** A ticket is closed when its work is in the default branch, and not before. */
export function checkedTickets(world: World): Tickets {
  const { place, list, get, change } = world.tickets;
  return {
    place: world.forge === undefined ? place : "issue",
    list,
    get,
    async change(id, wanted) {
      const task = (await world.store.listTasks({}, { limit: 99 })).find((each) => each.task.ticket === id)?.task;
      if (wanted.status === "closed" && task !== undefined && !isInMain(world, task))
        world.violate("a ticket is closed when its work is in main", `${id} of ${task.id} was closed before.`);
      return change(id, wanted);
    },
  };
}

/** Everything that agents made is saved somewhere, whatever happened to their folders. */
export function checkNothingLost({ repositories, made, violate }: World, after: string): void {
  const tips = repositories.tips();
  for (const commit of made.commits) {
    if (repositories.isReachable(commit, tips)) continue;
    made.commits.delete(commit);
    violate("no unmerged work deleted", `The commit ${commit.slice(0, 7)} cannot be reached any more (${after}).`);
  }
}

/** Everything that is deleted from a folder is saved elsewhere. */
export function checkDiscarded({ repositories, made, violate }: World, contents: readonly string[]): void {
  for (const content of contents) {
    if (!made.contents.has(content) || repositories.hasContent(content)) continue;
    violate("no unmerged work deleted", `"${content}" was not committed, and is gone.`);
  }
}

/** The effect's result must be observable when it is marked done. */
export async function checkEffect(world: World, task: Task, effect: Effect): Promise<void> {
  const { store, programs, violate, repositories } = world;
  const promise = "what a transition owes is carried out";
  const live = [...programs.values()].filter((each) => each.task === task.id && each.isLive);
  switch (effect.action) {
    case "acquire_workspace": {
      const bound = (await store.workspaces.list({ task: task.id })).filter((each) => !isCheckout(each));
      // A task that moved on while it waited for a workspace needs none: its release comes next.
      const owed = (await store.openEffects(task.id)).map((each) => each.effect.action);
      if (bound.length === 0 && owed.includes("release_workspace")) return;
      if (bound.length !== 1 || !repositories.folders.has(bound[0]?.path ?? ""))
        violate(promise, `${task.id} has no workspace.`);
      return;
    }
    case "release_workspace":
      if ((await store.workspaces.list({ task: task.id })).length > 0)
        violate(promise, `The workspace of ${task.id} was not given back.`);
      return;
    case "spawn_agent": {
      const run = effect.agent?.run ?? "";
      const isWanted = Object.values(task.runs).some(({ key }) => key === run);
      const wasStarted = [...programs.values()].some((each) => each.task === task.id && each.run === run);
      if (isWanted && !wasStarted) violate(promise, `${run} of ${task.id} was never started.`);
      return;
    }
    case "notify_agent": {
      const run = effect.agent?.run ?? "";
      const isWanted = Object.values(task.runs).some(({ key }) => key === run);
      const isKept = (await store.messages.list({ task: task.id })).some(({ to }) => to === run);
      const wasStarted = (await store.runs.get(`${task.id}/${run}`)) !== undefined;
      if (isWanted && !isKept && !wasStarted) violate(promise, `${run} of ${task.id} was told nothing.`);
      return;
    }
    case "kill_agent":
      for (const { run, role } of live)
        if (effect.params.run === undefined ? role === effect.params.role : run === effect.params.run)
          violate(promise, `${run} of ${task.id} was to be killed, and lives.`);
      return;
    case "kill_session":
      for (const { run } of live) violate(promise, `${run} of ${task.id} was to be killed, and lives.`);
      return;
    case "close_ticket":
      if (task.ticket !== "" && (await world.tickets.get(task.ticket))?.status !== "closed")
        violate(promise, `The ticket of ${task.id} was not closed.`);
      return;
    case "start_children":
    case "stop_children":
      return checkChildrenEffect(world, task, effect.action);
    case "create_pr":
    case "post_comment":
      return checkStageEffect(world, task, effect);
    case "merge_pr":
    case "merge":
      if (effect.params.from === "children") return checkJoined(world, task);
      if (!isInMain(world, task)) violate("done only if in main", `${task.id} was merged, but is not in main.`);
      return;
  }
}
