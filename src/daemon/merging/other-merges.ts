import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { Merge } from "../../ports/records.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { Clock } from "../../ports/system.ts";
import { sentences } from "../../text.ts";
import type { Core, Repositories } from "../core.ts";
import { mergePullRequest } from "../forge/merge-pull-request.ts";
import { type LandingPlace, type PublishPorts, placeAt } from "../landing-place.ts";
import { lostTrouble, lostWork } from "../lost-work.ts";
import { unreviewedTrouble, unreviewedWork } from "../reviewed.ts";
import { mergeableWork } from "../task-work.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import { followRemote } from "./arrival.ts";
import type { Clash } from "./conflicts.ts";
import { messageOf } from "./land.ts";
import { noteMerge } from "./merge-history.ts";
import { lineOf } from "./merge-queue.ts";
import { newMerge } from "./merge-record.ts";
import type { MergingPorts, Wanted } from "./merging.ts";
import { type Landed, landingsOf, revertAll, stackUp, wholeWork } from "./stack.ts";

/**
 * Merges a task's pull request on its forge. If the forge has merged it already, only moves the task. Undefined if the task
 * has no pull request: then its work is merged locally.
 */
export async function mergeOnForge(
  { forge, store, clock, log }: Core,
  repositories: Repositories,
  project: Project,
  task: Task,
  wanted: Wanted,
): Promise<Merge | undefined> {
  const result =
    forge === undefined
      ? undefined
      : await mergePullRequest(forge, project, task, {
          only: wanted.only ?? task.judged?.commit,
          check: () => mustStay(store, task),
        });
  if (result === undefined || result.kind === "none") return undefined;
  const merge = newMerge(task, wanted, clock.now());
  if (result.kind !== "merged") {
    const next =
      result.kind === "refused" ? `To merge it locally instead: signalbox task merge ${task.id} --local` : "";
    const reason = result.kind === "refused" ? `${result.reason} ${next}` : `${result.reason}\n${result.fix}`;
    const ended: Merge = { ...merge, state: "refused", reason, endedAt: clock.now() };
    await noteMerge({ store, clock }, ended, "merge.failed", { word: "refused", reason, files: [] });
    return ended;
  }
  const { commit } = result;
  const landed: Merge = { ...merge, state: "merged", commit, before: commit, after: commit };
  await noteMerge({ store, clock }, landed, "merge.landed", { commit, before: "", after: commit });
  await followRemote(repositories, project, wanted.target).catch((error) =>
    log.warn("The user's branch could not follow the remote's", { project: project.name, error }),
  );
  return repositories.merging.finish(landed);
}

/** Throws where the task has left the stay in which its merge was requested. */
async function mustStay(store: Store, { id, entry }: Task): Promise<undefined> {
  const now = (await store.getTask(id))?.task;
  if (now?.entry === entry && now.phase !== "over") return;
  const where = now === undefined ? "It was deleted." : `It is in ${now.status} now.`;
  throw new Fault("merge.refused", `The task has moved on, so nothing was merged. ${where}`);
}

interface Preview {
  /** The merge as it would end. */
  readonly merge: Merge;
  /** How many commits would be merged. */
  readonly commits: number;
  /** Paths of files that would change. */
  readonly changed: readonly string[];
}

