import type { ServerResponse } from "node:http";
import { join } from "node:path";
import type { Routes } from "../../api/routes.ts";
import type { TaskEvent } from "../../engine/decision.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import { makePrivateFolder } from "../../home/make-folder.ts";
import { publishFile } from "../../home/publish-file.ts";
import type { StoredTask } from "../../ports/store.ts";
import { publishAgents } from "../agents-at-work.ts";
import type { Asked, Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { eventsOf } from "../events-of.ts";
import { leaveWorkspaces } from "../workspaces/release-workspaces.ts";
import { findTask } from "./find-task.ts";
import { haltTask } from "./move-task.ts";

/** Everything that is known about a task, one JSON object a line: the task, its document, then all that happened. */
async function* historyOf({ store }: Core, stored: StoredTask): AsyncGenerator<string> {
  const { id } = stored.task;
  const line = (kind: string, value: object) => `${JSON.stringify({ kind, ...value })}\n`;
  yield line("task", stored);
  yield line("document", await store.getDocument(id));
  for (const artifact of await store.listArtifacts(id)) yield line("artifact", artifact);
  for (const effect of await store.listEffects(id)) yield line("effect", effect);
  const { runs, findings, messages, conversations, usage, merges, pullRequests } = store;
  for (const [kind, of] of Object.entries({ runs, findings, messages, conversations, usage, merges, pullRequests })) {
    for (const each of await of.list({ task: id })) yield line(kind, each);
  }
  for await (const each of eventsOf(store, id))
    yield line("event", { ...each, event: { ...each.event, set: takenAway(each.event.set) } });
}

/** JSON has no `undefined`: null says that something was taken away, so that history can be replayed from the file. */
function takenAway(set: TaskEvent["set"]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(set).map(([key, value]) => [key, value ?? null]));
}

export function exportTask(core: Core) {
  return async (asked: Asked<{ readonly project?: string }, unknown>, response: ServerResponse): Promise<undefined> => {
    const stored = await findTask(core, asked);
    response.writeHead(200, { "content-type": "application/jsonl", "x-content-type-options": "nosniff" });
    for await (const line of historyOf(core, stored)) {
      if (!response.write(line)) await new Promise((resolve) => response.once("drain", resolve).once("close", resolve));
      if (response.destroyed) return undefined;
    }
    response.end();
    return undefined;
  };
}

/** Forgets a task that is over. What was known about it is kept in a file first. */
export function deleteTask(core: Core): Handler<Routes["deleteTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { id, project, number } = stored.task;
    if (stored.isOpen && !(await canBeForgotten(core, stored.task))) throw await inUse(core, stored.task);
    let text = "";
    for await (const line of historyOf(core, stored)) text += line;
    makePrivateFolder(core.places.trash);
    const kept = join(core.places.trash, `${project}-${number}-${id}.jsonl`);
    publishFile(kept, text, { mode: 0o600 });
    const { pools } = core;
    // The folder would be forgotten with the task, and what is in it with the folder.
    const left = await haltTask(core, id, async () => (pools === undefined ? [] : leaveWorkspaces(pools, id)));
    await core.store.deleteTask(id);
    await publishAgents(core);
    core.scheduler.forgot(id);
    core.deadlines.forgot(id);
    core.needs.noticed(id);
    core.log.info("A task was deleted", { task: id, kept, left });
    return { kept, left };
  };
}

async function inUse({ workflows, store }: Core, { id, status, workflowHash }: Task): Promise<Fault> {
  const { states } = await workflows.get(workflowHash);
  if (states[status]?.terminal !== true)
    return new Fault("task.in-use", `The task ${id} is in "${status}" and not over.`, {
      hint: `Cancel it first: signalbox task cancel ${id}`,
    });
  const owed = (await store.openEffects(id)).map(({ effect }) => effect.action);
  const rest = owed.length > 0 ? `: ${owed.join(", ")}` : "";
  const text = `The task ${id} has ended in "${status}". What belongs to its end is still being carried out${rest}.`;
  return new Fault("task.in-use", text, {
    hint: `See what it waits for: signalbox task explain ${id}`,
    retry: "later",
  });
}

/**
 * Whether an open task can go: it has ended and cannot do what belongs to that, or nobody knows its workflow any more. It
 * could neither be cancelled nor go on.
 */
export async function canBeForgotten({ workflows }: Core, task: Task): Promise<boolean> {
  try {
    const { states } = await workflows.get(task.workflowHash);
    return states[task.status]?.terminal === true && task.held !== undefined;
  } catch (error) {
    if (error instanceof Fault && error.code.startsWith("workflow.")) return true;
    throw error;
  }
}
