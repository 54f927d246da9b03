import { createTask } from "../../engine/create.ts";
import { blankIdentity } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Daemon } from "./daemon.ts";
import type { World } from "./world.ts";

/** Whoever's task was not confirmed creates it again. */
export async function create(world: World, id: string, daemonNow: () => Daemon | undefined): Promise<void> {
  const daemon = daemonNow();
  const again = () => void world.clock.after(2_000, () => void create(world, id, daemonNow));
  if ((await world.store.getTask(id)) !== undefined) return;
  if (daemon === undefined) return again();
  world.clock.after(30_000, () => void create(world, id, daemonNow));
  try {
    const { core } = daemon;
    await core.workflows.keep(world.workflow, world.text);
    const identity = {
      ...blankIdentity,
      id,
      project: "coffee",
      summary: `Brew ${id}`,
      branch: `signalbox/${id}`,
      harness: "simulated",
      ticket: ticketOf(world, id),
    };
    const facts = { ...(await core.factsOf(identity as never)), poolFull: await core.scheduler.isFull("coffee", "") };
    const stored = await core.store.createTask("coffee", (number) => {
      const decision = createTask(world.workflow, { ...identity, number, workflow: world.workflow.name }, facts);
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

/** Tasks are made from tickets where the workflow closes them. */
function ticketOf(world: World, task: string): string {
  if (!closesTickets(world)) return "";
  const { tickets } = world;
  const id = `c-${task}`;
  if (!tickets.files.has(`${id}.md`))
    tickets.files.set(`${id}.md`, `---\nid: ${id}\nstatus: open\n---\n# Brew ${task}\n`);
  return id;
}
