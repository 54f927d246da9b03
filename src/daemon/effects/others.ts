import { fillText, type OutsideValues } from "../../engine/prompt.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { Clock, Notifier } from "../../ports/system.ts";
import type { LeftOutOf } from "../forge/left-out.ts";
import type { Perform } from "../perform.ts";
import { noteTime, projectOf, type TicketsOf } from "../project.ts";

interface CloseTicketPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ticketsOf: TicketsOf;
  /** Undefined where there is no forge. */
  readonly leftOut?: LeftOutOf | undefined;
}

/**
 * Closes the ticket that the task was made from, with a note that names the task. Does so only if the task's work is in
 * the default branch; a ticket that is closed already is not changed.
 */
export function closeTicket({ store, clock, ticketsOf, leftOut }: CloseTicketPorts): Perform {
  return async (_, { task }) => {
    const { ticket = "", id } = task;
    if (ticket === "") return;
    const project = await projectOf(store, task.project);
    const commit = await commitIn(store, project, task, leftOut);
    const tickets = ticketsOf(project);
    if ((await tickets.get(ticket))?.status === "closed") {
      // If a killed daemon closed it, this removes the temporary file that it left.
      await tickets.change(ticket, { status: "closed" });
      return;
    }
    const text = `Done by ${task.project}#${task.number} (${id}), merged into ${project.defaultBranch} with ${commit}.`;
    await tickets.change(ticket, { status: "closed", note: { text, at: noteTime(clock.now()) } });
  };
}

/** The commit that brought the work into the default branch: the daemon's own merge, or the forge's. */
async function commitIn(store: Store, project: Project, task: Task, leftOut: LeftOutOf | undefined): Promise<string> {
  const { defaultBranch } = project;
  const merge = await store.merges.get(task.id);
  if (merge?.state === "merged" && merge.target === defaultBranch) return merge.after || merge.commit;
  const pull = await store.pullRequests.get(task.id);
  const isMerged = pull?.state === "merged" && pull.base === defaultBranch;
  const rest = isMerged && pull.url !== "" ? await leftOut?.(project, task, pull) : undefined;
  if (isMerged && rest === undefined) return pull.mergedCommit || pull.headCommit;
  const why = rest?.reason ?? `The work is not in ${defaultBranch}.`;
  throw new Fault("ticket.unmerged", `The ticket "${task.ticket}" stays open. ${why}`, {
    hint: `When it is done: signalbox ticket close ${task.ticket}`,
  });
}

interface NotifyPorts {
  readonly notifier: Notifier;
  /** The workflow that a task is pinned to. */
  workflowOf(task: Task): Promise<Workflow>;
  /** The values of variables in a message that are not part of the task. */
  outsideOf(task: Task): Promise<OutsideValues>;
}

/** Notifies the person. The key of the note is the effect's, so that a repeated note can be recognised. */
export function notify({ notifier, workflowOf, outsideOf }: NotifyPorts): Perform {
  return async ({ params }, { task, key }) => {
    const [workflow, outside] = await Promise.all([workflowOf(task), outsideOf(task)]);
    const filled = (text: unknown) => {
      const built = fillText(workflow, task, typeof text === "string" ? text : "", outside);
      if (!built.ok) throw new Fault("notify.unfilled", `The text of the note cannot be built. ${built.problem}`);
      return built.text.trim();
    };
    await notifier.notify({
      title: filled(params.title) || `${task.project}#${task.number} ${task.summary}`.trim(),
      text: filled(params.message) || `Status: ${task.status}`,
      task: task.id,
      project: task.project,
      key,
    });
  };
}
