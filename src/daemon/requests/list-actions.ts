import type { Routes } from "../../api/routes.ts";
import type { Surroundings } from "../../engine/allowance.ts";
import { personActions } from "../../engine/person-actions.ts";
import type { Task } from "../../engine/task.ts";
import type { Run } from "../../ports/records.ts";
import { lifeOf } from "../agents/life-of.ts";
import { isWanted } from "../agents/start-run.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { remoteOf } from "../remote-of.ts";
import { viewOf } from "../views.ts";
import { findTask } from "./find-task.ts";

/** What a person can do with a task. Nothing is tried: each is asked of the engine, and its answer thrown away. */
export function listActions(core: Core): Handler<Routes["listActions"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { workflow, facts } = await core.lookFor(stored.task);
    const around = await surroundings(core, stored.task, facts.head);
    return {
      task: await viewOf(core, stored),
      actions: personActions(workflow, stored.task, facts, around).map((each) => ({ ...each })),
    };
  };
}

async function surroundings(core: Core, task: Task, head: string): Promise<Surroundings> {
  const { store } = core;
  const runs = (await store.runs.list({ task: task.id })).filter(({ started }) => started !== undefined);
  const alive = aliveOf(task, runs);
  const merge = await store.merges.get(task.id);
  const isMerging = merge?.state === "lined-up" || merge?.state === "waits";
  return {
    terminals: inTerminals(core, task, alive),
    alive: alive.map(({ key }) => key),
    hasWorked: runs.length > 0,
    hasFailed: (await store.openEffects(task.id)).some(({ state }) => state === "failed"),
    isMerging: isMerging && task.phase !== "over",
    hasWork: head !== "" || task.workspace !== "" || merge !== undefined,
    hasRemote: await hasRemote(core, task.project),
  };
}

function aliveOf(task: Task, runs: readonly Run[]): readonly Run[] {
  return runs.filter(
    ({ endedAt, key, started }) => started !== undefined && endedAt === undefined && isWanted(task, key),
  );
}

function inTerminals({ agents }: Core, task: Task, alive: readonly Run[]): readonly string[] {
  return alive
    .filter(({ started, key }) => started?.mode === "session" && lifeOf(agents, task.id, key) === "alive")
    .map(({ key }) => key);
}

/** Whether an agent of the task sits in a terminal, where it can be talked to. */
export async function hasTerminal(core: Core, task: Task): Promise<boolean> {
  return inTerminals(core, task, aliveOf(task, await core.store.runs.list({ task: task.id }))).length > 0;
}

/** Where that cannot be told, asking for a pull request tells it. */
async function hasRemote({ git, store }: Core, name: string): Promise<boolean> {
  const project = await store.getProject(name);
  if (git === undefined || project === undefined) return false;
  return remoteOf(git, project).then(
    (remote) => remote !== undefined,
    () => true,
  );
}
