import { apply } from "../decision.ts";
import type { Step } from "../explore/step.ts";
import type { Taken, World } from "../explore/world.ts";
import type { Workflow } from "../workflow.ts";

/** What must hold for every step of every task, whatever the workflow. */
export function violationsOf(workflow: Workflow, before: World, step: Step, taken: Taken): readonly string[] {
  const broken: string[] = [];
  const { task } = taken.world;
  const from = before.task.status;

  let replayed = before.task;
  for (const event of taken.events) replayed = apply(replayed, event);
  if (!sameTask(replayed, task)) broken.push(`Replaying the events of "${step.what}" in "${from}" gives another task.`);
  if (workflow.states[task.status] === undefined) broken.push(`"${task.status}" is no state.`);
  if (workflow.states[from]?.terminal && task.status !== from) broken.push(`A task left "${from}", which is terminal.`);

  const moves = taken.events.filter((event) => event.type === "task.moved");
  if (task.entry !== before.task.entry + moves.length) broken.push("The stays of the task are counted wrong.");
  for (const move of moves) {
    const isKnown = workflow.ways.some((way) => way.from === move.data.from && way.to === move.data.to);
    if (!isKnown)
      broken.push(`A task went from "${String(move.data.from)}" to "${String(move.data.to)}", where there is no way.`);
  }
  broken.push(...runViolations(before, taken));
  return broken;
}

/** At most one live run of a role, and none that nobody started. */
function runViolations(before: World, taken: Taken): readonly string[] {
  const broken: string[] = [];
  const alive = new Set(Object.values(before.task.runs).map((run) => run.key));
  for (const { events, effects } of taken.decisions) {
    for (const event of events) {
      if (event.type === "agent.ended" && typeof event.data.run === "string") alive.delete(event.data.run);
    }
    for (const { action, agent, params } of effects) {
      if (action === "kill_session") alive.clear();
      if (action === "kill_agent") alive.delete(String(params.run));
      if (action !== "spawn_agent" || agent === undefined) continue;
      const name = agent.run.split("#")[0];
      if ([...alive].some((key) => key.split("#")[0] === name)) broken.push(`A second ${agent.role} was started.`);
      alive.add(agent.run);
    }
  }
  const runs = Object.values(taken.world.task.runs).map((run) => run.key);
  for (const key of runs) if (!alive.has(key)) broken.push(`The run ${key} is taken for live, but nobody started it.`);
  for (const key of alive)
    if (!runs.includes(key)) broken.push(`The run ${key} is live, but the task has forgotten it.`);
  return broken;
}

function sameTask(a: object, b: object): boolean {
  const keys = Object.keys(b) as (keyof typeof b)[];
  return keys.every((key) => a[key] === b[key]);
}
