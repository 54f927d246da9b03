import { type AgentSight, reconcileAgent, recordedState } from "../../engine/agent-state.ts";
import type { Task } from "../../engine/task.ts";
import type { Agent, Run } from "../../ports/records.ts";
import { readOrder } from "../agents/harness-order.ts";
import { hasMarker } from "../agents/read-turn.ts";
import { processName } from "../agents/run-name.ts";
import { readTurnOutput } from "../agents/turn-reading.ts";
import type { Core } from "../core.ts";
import { eventsOf } from "../events-of.ts";

/** Finds out how an agent really is, after a start or where its folder is gone, and lets its task go on from there. */
export async function takeUpAgent(core: Core, agent: Agent): Promise<void> {
  const stored = agent.task === "" ? undefined : await core.store.getTask(agent.task);
  if (!stored?.isOpen) return;
  const { task } = stored;
  const sight = await seeAgent(core, task);
  const { state, act } = reconcileAgent(sight);
  core.log.info("An agent was found", { agent: agent.id, task: task.id, ...sight, state, act });
  if (act === "go-on") core.performer.wake(task.id);
  if (act !== "begin-again") return;
  const [first = ""] = (await core.workflows.get(task.workflowHash)).initial;
  // An agent that takes its own folder away each time would go on for ever.
  if ((await timesMoved(core, task.id, first)) >= mostBeginnings) return;
  const { decision } = await core.submit(task.id, { kind: "move", to: first, actor: { role: "engine" } });
  if (decision.kind !== "rejected") return;
  const reasons = decision.reasons.map(({ text }) => text);
  core.log.warn("The workspace of an agent is gone, and its task cannot begin again", { task: task.id, reasons });
}

const mostBeginnings = 2;

/** How often the engine itself has put a task back to a state. */
async function timesMoved({ store }: Core, task: string, to: string): Promise<number> {
  let count = 0;
  for await (const { event } of eventsOf(store, task))
    if (event.type === "task.moved" && event.by === "engine" && event.data.to === to) count++;
  return count;
}

async function seeAgent(core: Core, task: Task): Promise<AgentSight> {
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
    ...(last === undefined ? { session: "absent", marker: false } : await seeRun(core, last)),
  };
}

/** Whether its program lives and, where it has ended, whether the last thing that it said was that all is done. */
async function seeRun({ agents, places }: Core, run: Run): Promise<Pick<AgentSight, "session" | "marker">> {
  const { started, harness: name } = run;
  const harness = agents?.ports.harnesses().get(name);
  if (agents === undefined || started === undefined || harness === undefined)
    return { session: "absent", marker: false };
  // In a terminal it is whoever looks after it that knows.
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