/** What the merge would do. Moves, tests and pushes nothing. */
export async function previewMerge(
  store: Store,
  own: ProjectWorkspaces,
  project: Project,
  task: Task,
  wanted: Wanted,
  ports: PublishPorts,
  known: Merge | undefined,
  workflow: Workflow,
): Promise<Preview> {
  const merge = newMerge(task, wanted, 0);
  const none = { commits: 0, changed: [] };
  const work = await mergeableWork(store, own, project, task, wanted.leaves);
  if (work.kind === "refused") return { merge: { ...merge, state: "refused", reason: work.reason }, ...none };
  const place = placeAt({ store, where: ports.where }, own, project, wanted);
  const unreviewed = await unreviewedWork(own, place, task, work.commit);
  if (unreviewed !== undefined) {
    const { reason, fix } = unreviewedTrouble(workflow, task, unreviewed);
    return { merge: { ...merge, state: "refused", reason: `${reason}\n${fix}` }, ...none };
  }
  const { target, strategy } = wanted;
  const whole = await wholeWork(own, project, task, known, place, work.commit, known?.at ?? 0);
  if (whole.kind === "conflict") {
    const files = whole.files.map(({ path }) => path.text);
    return { merge: { ...merge, state: "conflict", reason: whole.text, files }, ...none };
  }
  const tips = await place.find();
  const { base } = tips;
  const author = await own.git.identityOf(project.path);
  const entry = { task: task.id, project: project.name, target, strategy, at: 0, stay: task.entry, priority: 0 };
  const ready = { ...entry, commit: whole.commit, message: messageOf(task) };
  const { top, others } = await stackUp(own.control, base, [ready], author);
  const lost = await lostWork({ store, control: own.control }, task, target, whole.commit, base);
  if (lost !== undefined) {
    const { reason, fix } = lostTrouble(task, target, lost);
    return { merge: { ...merge, state: "refused", reason: `${reason}\n${fix}` }, ...none };
  }
  const outcome = others.get(ready);
  if (outcome !== undefined && outcome.kind !== "again" && outcome.kind !== "merged")
    return { merge: { ...merge, state: outcome.kind, reason: outcome.reason, files: outcome.files }, ...none };
  const changed = top === base ? [] : await own.control.changedFiles(base, top);
  const brings = {
    commits: await own.control.countCommits(base, whole.commit),
    changed: changed.map(({ path }) => path.text),
  };
  const there = { ...merge, commit: whole.commit, before: base, after: top };
  const waits = await place.inTheWay(ports, tips, top);
  if (waits === undefined) return { merge: { ...there, state: "merged" }, ...brings };
  const { reason, files } = waits;
  return { merge: { ...there, state: "waits", reason, files }, ...brings };
}

interface Synchronised {
  readonly kind: "synchronised";
  /** The branch's commit now. */
  readonly commit: string;
  /** How many commits were merged into it. */
  readonly commits: number;
}

/** Nothing was changed. */
type Clashed = { readonly kind: "conflict"; readonly commit: string } & Clash;

/** The branch that is merged into a task's. */
interface SyncSource {
  readonly branch: string;
  tip(): Promise<string>;
}

/** A branch of the user's. */
export function userSource({ control }: ProjectWorkspaces, { path }: Project, branch: string): SyncSource {
  return {
    branch,
    async tip() {
      const found = (await control.syncFrom({ from: path, name: "user" })).branches[branch];
      if (found === undefined) throw new Fault("sync.no-branch", `${path} has no branch "${branch}".`);
      return found;
    },
  };
}

