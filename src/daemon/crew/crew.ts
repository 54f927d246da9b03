import { existsSync, readFileSync } from "node:fs";
import { publishFile } from "../../durable-file.ts";
import { type AgentSight, reconcileAgent, recordedState } from "../../engine/reconcile.ts";
import type { Task } from "../../engine/task.ts";
import { Fault, tell } from "../../fault.ts";
import type { Agent, Run } from "../../ports/records.ts";
import type { Project } from "../../ports/store.ts";
import type { Clock } from "../../ports/system.ts";
import { givingOrder } from "../../tickets/ready-tickets.ts";
import { hasMarker, readTurnOutput } from "../agents/read-turn.ts";
import { orderMade } from "../agents/roster.ts";
import { processName, readOrder } from "../agents/run-order.ts";
import type { Core } from "../core.ts";
import { eventsOf } from "../project.ts";
import { giveTicket, settleAgent, withAgent } from "./give-ticket.ts";
import { readTickets } from "./tickets.ts";

interface CrewRunnerPorts {
  readonly state: CrewState;
  readonly clock: Clock;
  core(): Core;
  onError(error: unknown): void;
}

/** Tickets are files that any program may write, and writing them sends no event. */
const pollInterval = 3_000;

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
        // If the crew was stopped meanwhile, its problems no longer matter.
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
        } else if (!closed && state.list().size > 0) cancelTimer = clock.after(pollInterval, wake);
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
        // Tickets may be given out already if a task has ended meanwhile.
        const agent = await withAgent(core(), id, async (found) => found && settleAgent(core(), found));
        // An agent whose repository is gone must not stop the others from being adopted.
        if (agent !== undefined) await adoptAgent(core(), agent).catch(onError);
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
 * One round: every idle agent gets the next ticket that is ready, open and was never given out, while there is room. A
 * ticket that could not be given out does not block the others.
 */
