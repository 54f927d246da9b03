import { Refusal } from "../../api/error.ts";
import type { Agent } from "../../ports/records.ts";
import type { Project } from "../../ports/store.ts";
import type { Core } from "../core.ts";
import { makeTask } from "../requests/create-task.ts";
import { tasksByTicket } from "../requests/tasks-by-ticket.ts";

export interface TicketOrder {
  readonly ticket: string;
  readonly workflow: string;
  readonly allowFullPermissions?: boolean;
}

/**
 * Makes a task from a ticket, on a branch with the agent's name, and lets the agent do it. What is about to happen is noted
 * first: if we die in between, `settleAgent` finds out what came of it.
 */
export function giveTicket(core: Core, project: Project, { id }: Agent, order: TicketOrder) {
  return withAgent(core, id, async (found) => {
    const agent = found && (await settleAgent(core, found));
    const name = id.slice(id.indexOf("/") + 1);
    const before = agent === undefined || agent.task === "" ? undefined : await core.store.getTask(agent.task);
    if (agent === undefined || before?.isOpen)
      throw new Refusal([
        {
          code: "not-waiting",
          text: before === undefined ? `There is no agent "${name}".` : `${name} has a task, ${shown(before.task)}.`,
          fix: "Choose one that is idle: signalbox crew ps",
        },
      ]);
    await core.store.agents.put({ ...agent, taking: order.ticket });
    try {
      const made = await makeTask(core, {
        ...{ ...order, project: project.name, branch: branchOf(name, order.ticket), harness: agent.harness },
        ...(agent.model === "" ? {} : { model: agent.model }),
      });
      await bindAgent(core, agent, made.task.id);
      return made;
    } catch (error) {
      await core.store.agents.put({ ...agent, taking: "" });
      throw error;
    }
  });
}

/**
 * Does something with an agent as it is now, while nobody else changes it: who keeps what was read before another has given
 * it a task would take that task from it.
 */
export function withAgent<T>(
  { store, inTurn }: Pick<Core, "store" | "inTurn">,
  id: string,
  run: (agent: Agent | undefined) => Promise<T>,
): Promise<T> {
  return inTurn(`agent ${id}`, async () => run(await store.agents.get(id)));
}

/** Where we died while a task was made for an agent: the task is its, if there is one now that nobody else has. */
export async function settleAgent({ store }: Pick<Core, "store">, agent: Agent): Promise<Agent> {
  const { taking = "", project } = agent;
  if (taking === "") return agent;
  const made = (await tasksByTicket(store, project)).get(taking)?.open;
  if (made !== undefined && (await store.agents.list({ task: made.id })).length === 0)
    return bindAgent({ store }, agent, made.id);
  const settled: Agent = { ...agent, taking: "" };
  await store.agents.put(settled);
  return settled;
}

/** From now on the agent is at this task; what it used for the others still counts for it. */
export async function bindAgent({ store }: Pick<Core, "store">, agent: Agent, task: string): Promise<Agent> {
  const bound: Agent = { ...agent, task, taking: "", had: [...new Set([...(agent.had ?? []), task])] };
  await store.agents.put(bound);
  return bound;
}

/** An id of a ticket may have dots where git has none: two in a row, one at the end, or one before `lock`. */
export function branchOf(name: string, ticket: string): string {
  return `agent/${name}-${ticket.replace(/\.(?=\.|$|lock$)/g, "-")}`;
}

function shown({ project, number }: { readonly project: string; readonly number: number }): string {
  return `${project}#${number}`;
}
