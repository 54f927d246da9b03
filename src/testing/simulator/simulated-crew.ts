import { readyTickets } from "../../engine/ready-tickets.ts";
import type { Daemon } from "./daemon.ts";
import type { Lots } from "./lots.ts";
import type { World } from "./world.ts";

/** A crew that works tickets off by itself, in a life in which nobody makes tasks. */
export interface SimulatedCrew {
  /** The person makes agents and lets tickets be given to them, again and again until both are so. */
  begin(): void;
  /** Whether there are tickets that wait for an agent. */
  isWanted(): Promise<boolean>;
  /** What must be so once everything has worked for long. */
  check(): Promise<void>;
}

export interface SimulatedCrewPorts {
  readonly world: World;
  readonly lots: Lots;
  daemon(): Daemon | undefined;
  ask(route: string, body: unknown): Promise<unknown>;
  /** At least so many tickets. */
  readonly least?: number | undefined;
}

const promise = "every ticket is given out, to one agent and once";

/** Writes its tickets, some of which wait for others. */
export function createSimulatedCrew({ world, lots, daemon, ask, least = 0 }: SimulatedCrewPorts): SimulatedCrew {
  const { store, tickets, clock } = world;
  const ids = Array.from({ length: Math.max(least, lots.between(2, 4)) }, (_, index) => `c-${index + 1}`);
  for (const [index, id] of ids.entries()) {
    const deps = ids.slice(0, index).filter(() => lots.chance(0.4));
    const fields = [`id: ${id}`, "status: open", `deps: [${deps.join(", ")}]`, `priority: ${lots.between(0, 4)}`];
    tickets.files.set(`${id}.md`, `---\n${fields.join("\n")}\n---\n# Brew ${id}\n`);
  }
  const agents = lots.between(1, 3);
  const tasksOf = async () => (await store.listTasks({}, { limit: 99 })).filter(({ task }) => task.ticket !== "");
  /** Tickets that are ready, and that nobody ever had. */
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
          // The person tries it again.
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

/** No ticket is given to two, or once more, and no task has two agents. Looked at whenever an agent is written. */
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
