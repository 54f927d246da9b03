import { type Draft, endRun, endRuns, startRun, tellRun } from "./draft.ts";
import { specOf } from "./spec-of.ts";
import type { Action, State } from "./workflow.ts";

/** Applies the counters of hooks. They move first, so that a spawn sees the new value. */
export function moveCounters(draft: Draft, hooks: readonly Action[]): void {
  for (const { name, params } of hooks) {
    if (name === "increment") addOne(draft, String(params.field));
    else if (name === "set_field") draft.counters = { ...draft.counters, [String(params.field)]: Number(params.value) };
    else if (name === "spawn_agent" && params.increment !== undefined) addOne(draft, String(params.increment));
  }
}

function addOne(draft: Draft, field: string): void {
  draft.counters = { ...draft.counters, [field]: (draft.counters[field] ?? 0) + 1 };
}

/** Turns hooks into effects, in order. `state` is where the task will be. */
export function addEffects(draft: Draft, state: State, hooks: readonly Action[]): void {
  for (const hook of hooks) addEffect(draft, state, hook);
}

function addEffect(draft: Draft, state: State, hook: Action): void {
  switch (hook.name) {
    case "increment":
    case "set_field":
      return;
    case "spawn_agent":
      if (hook.run === undefined) return;
      // Never a second agent of a role: a live one is told instead.
      if (draft.runs[hook.run.role] !== undefined) tellRun(draft, hook.run, {});
      else startRun(draft, hook.run);
      return;
    case "kill_agent":
      endRun(draft, String(hook.params.role));
      return;
    case "kill_session":
      draft.runs = {};
      draft.sessions = {};
      draft.effects.push({ action: hook.name, params: hook.params });
      return;
    case "notify_agent":
      addNotice(draft, state, hook);
      return;
    case "release_workspace":
      // Another task gets the folder: no run may live in it any more, and no session can be resumed elsewhere.
      endRuns(draft);
      draft.sessions = {};
      draft.effects.push({ action: hook.name, params: hook.params });
      return;
    default:
      draft.effects.push({ action: hook.name, params: hook.params });
  }
}

/** A dead agent cannot be told anything: it is started, and what it should hear is part of its prompt. */
function addNotice(draft: Draft, state: State, { params }: Action): void {
  const role = String(params.role);
  const spec = specOf(draft.workflow, state, role);
  const prompt = params.prompt === undefined ? "" : String(params.prompt);
  const message = params.message === undefined ? "" : String(params.message);
  if (params.steps !== undefined) draft.stepLimit = Number(params.steps);
  if (draft.runs[role] !== undefined) tellRun(draft, spec, { prompt, message });
  else if (draft.sessions[role] !== undefined && spec.mode !== "session") startRun(draft, spec, { prompt, message });
  else startRun(draft, spec, { prompt: prompt || respawnPrompt(state, role) || spec.prompt, message });
}

/** A message needs the whole picture around it; a prompt stands alone. */
function respawnPrompt(state: State, role: string): string | undefined {
  return state.respawn?.role === role ? state.respawn.prompt : undefined;
}
