import { type Application, proposeCompletions } from "@stricli/core";
import type { Call } from "../api/client.ts";
import { routes } from "../api/routes.ts";
import { listWorkflows } from "../home/workflows.ts";
import { callRunning } from "./connect.ts";
import type { Context } from "./context.ts";
import { projectHere, shownTask, statesHere } from "./find.ts";
import { shownRun } from "./tables.ts";

/** Called by the scripts of `signalbox completion`: prints the completions of the last word, one on each line. */
export async function offerCompletions(app: Application<Context>, words: readonly string[], context: Context) {
  const wantsFlag = words.at(-1)?.startsWith("-") ?? false;
  for (const { completion } of await proposeCompletions(app, words, context)) {
    if (completion !== "--" && (wantsFlag || !completion.startsWith("-"))) context.print(completion);
  }
}

/** The completions for a workflow. */
export function offerWorkflows(this: Context): readonly string[] {
  return listWorkflows(this).map(({ name }) => name);
}

/** Names that only the daemon knows. Completion does not start it, because the person is waiting. */

export function offerProjects(this: Context): Promise<readonly string[]> {
  return ask(this, async (call) => (await call(routes.listProjects)).projects.map(({ name }) => name));
}

/** Tasks by id and by number, open ones first; only of this folder's project, if it is in one. */
export function offerTasks(this: Context): Promise<readonly string[]> {
  return ask(this, async (call) => {
    const project = await projectHere(call);
    const query = { limit: "200", ...(project === undefined ? {} : { project: project.name }) };
    const { tasks: open } = await call(routes.listTasks, { query: { ...query, open: "true" } });
    const { tasks: over } = await call(routes.listTasks, { query: { ...query, open: "false", limit: "50" } });
    return [...open, ...over].flatMap((task) => [task.id, shownTask(task)]);
  });
}

/** The states of the workflow that new tasks get here. */
export function offerStates(this: Context): Promise<readonly string[]> {
  return ask(this, async (call) => statesHere(this, await projectHere(call)));
}

export function offerSalvage(this: Context): Promise<readonly string[]> {
  return ask(this, async (call) => (await call(routes.listSalvage, { query: {} })).salvaged.map(({ ref }) => ref));
}

export function offerHarnesses(this: Context): Promise<readonly string[]> {
  return ask(this, async (call) => (await call(routes.listHarnesses, { query: {} })).harnesses.map(({ name }) => name));
}

/** Working runs, as `agent ps` shows them. */
export function offerRuns(this: Context): Promise<readonly string[]> {
  return ask(this, async (call) => (await call(routes.listRuns, { query: {} })).runs.map(shownRun));
}

/** It prints no messages either, because they would appear in the middle of the person's typing. */
async function ask(
  { home, process }: Context,
  question: (call: Call) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  try {
    return (await callRunning({ home, process }, question)) ?? [];
  } catch {
    // An error would only disturb the completion.
    return [];
  }
}
