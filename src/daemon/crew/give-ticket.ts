import { Refusal } from "../../api/client.ts";
import type { Task } from "../../engine/task.ts";
import type { Agent } from "../../ports/records.ts";
import type { Project } from "../../ports/store.ts";
import type { Core } from "../core.ts";
import { makeTask } from "../make-task.ts";
import { allTaken } from "../project.ts";
import { tasksByTicket } from "./tickets.ts";

interface TicketOrder {
  readonly ticket: string;
  readonly workflow: string;
  readonly allowFullPermissions?: boolean;
}

/**
 * Creates a task from a ticket, on a branch with the agent's name, and binds the agent to it. The intention is stored
 * first: if the daemon dies in between, `settleAgent` finds out what was done.
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
    const reserved = core.agents?.roster.hold(id);
    if (reserved !== undefined)
      throw new Refusal([{ code: "not-waiting", text: reserved, fix: "Choose one that is idle: signalbox crew ps" }]);
    try {
      await core.store.agents.put({ ...agent, taking: order.ticket });
      const made = await makeTask(core, {
        ...{ ...order, project: project.name, branch: branchOf(name, order.ticket), harness: agent.harness },
        ...(agent.model === "" ? {} : { model: agent.model }),
      });
      await bindAgent(core, agent, made.task.id);
      return made;
    } catch (error) {
      await core.store.agents.put({ ...agent, taking: "" });
      throw error;
    } finally {
      core.agents?.roster.unhold(id);
    }
  });
}

/**
 * Runs a function with the current record of an agent, inside the agent's mutex: writing back a stale record would take
 * a newly bound task from the agent.
 */
export function withAgent<T>(
  { store, inTurn }: Pick<Core, "store" | "inTurn">,
  id: string,
  run: (agent: Agent | undefined) => Promise<T>,
): Promise<T> {
  return inTurn(`agent ${id}`, async () => run(await store.agents.get(id)));
}

/**
 * Settles an agent for which a task was being created when the daemon died: the agent gets the task if it exists and no
 * other agent has it.
 */
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

/** Binds an agent to a task; the usage of its earlier tasks still counts for it. */
export async function bindAgent({ store }: Pick<Core, "store">, agent: Agent, task: string): Promise<Agent> {
  const bound: Agent = { ...agent, task, taking: "", had: [...new Set([...(agent.had ?? []), task])] };
  await store.agents.put(bound);
  return bound;
}

/** A ticket id may have dots where git allows none: two in a row, one at the end, or one before `lock`. */
export function branchOf(name: string, ticket: string): string {
  return `agent/${name}-${ticket.replace(/\.(?=\.|$|lock$)/g, "-")}`;
}

function shown({ project, number }: { readonly project: string; readonly number: number }): string {
  return `${project}#${number}`;
}

type Ports = Pick<Core, "agents" | "scheduler" | "store">;

/** Why a task's agent is not working yet, as a sentence; empty where nothing holds it up. */
export async function whyNotYet({ agents, scheduler, store }: Ports, { id, project }: Task): Promise<string> {
  const waiting = agents?.dispatch.whyWaiting(id);
  if (waiting !== undefined) return waiting;
  if (!scheduler.waits(id)) return "";
  const paused = agents?.pauses.why(project);
  if (paused !== undefined) return paused;
  if (!(await scheduler.isFull(project, id))) return "";
  return allTaken(project, (await store.getProject(project))?.poolSize ?? 0);
}
