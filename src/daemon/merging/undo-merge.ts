import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Merge } from "../../ports/records.ts";
import type { Project } from "../../ports/store.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import { findTips } from "./find-tips.ts";
import { lineOf, type MergingPorts } from "./merging.ts";
import { noteMerge } from "./note-merge.ts";
import { publishCommit } from "./publish-commit.ts";

const mostRounds = 8;

/**
 * Takes back what a task brought into a branch, with one commit more: what was published stays published. The task's own
 * branch and its history stay as they are.
 */
export async function undoMerge(ports: MergingPorts, project: Project, task: Task, by: string): Promise<Merge> {
  const merge = await ports.store.merges.get(task.id);
  if (merge === undefined || merge.state !== "merged" || merge.before === merge.after) throw nothingToUndo(task, merge);
  return ports.inTurn(lineOf(project.name, merge.target), async () => {
    const own = await ports.workspacesOf(project);
    for (let round = 0; round < mostRounds; round++) {
      const undo = await tryOnce(ports, own, project, task, merge);
      if (undo === undefined) continue;
      const undone: Merge = { ...merge, state: "undone", ...(undo.before === undo.after ? {} : { undo }) };
      await noteMerge(ports, undone, "merge.undone", { after: undo.after }, by);
      return undone;
    }
    throw new Fault("merge.moving", `"${merge.target}" moves all the time.`, { retry: "later", hint: "Try again." });
  });
}

/**
 * Where the branch was before and after the commit that takes the merge back; both are the same where somebody has taken it
 * back by hand. Undefined where the branch has moved meanwhile.
 */
async function tryOnce(
  ports: MergingPorts,
  own: ProjectWorkspaces,
  project: Project,
  task: Task,
  { target, before, after }: Merge,
): Promise<NonNullable<Merge["undo"]> | undefined> {
  const landing = await ports.landingOf(project, own);
  const tips = await findTips(own, project, target, landing.where);
  if (tips.apart)
    throw new Fault("merge.apart", `"${target}" here and "${target}" of the remote have gone apart.`, {
      hint: "Bring them together first: git pull",
    });
  const author = await own.git.identityOf(project.path);
  const message = `Take back the merge of ${task.branch}\n\nTask: ${task.project}#${task.number} (${task.id})\n`;
  const order = { onto: tips.base, before, after, message, author, date: ports.clock.now() };
  const result = await own.control.revertMerge(order);
  if (result.kind === "conflict") {
    const files = result.files.map(({ path }) => path.text).join(", ");
    throw new Fault("merge.conflict", `What came after it in "${target}" changed the same places: ${files}.`, {
      hint: `Take it back by hand: git revert -m 1 ${after}`,
    });
  }
  const commit = result.kind === "up-to-date" ? tips.base : result.commit;
  const published = await publishCommit(landing, own, project, target, tips, commit);
  if (published.kind === "moved") return undefined;
  if (published.kind !== "published")
    throw new Fault("merge.in-the-way", published.reason, { hint: "Then ask again." });
  return { before: tips.base, after: commit };
}

function nothingToUndo(task: Task, merge: Merge | undefined): Fault {
  const name = `${task.project}#${task.number}`;
  if (merge?.state === "undone")
    return new Fault("merge.nothing", `The merge of ${name} was taken back already.`, {
      hint: `To bring its work back in a new task: signalbox task create --from ${task.id}`,
    });
  const text =
    merge?.state === "merged"
      ? `${name} was in "${merge.target}" before anybody asked for the merge, so we do not know how it came there.`
      : `${name} was not merged here, so there is nothing to take back.`;
  return new Fault("merge.nothing", text, { hint: `See what happened: signalbox task history ${task.id}` });
}
