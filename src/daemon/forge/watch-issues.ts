import { ticketWord } from "../../engine/settled.ts";
import type { Task } from "../../engine/task.ts";
import type { Store, StoredTask } from "../../ports/store.ts";
import type { Clock, Log } from "../../ports/system.ts";
import { allTasks, eventsOf, type TicketsOf } from "../project.ts";
import type { Submit } from "../submit.ts";

interface WatchIssuesPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly submit: Submit;
  readonly ticketsOf: TicketsOf;
  /** Seconds between two checks. */
  interval(): number;
}

interface IssueWatch {
  /** A task has changed, and may have an issue to watch. */
  noticed(stored: StoredTask): void;
  /** After a start. */
  recover(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Polls the issues of open tasks. A task whose issue is closed elsewhere is held, once for each time that it is closed; when the
 * issue is opened again, the task continues. While no open task has an issue, no forge is polled.
 */
export function watchIssues(ports: WatchIssuesPorts): IssueWatch {
  const { store, clock, log } = ports;
  let state: "idle" | "waiting" | "looking" | "stopped" = "idle";
  let cancel = () => {};
  let looking: Promise<void> = Promise.resolve();
  const plan = () => {
    if (state === "stopped") return;
    state = "waiting";
    cancel = clock.after(ports.interval() * 1000, () => {
      state = "looking";
      looking = look().catch((error) => log.warn("The issues of tasks could not be checked", { error }));
    });
  };
  const look = async () => {
    const open = (await allTasks(store, { isOpen: true })).filter(hasTicket);
    for (const { task } of open) {
      if (isStopped()) return;
      await lookAtIssue(ports, task).catch((error) =>
        log.warn("The issue of a task could not be checked", { task: task.id, ticket: task.ticket, error }),
      );
    }
    if (isStopped()) return;
    state = "idle";
    if (open.length > 0) plan();
  };
  const isStopped = () => state === "stopped";
  const noticed = (stored: StoredTask) => {
    if (state === "idle" && stored.isOpen && hasTicket(stored)) plan();
  };
  return {
    noticed,
    async recover() {
      for (const stored of await allTasks(store, { isOpen: true })) noticed(stored);
    },
    async stop() {
      state = "stopped";
      cancel();
      await looking;
    },
  };
}

/** It may be an issue: the source of a project's tickets is read at each check, because its configuration may change. */
function hasTicket({ task: { ticket = "" } }: Pick<StoredTask, "task">): boolean {
  return ticket !== "";
}

async function lookAtIssue({ store, submit, ticketsOf }: WatchIssuesPorts, task: Task): Promise<void> {
  const project = await store.getProject(task.project);
  const tickets = project && ticketsOf(project);
  if (tickets?.place !== "issue") return;
  const { id, ticket = "", held } = task;
  const found = await tickets.get(ticket);
  const isClosed = found === undefined || found.status === "closed";
  if (!isClosed) {
    if (held?.word === ticketWord) await submit(id, { kind: "continue", actor: { role: "engine" } });
    return;
  }
  if (held !== undefined || (await isClosedByTask(store, id)) || (await wasTold(store, id))) return;
  const what = found === undefined ? "no longer exists" : "was closed elsewhere";
  const fix = `To go on all the same: signalbox task continue ${id}. To stop: signalbox task cancel ${id}`;
  await submit(id, { kind: "ticket", reason: `Issue ${ticket} ${what}, and the task is not done.\n${fix}` });
}

/** A task that owes or has done the closing of its ticket has closed it itself. */
async function isClosedByTask(store: Store, task: string): Promise<boolean> {
  const effects = await store.listEffects(task);
  return effects.some(({ effect, state }) => effect.action === "close_ticket" && state !== "dropped");
}

/** A person who continues the task is not asked again, until the issue was opened and closed once more. */
async function wasTold(store: Store, task: string): Promise<boolean> {
  let isTold = false;
  for await (const { event } of eventsOf(store, task)) {
    if (event.type === "task.held" && event.data.word === ticketWord) isTold = true;
    if (event.type === "task.continued" && event.data.held === ticketWord && event.by === "engine") isTold = false;
  }
  return isTold;
}
