import { Refusal } from "../../api/error.ts";
import type { Agent } from "../../ports/records.ts";
import type { Project } from "../../ports/store.ts";
import type { Core } from "../core.ts";
import { makeTask } from "../requests/create-task.ts";

export interface TicketOrder {
  readonly ticket: string;
  readonly workflow: string;
  readonly allowFullPermissions?: boolean;
}

/**
 * Makes a task from a ticket, on a branch with the agent's name, and lets the agent do it. If we die in between, the task
 * goes on without the name of an agent, and the agent gets another one.
 */
export function giveTicket(core: Core, project: Project, { id }: Agent, order: TicketOrder) {
  return core.inTurn(`agent ${id}`, async () => {
    const agent = await core.store.agents.get(id);
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
    const made = await makeTask(core, {
      ...{ ...order, project: project.name, branch: `agent/${name}-${order.ticket}`, harness: agent.harness },
      ...(agent.model === "" ? {} : { model: agent.model }),
    });
    await bindAgent(core, agent, made.task.id);
    return made;
  });
}

/** From now on the agent is at this task; what it used for the others still counts for it. */
export async function bindAgent({ store }: Pick<Core, "store">, agent: Agent, task: string): Promise<Agent> {
  const bound: Agent = { ...agent, task, had: [...new Set([...(agent.had ?? []), task])] };
  await store.agents.put(bound);
  return bound;
}

function shown({ project, number }: { readonly project: string; readonly number: number }): string {
  return `${project}#${number}`;
}