async function giveOut(
  core: Core,
  project: Project,
  { most, workflow }: CrewOrder,
  goesOn: () => boolean,
): Promise<ReadonlyMap<string, string>> {
  const problems = new Map<string, string>();
  try {
    const { tickets, tasks } = await readTickets(core, project);
    const waiting = givingOrder(tickets).filter(({ id, status }) => status === "open" && !tasks.has(id));
    let room = most - [...tasks.values()].filter(({ open }) => open !== undefined).length;
    for (const agent of await idleAgents(core, project.name)) {
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

/** An agent whose folder is gone cannot continue, and nothing else notices the missing folder. */
async function bringBack(core: Core, project: string): Promise<void> {
  for (const agent of await core.store.agents.list({ project })) {
    const stored = agent.task === "" ? undefined : await core.store.getTask(agent.task);
    const { held, workspace = "" } = stored?.task ?? {};
    if (!stored?.isOpen || held === undefined || workspace === "" || existsSync(workspace)) continue;
    await adoptAgent(core, agent);
  }
}

/** The idle agents, in the order in which they were created. */
async function idleAgents({ store, agents }: Core, project: string): Promise<readonly Agent[]> {
  const idle: Agent[] = [];
  for (const agent of await store.agents.list({ project })) {
    // It does a run of another task, or has failed one.
    if (agents?.roster.workOf(agent.id) !== undefined || agents?.roster.stuckOf(agent.id) !== undefined) continue;
    if (agent.task === "" || !(await store.getTask(agent.task))?.isOpen) idle.push(agent);
  }
  return idle.toSorted(orderMade);
}

/** An unforeseen error is rethrown, and goes to the log. */
function sentence(error: unknown): string {
  if (error instanceof Fault) return tell(error);
  throw error;
}

/** How the tickets of a project are given to its agents. */
interface CrewOrder {
  /** How many tickets may be worked on concurrently. */
  readonly most: number;
  readonly workflow: string;
}

/** For which projects tickets are given out. Stored in a file, so that it survives a restart. */
interface CrewState {
  list(): ReadonlyMap<string, CrewOrder>;
  /** Undefined stops it for the project. */
  set(project: string, order: CrewOrder | undefined): void;
}

export function openCrewState(file: string): CrewState {
  const state = new Map(read(file));
  return {
    list: () => state,
    set(project, order) {
      if (order === undefined) state.delete(project);
      else state.set(project, order);
      publishFile(file, `${JSON.stringify(Object.fromEntries(state))}\n`, { mode: 0o600 });
    },
  };
}

function read(file: string): readonly (readonly [string, CrewOrder])[] {
  try {
    const stored = JSON.parse(readFileSync(file, "utf8")) as Record<string, Partial<CrewOrder>>;
    return Object.entries(stored).flatMap(([project, { most, workflow }]) =>
      typeof most === "number" && typeof workflow === "string" ? [[project, { most, workflow }]] : [],
    );
  } catch {
    return [];
  }
}

/** Gives ready tickets to idle agents. Everything after that is the workflow's task. */
export interface CrewRunner {
  start(project: string, order: CrewOrder): void;
  stop(project: string): void;
  /** Undefined where the crew does not run for that project. */
  of(project: string): CrewOrder | undefined;
  /** Why tickets could not be given out in the last round, by ticket; an empty key means all of them. */
  problems(project: string): ReadonlyMap<string, string>;
  /** An agent may be idle now, or a ticket ready. */
  wake(): void;
  /** After a start: finds out which tasks were being created for which agent, and continues. */
  recover(): Promise<void>;
  close(): Promise<void>;
}

/** Reconciles an agent with its actual state, after a start or when its folder is gone, and continues its task. */
async function adoptAgent(core: Core, agent: Agent): Promise<void> {
  const stored = agent.task === "" ? undefined : await core.store.getTask(agent.task);
  if (!stored?.isOpen) return;
  const { task } = stored;
  const sight = await inspectAgent(core, task);
  const { state, act } = reconcileAgent(sight);
  core.log.info("An agent was found", { agent: agent.id, task: task.id, ...sight, state, act });
  if (act === "go-on") core.performer.wake(task.id);
  if (act !== "begin-again") return;
  const [first = ""] = (await core.workflows.get(task.workflowHash)).initial;
  // An agent that deletes its own folder each time would loop for ever.
  if ((await timesMoved(core, task.id, first)) >= maxRestarts) return;
  const { decision } = await core.submit(task.id, { kind: "move", to: first, actor: { role: "engine" } });
  if (decision.kind !== "rejected") return;
  const reasons = decision.reasons.map(({ text }) => text);
  core.log.warn("The workspace of an agent is gone, and its task cannot begin again", { task: task.id, reasons });
}

const maxRestarts = 2;

/** How often the engine itself has moved a task back to a state. */
async function timesMoved({ store }: Core, task: string, to: string): Promise<number> {
  let count = 0;
  for await (const { event } of eventsOf(store, task))
    if (event.type === "task.moved" && event.by === "engine" && event.data.to === to) count++;
  return count;
}

async function inspectAgent(core: Core, task: Task): Promise<AgentSight> {
  const { workflow, facts } = await core.look(task);
  const runs = await core.store.runs.list({ task: task.id });
  const last = runs.filter(({ started }) => started !== undefined).at(-1);
  const wanted = new Set(Object.values(task.runs).map(({ key }) => key));
  const live = runs.filter(({ key, endedAt }) => endedAt === undefined && wanted.has(key));
  const { workspace = 0, dirty = 0 } = facts.numbers;
  return {
    recorded: recordedState(workflow, task, {
      isRaised: live.some(({ started }) => (started?.raised ?? "") !== ""),
      hasStarted: live.some(({ pid }) => pid !== 0),
    }),
    workspace: task.workspace === "" ? "clean" : workspace === 0 ? "none" : dirty > 0 ? "dirty" : "clean",
    ...(last === undefined ? { session: "absent", marker: false } : await inspectRun(core, last)),
  };
}

/** Whether its program is alive and, if it has ended, whether its last output was the marker for finished work. */
async function inspectRun({ agents, places }: Core, run: Run): Promise<Pick<AgentSight, "session" | "marker">> {
  const { started, harness: name } = run;
  const harness = agents?.ports.harnesses().get(name);
  if (agents === undefined || started === undefined || harness === undefined)
    return { session: "absent", marker: false };
  // Of a run in a terminal the watch knows that.
  if (started.mode === "session")
    return {
      session: agents.watchOf(run.id) === undefined && !agents.isAsleep(run.id) ? "ended" : "running",
      marker: false,
    };
  const { processes } = agents.ports;
  const { kind: session } = await processes.look(processName(started));
  if (session !== "ended" || started.mode !== "steps") return { session, marker: false };
  const folder = `${places.runs}/${started.name}`;
  const read = await readTurnOutput(processes, harness, started, folder, Number.MAX_SAFE_INTEGER).end();
  const { spec } = await readOrder(folder);
  return { session, marker: read !== undefined && hasMarker(read.turn.text, spec.marker) };
}
