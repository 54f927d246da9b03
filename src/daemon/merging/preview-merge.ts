import type { Task } from "../../engine/task.ts";
import type { Merge } from "../../ports/records.ts";
import type { Project } from "../../ports/store.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import { findTips, type Where } from "./find-tips.ts";
import { messageOf } from "./land-entries.ts";
import { newMerge, type Wanted } from "./merging.ts";
import { wholeWork } from "./restore-work.ts";
import { stackUp } from "./stack-up.ts";
import { workOf } from "./work-of.ts";

export interface Preview {
  /** As it would end. */
  readonly merge: Merge;
  /** How many commits would come in. */
  readonly commits: number;
  /** Names of files that would change. */
  readonly changed: readonly string[];
}

/** What merging would do. Nothing is moved, tested or pushed. */
export async function previewMerge(
  own: ProjectWorkspaces,
  project: Project,
  task: Task,
  wanted: Wanted,
  where: Where,
  known: Merge | undefined,
  workspaces: string,
): Promise<Preview> {
  const merge = newMerge(task, wanted, 0);
  const none = { commits: 0, changed: [] };
  const work = await workOf(own, project, task);
  if (work.kind === "refused") return { merge: { ...merge, state: "refused", reason: work.reason }, ...none };
  const { target, strategy } = wanted;
  const whole = await wholeWork(own, project, task, known, work.commit, where, known?.at ?? 0);
  if (whole.kind === "conflict") {
    const files = whole.files.map(({ path }) => path.text);
    return { merge: { ...merge, state: "conflict", reason: whole.text, files }, ...none };
  }
  const { base, user } = await findTips(own, project, target, where);
  const author = await own.git.identityOf(project.path);
  const entry = { task: task.id, project: project.name, target, strategy, at: 0, priority: 0 };
  const ready = { ...entry, commit: whole.commit, message: messageOf(task) };
  const { top, others } = await stackUp(own.control, base, [ready], author);
  const outcome = others.get(ready);
  if (outcome !== undefined && outcome.kind !== "again" && outcome.kind !== "merged")
    return { merge: { ...merge, state: outcome.kind, reason: outcome.reason, files: outcome.files }, ...none };
  const changed = top === base ? [] : await own.control.changedFiles(base, top);
  const brings = {
    commits: await own.control.countCommits(base, whole.commit),
    changed: changed.map(({ path }) => path.text),
  };
  const there = { ...merge, commit: whole.commit, before: base, after: top };
  // The user's checkout has to follow, unless the remote's branch is the one that counts.
  const order = { repository: project.path, branch: target, commit: top, expected: user, workspaces };
  const waits = where === "remote" || top === user ? undefined : await own.control.inTheWay(order);
  if (waits === undefined) return { merge: { ...there, state: "merged" }, ...brings };
  const files = waits.files.map(({ text }) => text);
  return { merge: { ...there, state: "waits", reason: waits.text, files }, ...brings };
}
