import type { Request } from "./request.ts";
import type { Task } from "./task.ts";
import type { Workflow } from "./workflow.ts";

/**
 * What starts a task in a state without a slot; undefined where the state has one. A workflow in the manner of seed 001 has no such wait: there a task that has
 * never started goes along the first way that takes a workspace.
 */
export function startOf(workflow: Workflow, task: Task): StartRequest | undefined {
  const state = workflow.states[task.status];
  if (state === undefined) return undefined;
  if (state.wait.kind === "slot") return { kind: "continue", actor: engine };
  if (state.wait.kind !== "open" || state.name !== workflow.initial[0] || task.runCount > 0) return undefined;
  const ways = Object.values(state.out).flat();
  const way = ways.find(
    ({ by, hooks }) =>
      (by === undefined || by.includes("engine")) && hooks.some(({ name }) => name === "acquire_workspace"),
  );
  return way && { kind: "move", to: way.to, actor: engine };
}

export type StartRequest = Extract<Request, { kind: "continue" | "move" }>;

const engine = { role: "engine" };