/** Merges a branch into the task's branch, in its workspace. */
export async function syncBranch(
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  own: ProjectWorkspaces,
  project: Project,
  task: Task,
  from: SyncSource,
): Promise<Synchronised | Clashed> {
  const { control, kind, git } = own;
  const folder = task.workspace;
  const found = folder === "" ? undefined : await kind.inspect(folder);
  if (found?.kind !== "there" || found.branch === undefined)
    throw new Fault("sync.no-workspace", `${nameOf(task)} has no workspace with a branch checked out.`, {
      hint: "A task gets its workspace when it starts.",
    });
  // A const, because TypeScript does not keep the narrowing in the closure below.
  const { branch } = found;
  const tip = await from.tip();
  const { commit: head } = await control.collect({ folder, branch, task: task.id });
  const commits = await control.countCommits(head, tip);
  if (commits === 0) return { kind: "synchronised", commit: head, commits };
  const made = (await control.isAncestor(head, tip)) ? tip : await merged(head, tip);
  if (typeof made !== "string") return made;
  const [commit, done] = [made, { kind: "synchronised", commit: made, commits } as const];
  if (kind.kind === "clone") {
    await kind.forwardBranch(folder, commit);
    return done;
  }
  const result = await control.publish({ repository: folder, branch, commit, expected: head, signal });
  if (result.kind === "published") return done;
  if (result.kind === "moved")
    throw new Fault("sync.moved", `"${branch}" has moved just now.`, { retry: "later", hint: "Try again." });
  throw new Fault("sync.in-the-way", result.text, { hint: "Then try again." });

  async function merged(onto: string, other: string): Promise<string | Clashed> {
    const author = await git.identityOf(project.path);
    const message = `Merge ${from.branch} into ${branch}\n`;
    const made = await control.merge({ onto, branch: other, strategy: "merge", message, author, date: clock.now() });
    if (made.kind === "merged" || made.kind === "fast-forward") return made.commit;
    if (made.kind === "up-to-date") return onto;
    const files = made.files.map(({ path }) => path.text);
    return { kind: "conflict", commit: onto, branch: from.branch, files, text: made.text };
  }
}

function nameOf({ project, number }: Task): string {
  return `${project}#${number}`;
}

const maxRounds = 8;

/**
 * Undoes all merges of a task into a branch with one revert commit each; published commits are not removed. The task's own
 * branch and its history stay unchanged. In the answer the branch's commits are those before and after the revert.
 */
export async function undoMerge(ports: MergingPorts, project: Project, task: Task, by: string): Promise<Merge> {
  const { merge, landings } = await undoable(ports, task);
  return ports.inTurn(lineOf(project.name, merge), async () => {
    const own = await ports.workspacesOf(project);
    for (let round = 0; round < maxRounds; round++) {
      const undo = await tryOnce(ports, own, project, task, merge, landings);
      if (undo === undefined) continue;
      const { before, after, pushed, behind } = undo;
      const many = landings.length === 1 ? "" : `${landings.length} merges were undone: ${shown(landings)}.`;
      const { undo: _, onRemote: __, pushed: ___, ...rest } = merge;
      const undone: Merge = {
        ...{ ...rest, state: "undone", reason: sentences([many, behind]) },
        ...(before === after ? {} : { undo: { before, after } }),
        ...(behind === "" ? {} : { onRemote: true }),
        ...(pushed === undefined ? {} : { pushed }),
      };
      await noteMerge(ports, undone, "merge.undone", { after: undo.after }, by);
      return { ...undone, before, after };
    }
    throw new Fault("merge.moving", `"${merge.target}" keeps moving, so the merge could not be undone.`, {
      retry: "later",
      hint: "Try again.",
    });
  });
}

/** What undoing the merges would do. Moves and pushes nothing, and does not fetch unless the remote's branch counts. */
export async function previewUndo(ports: MergingPorts, project: Project, task: Task): Promise<Preview> {
  const { merge, landings } = await undoable(ports, task);
  const own = await ports.workspacesOf(project);
  const landing = await ports.landingOf(project, own);
  const where = landing.where === "remote" ? "remote" : "here";
  const place = placeAt({ store: ports.store, where }, own, project, merge);
  const { tips, commit } = await revertOnce(ports, own, project, task, place, landings);
  const waits = await place.inTheWay({ ...landing, where }, tips, commit);
  if (waits !== undefined) throw inTheWay(waits.reason);
  const changed = commit === tips.base ? [] : await own.control.changedFiles(tips.base, commit);
  const reason = landings.length === 1 ? "" : `${landings.length} merges would be undone: ${shown(landings)}.`;
  const { pushed: _, ...rest } = merge;
  const pushed = await place.expectedPush(landing.where, tips.user);
  const how = pushed === undefined ? {} : { pushed };
  return {
    merge: { ...rest, state: "undone", reason, before: tips.base, after: commit, ...how },
    commits: 0,
    changed: changed.map(({ path }) => path.text),
  };
}

