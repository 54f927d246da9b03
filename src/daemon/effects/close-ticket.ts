import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { Perform } from "../perform.ts";
import { projectOf } from "../project-of.ts";
import { noteTime, type TicketsOf } from "../tickets-of.ts";

export interface CloseTicketPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ticketsOf: TicketsOf;
}

/**
 * Closes the ticket that the task was made from, and notes there which task did it. Only where the task's work is in the
 * default branch: otherwise it stays as it is, and so does one that is closed already.
 */
export function closeTicket({ store, clock, ticketsOf }: CloseTicketPorts): Perform {
  return async (_, { task }) => {
    const { ticket = "", id } = task;
    if (ticket === "") return;
    const project = await projectOf(store, task.project);
    const commit = await commitIn(store, project, task);
    const tickets = ticketsOf(project);
    if ((await tickets.get(ticket))?.status === "closed") {
      // If it was us who were killed behind that, what we left beside the file goes.
      await tickets.change(ticket, { status: "closed" });
      return;
    }
    const text = `Done by ${task.project}#${task.number} (${id}), merged into ${project.defaultBranch} with ${commit}.`;
    await tickets.change(ticket, { status: "closed", note: { text, at: noteTime(clock.now()) } });
  };
}

/** The commit that brought the work into the default branch: ours, or the forge's. */
async function commitIn(store: Store, { defaultBranch }: Project, task: Task): Promise<string> {
  const merge = await store.merges.get(task.id);
  if (merge?.state === "merged" && merge.target === defaultBranch) return merge.after || merge.commit;
  const pull = await store.pullRequests.get(task.id);
  if (pull?.state === "merged" && pull.base === defaultBranch) return pull.mergedCommit || pull.headCommit;
  throw new Fault("ticket.unmerged", `The ticket "${task.ticket}" stays open: the work is not in ${defaultBranch}.`, {
    hint: `When it is done: signalbox ticket close ${task.ticket}`,
  });
}
