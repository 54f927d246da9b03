import { createTask } from "../../src/engine/create.ts";
import { blankIdentity } from "../../src/engine/task.ts";
import { Fault } from "../../src/fault.ts";
import { readyTickets } from "../../src/tickets/ready-tickets.ts";
import type { Daemon } from "./daemon.ts";
import type { Wanted } from "./team.ts";
import type { Lots, World } from "./world.ts";

/** A crew that works through tickets by itself, in a life in which the person creates no tasks. */
export interface SimulatedCrew {
  /** The person creates agents and starts the crew, and repeats both until they succeed. */
  begin(): void;
  /** Whether tickets wait for an agent. */
  isWanted(): Promise<boolean>;
  /** Checks the state after everything has worked for long. */
  check(): Promise<void>;
}

export interface SimulatedCrewPorts {
  readonly world: World;
  readonly lots: Lots;
  daemon(): Daemon | undefined;
  ask(route: string, body: unknown): Promise<unknown>;
  /** The minimum number of tickets. */
  readonly minTickets?: number | undefined;
}

const promise = "every ticket is given out, to one agent and once";

/** Writes its tickets, some of which depend on others. */
export function createSimulatedCrew({ world, lots, daemon, ask, minTickets = 0 }: SimulatedCrewPorts): SimulatedCrew {
  const { store, tickets, clock } = world;
  const ids = Array.from({ length: Math.max(minTickets, lots.between(2, 4)) }, (_, index) => `c-${index + 1}`);
  for (const [index, id] of ids.entries()) {
    const deps = ids.slice(0, index).filter(() => lots.chance(0.4));
    const fields = [`id: ${id}`, "status: open", `deps: [${deps.join(", ")}]`, `priority: ${lots.between(0, 4)}`];
    tickets.files.set(`${id}.md`, `---\n${fields.join("\n")}\n---\n# Brew ${id}\n`);
  }
  const agents = lots.between(1, 3);
  const tasksOf = async () => (await store.listTasks({}, { limit: 99 })).filter(({ task }) => task.ticket !== "");
  /** Ready tickets that were never given out. */
  const waiting = async () => {
    const given = new Set((await tasksOf()).map(({ task }) => task.ticket));
    return readyTickets((await tickets.list()).tickets).filter(({ id, status }) => status === "open" && !given.has(id));
  };
  const idle = async () => {
    const open = new Set((await tasksOf()).flatMap((each) => (each.isOpen ? [each.task.id] : [])));
    return (await store.agents.list({})).filter(({ task }) => !open.has(task));
  };
  return {
    begin() {
      clock.after(5_000, () => void this.begin());
      void (async () => {
        try {
          if ((await store.agents.list({})).length < agents) await ask("addAgents", { project: "coffee", count: 1 });
          else if (daemon() !== undefined && daemon()?.core.crew.of("coffee") === undefined)
            await ask("runCrew", { most: 3, workflow: world.workflow.name });
        } catch {
          // The person retries.
        }
      })();
    },
    isWanted: async () => (await waiting()).length > 0,
    async check() {
      const all = await tasksOf();
      for (const { id, taking = "" } of await store.agents.list({}))
        if (taking !== "") world.violate(promise, `${id} is still about to take ${taking}.`);
      const left = await waiting();
      const room = 3 - all.filter(({ isOpen }) => isOpen).length;
      if (left.length > 0 && room > 0 && (await idle()).length > 0)
        world.violate(promise, `${left[0]?.id} is ready, and nobody has it.`);
    },
  };
}

/** No ticket is given out twice, and no task has two agents. Checked whenever an agent is written. */
export async function checkAgents({ store, violate }: World): Promise<void> {
  const tasks = (await store.listTasks({}, { limit: 99 })).map(({ task }) => task);
  const agents = await store.agents.list({});
  for (const { id, ticket } of tasks) {
    const owners = agents.filter(({ task }) => task === id);
    if (owners.length > 1) violate(promise, `${id} has ${owners.length} agents.`);
    const same = tasks.filter((each) => ticket !== "" && each.ticket === ticket);
    if (same.length > 1) violate(promise, `${same.length} tasks were made from ${ticket}.`);
  }
}

/** The person creates a task again if its creation was not confirmed. */
export async function create(world: World, wanted: Wanted, daemonNow: () => Daemon | undefined): Promise<void> {
  const daemon = daemonNow();
  const { id, parent = "", settings = {} } = wanted;
  const { workflow, text } = wanted.other ?? world;
  const again = () => void world.clock.after(2_000, () => void create(world, wanted, daemonNow));
  if ((await world.store.getTask(id)) !== undefined) return;
  if (daemon === undefined) return again();
  world.clock.after(30_000, () => void create(world, wanted, daemonNow));
  try {
    const { core } = daemon;
    await core.workflows.keep(workflow, text);
    const identity = {
      ...blankIdentity,
      id,
      project: "coffee",
      summary: `Brew ${id}`,
      branch: `signalbox/${id}`,
      harness: "simulated",
      parent,
      ticket: ticketOf(world, id),
    };
    const facts = { ...(await core.factsOf(identity as never)), poolFull: await core.scheduler.isFull("coffee", "") };
    const stored = await core.store.createTask("coffee", (number) => {
      const decision = createTask(workflow, { ...identity, number, workflow: workflow.name, settings }, facts);
      if (decision.kind !== "moved") throw new Fault("task.invalid", "It cannot be created.");
      const { task, events, effects } = decision;
      return { task, document: { text: "", authors: {} }, events, effects, at: core.clock.now() };
    });
    core.changed(stored);
  } catch {
    again();
  }
}

export function closesTickets({ workflow }: World): boolean {
  return workflow.ways.some(({ hooks }) => hooks.some(({ name }) => name === "close_ticket"));
}

/** Tasks are made from tickets if the workflow closes tickets. */
function ticketOf(world: World, task: string): string {
  if (!closesTickets(world)) return "";
  const { tickets } = world;
  const id = `c-${task}`;
  if (!tickets.files.has(`${id}.md`))
    tickets.files.set(`${id}.md`, `---\nid: ${id}\nstatus: open\n---\n# Brew ${task}\n`);
  return id;
}