/** The merge of a task that can be undone, with all its landings. */
async function undoable({ store }: MergingPorts, task: Task) {
  const merge = await store.merges.get(task.id);
  const landings = merge === undefined || merge.state === "undone" ? [] : await landingsOf(store, merge);
  if (merge === undefined || landings.length === 0) throw nothingToUndo(task, merge);
  if (merge.state === "lined-up" || merge.state === "waits")
    throw new Fault("merge.under-way", `A merge of ${nameOf(task)} is in progress.`, {
      hint: `See its progress: signalbox task explain ${task.id}`,
    });
  return { merge, landings };
}

/**
 * The branch's commit before and after the revert, and why the user's branch does not have it yet; equal commits if the merge was reverted by hand before. Undefined if the branch
 * has moved meanwhile.
 */
async function tryOnce(
  ports: MergingPorts,
  own: ProjectWorkspaces,
  project: Project,
  task: Task,
  merge: Merge,
  landings: readonly Landed[],
): Promise<(NonNullable<Merge["undo"]> & Pick<Merge, "pushed"> & { readonly behind: string }) | undefined> {
  const landing = await ports.landingOf(project, own);
  const place = placeAt({ store: ports.store, where: landing.where }, own, project, merge);
  const { tips, commit } = await revertOnce(ports, own, project, task, place, landings);
  const published = await place.publish(landing, tips, commit);
  if (published.kind === "moved") return undefined;
  const onRemote = published.kind === "waits" && published.onRemote === true;
  if (published.kind !== "published" && !onRemote) throw inTheWay(published.reason);
  const pushed = published.kind === "published" ? published.pushed : undefined;
  return {
    ...{ before: tips.base, after: commit, behind: onRemote ? published.reason : "" },
    ...(pushed === undefined ? {} : { pushed }),
  };
}

/** The commit that reverts the landings, which is on no branch yet. */
async function revertOnce(
  ports: MergingPorts,
  own: ProjectWorkspaces,
  project: Project,
  task: Task,
  place: LandingPlace,
  landings: readonly Landed[],
) {
  const { branch: target } = place;
  const tips = await place.find();
  if (tips.apart)
    throw new Fault("merge.apart", `Local "${target}" and the remote's "${target}" have diverged.`, {
      hint: "Reconcile them first: git pull",
    });
  const author = await own.git.identityOf(project.path);
  const message = `Revert the merge of ${task.branch}\n\nTask: ${task.project}#${task.number} (${task.id})\n`;
  const how = { message, author, date: ports.clock.now() };
  const result = await revertAll(own.control, landings.toReversed(), tips.base, how);
  if (result.kind === "conflict") {
    const files = result.files.map(({ path }) => path.text).join(", ");
    throw new Fault("merge.conflict", `Later commits in "${target}" changed the same lines: ${files}.`, {
      hint: `Revert it by hand: git revert -m 1 ${result.change.after}`,
    });
  }
  return { tips, commit: result.commit };
}

function inTheWay(reason: string): Fault {
  return new Fault("merge.in-the-way", reason, { hint: "Then try again." });
}

function shown(landings: readonly Landed[]): string {
  return landings.map(({ before, after }) => `${before.slice(0, 10)} → ${after.slice(0, 10)}`).join(", ");
}

function nothingToUndo(task: Task, merge: Merge | undefined): Fault {
  const name = nameOf(task);
  if (merge?.state === "undone")
    return new Fault("merge.nothing", `The merge of ${name} was already undone.`, {
      hint: `To bring its work back in a new task: signalbox task create --from ${task.id}`,
    });
  const text =
    merge?.state === "merged"
      ? `"${merge.target}" already contained the work of ${name} when it was merged here, so there is no merge to undo.`
      : `${name} was not merged here, so there is no merge to undo.`;
  return new Fault("merge.nothing", text, { hint: `See what happened: signalbox task history ${task.id}` });
}
