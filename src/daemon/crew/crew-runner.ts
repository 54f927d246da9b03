import { existsSync } from "node:fs";
import { givingOrder } from "../../engine/giving-order.ts";
import { Fault, tell } from "../../fault.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Agent } from "../../ports/records.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { Core } from "../core.ts";
import { lookAtTickets } from "../requests/tickets.ts";
import type { CrewRunner } from "./crew.ts";
import type { CrewOrder, CrewState } from "./crew-state.ts";
import { giveTicket, settleAgent, withAgent } from "./give-ticket.ts";
import { orderMade } from "./order-made.ts";
import { takeUpAgent } from "./take-up-agent.ts";

export interface CrewRunnerPorts {
  readonly state: CrewState;
  readonly clock: Clock;
  core(): Core;
  onError(error: unknown): void;
}

/** Tickets are files that anybody may write, and nobody tells us. */
const interval = 3_000;

export function createCrewRunner({ state, clock, core, onError }: CrewRunnerPorts): CrewRunner {
  const problems = new Map<string, ReadonlyMap<string, string>>();
  let under: Promise<void> | undefined;
  let again = false;
  let closed = false;
  let cancelTimer = () => {};

  const round = async () => {
    for (const [project, order] of [...state.list()]) {
      if (closed) return;
      const known = await core().store.getProject(project);
      if (known === undefined) state.set(project, undefined);
      else {
        await bringBack(core(), project);
        const found = await giveOut(core(), known, order, () => !closed && state.list().has(project));
        // Whoever has stopped it meanwhile is not told what was in its way.
        if (state.list().has(project)) problems.set(project, found);
      }
    }
  };
  const wake = () => {
    if (closed || state.list().size === 0) return;
    if (under !== undefined) {
      again = true;
      return;
    }
    cancelTimer();
    under = round()
      .catch(onError)
      .finally(() => {
        under = undefined;
        if (again) {
          again = false;
          wake();
        } else if (!closed && state.list().size > 0) cancelTimer = clock.after(interval, wake);
      });
  };

  return {
    start(project, order) {
      state.set(project, order);
      wake();
    },
    stop(project) {
      state.set(project, undefined);
      problems.delete(project);
    },
    of: (project) => state.list().get(project),
    problems: (project) => problems.get(project) ?? new Map(),
    wake,
    async recover() {
      for (const { id } of await core().store.agents.list({})) {
        // Tickets are given out already where a task has ended meanwhile.
        const agent = await withAgent(core(), id, async (found) => found && settleAgent(core(), found));
        // One whose repository is gone must not keep the others from going on.
        if (agent !== undefined) await takeUpAgent(core(), agent).catch(onError);
      }
      wake();
    },
    async close() {
      closed = true;
      cancelTimer();
      await under;
    },
  };
}

/**
 * One look: every idle agent gets the next ticket that is ready, open and was never given out, while there is room.
 * One that could not be given out does not keep the others waiting.
 */
async function giveOut(
  core: Core,
  project: Project,
  { most, workflow }: CrewOrder,
  goesOn: () => boolean,
): Promise<ReadonlyMap<string, string>> {
  const problems = new Map<string, string>();
  try {
    const { tickets, tasks } = await lookAtTickets(core, project);
    const waiting = givingOrder(tickets).filter(({ id, status }) => status === "open" && !tasks.has(id));
    let room = most - [...tasks.values()].filter(({ open }) => open !== undefined).length;
    for (const agent of await idleAgents(core.store, project.name)) {
      for (let isGiven = false; !isGiven && room > 0 && waiting.length > 0 && goesOn(); ) {
        const ticket = waiting.shift()?.id ?? "";
        try {
          await giveTicket(core, project, agent, { ticket, workflow });
          isGiven = true;
          room--;
        } catch (error) {
          problems.set(ticket, sentence(error));
        }
      }
    }
  } catch (error) {
    problems.set("", sentence(error));
  }
  return problems;
}

/** Whose folder is gone cannot go on, and nobody else tells us that it is. */
async function bringBack(core: Core, project: string): Promise<void> {
  for (const agent of await core.store.agents.list({ project })) {
    const stored = agent.task === "" ? undefined : await core.store.getTask(agent.task);
    const { held, workspace = "" } = stored?.task ?? {};
    if (!stored?.isOpen || held === undefined || workspace === "" || existsSync(workspace)) continue;
    await takeUpAgent(core, agent);
  }
}

/** In the order in which they were made. */
async function idleAgents(store: Store, project: string): Promise<readonly Agent[]> {
  const idle: Agent[] = [];
  for (const agent of await store.agents.list({ project })) {
    if (agent.task === "" || !(await store.getTask(agent.task))?.isOpen) idle.push(agent);
  }
  return idle.toSorted(orderMade);
}

/** What nobody foresaw goes to the log. */
function sentence(error: unknown): string {
  if (error instanceof Fault) return tell(error);
  throw error;
}
