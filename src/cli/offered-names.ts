import type { Call } from "../api/client.ts";
import { routes } from "../api/routes.ts";
import { shownRun } from "./agent-table.ts";
import { callRunning } from "./connect.ts";
import type { Context } from "./context.ts";
import { projectHere } from "./find-project.ts";
import { shownTask } from "./name-task.ts";
import { statesHere } from "./states-here.ts";

/** Names that only the daemon knows. It is not started for them: whoever presses Tab waits. */

export function projectNames(context: Context): Promise<readonly string[]> {
  return ask(context, async (call) => (await call(routes.listProjects)).projects.map(({ name }) => name));
}

/** Tasks by id and by number, those that are open first; of this folder's project where it is in one. */
export function taskNames(context: Context): Promise<readonly string[]> {
  return ask(context, async (call) => {
    const project = await projectHere(call);
    const query = { limit: "200", ...(project === undefined ? {} : { project: project.name }) };
    const { tasks: open } = await call(routes.listTasks, { query: { ...query, open: "true" } });
    const { tasks: over } = await call(routes.listTasks, { query: { ...query, open: "false", limit: "50" } });
    return [...open, ...over].flatMap((task) => [task.id, shownTask(task)]);
  });
}

/** The states of the workflow that new tasks get here. */
export function stateNames(context: Context): Promise<readonly string[]> {
  return ask(context, async (call) => statesHere(context, await projectHere(call)));
}

export function salvageNames(context: Context): Promise<readonly string[]> {
  return ask(context, async (call) => (await call(routes.listSalvage, { query: {} })).salvaged.map(({ ref }) => ref));
}

export function harnessNames(context: Context): Promise<readonly string[]> {
  return ask(context, async (call) =>
    (await call(routes.listHarnesses, { query: {} })).harnesses.map(({ name }) => name),
  );
}

/** Runs that are at work, as `agent ps` shows them. */
export function runNames(context: Context): Promise<readonly string[]> {
  return ask(context, async (call) => (await call(routes.listRuns, { query: {} })).runs.map(shownRun));
}

async function ask(context: Context, question: (call: Call) => Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return (await callRunning(context, question)) ?? [];
  } catch {
    // Whoever completes a word has no use for an error.
    return [];
  }
}
