import { actions } from "./actions/index.ts";
import type { Decision, Effect } from "./decision.ts";
import type { Facts } from "./request.ts";
import type { Workflow } from "./workflow.ts";

/**
 * Makes sure that everything a decision owes happens in a workspace: where the task has none by then, the engine acquires
 * one first, whether or not the file says so. A task that ends gives such a workspace back.
 */
export function withWorkspace(workflow: Workflow, decision: Decision, facts: Facts): Decision {
  if (decision.kind !== "moved" && decision.kind !== "stayed") return decision;
  const effects = inWorkspace(decision.effects, hasWorkspace(facts));
  if (effects === decision.effects) return decision;
  const isOver = workflow.states[decision.task.status]?.terminal === true;
  const isKept = isOver && workspaceAfter(false, effects);
  return { ...decision, effects: isKept ? [...effects, { action: "release_workspace", params: {} }] : effects };
}

/** Whether the task will have a workspace once what it owes already has been carried out. */
export function hasWorkspace({ willHaveWorkspace, numbers }: Pick<Facts, "willHaveWorkspace" | "numbers">): boolean {
  return willHaveWorkspace ?? numbers.workspace !== 0;
}

/** Whether carrying these effects out takes a workspace that the task does not have. */
export function takesWorkspace(effects: readonly Effect[], facts: Facts): boolean {
  const has = hasWorkspace(facts);
  return !has && inWorkspace(effects, has).some(({ action }) => action === "acquire_workspace");
}

export function workspaceAfter(before: boolean, effects: readonly Pick<Effect, "action">[]): boolean {
  const last = effects.findLast(({ action }) => action === "acquire_workspace" || action === "release_workspace");
  return last === undefined ? before : last.action === "acquire_workspace";
}

function inWorkspace(effects: readonly Effect[], before: boolean): readonly Effect[] {
  let has = before;
  let all: Effect[] | undefined;
  for (const [i, effect] of effects.entries()) {
    if (!has && actions[effect.action]?.inWorkspace === "always") {
      all ??= effects.slice(0, i);
      all.push({ action: "acquire_workspace", params: {} });
      has = true;
    }
    has = workspaceAfter(has, [effect]);
    all?.push(effect);
  }
  return all ?? effects;
}
