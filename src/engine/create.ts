import { apply, type Decision, type TaskEvent } from "./decision.ts";
import { startDraft, startRun } from "./draft.ts";
import { arrive, stateOf } from "./enter.ts";
import { noWorkspace } from "./gate.ts";
import { moveCounters } from "./hooks.ts";
import { settingProblem } from "./language/read-settings.ts";
import { rejected } from "./move.ts";
import type { Facts } from "./request.ts";
import { noProgress, type Task, type TaskIdentity } from "./task.ts";
import type { Settings, Way, Workflow } from "./workflow.ts";
import { takesWorkspace, withWorkspace } from "./workspace-order.ts";

export interface Creation extends TaskIdentity {
  /** Where to start; undefined for the workflow's own choice. */
  readonly status?: string;
  readonly preset?: string;
  readonly settings?: Settings;
}

/**
 * Creates a task. Asked to start elsewhere than at the beginning, it performs the hooks of the way there; where there is
 * no such way it takes a workspace and starts the state's agent itself.
 */
export function createTask(workflow: Workflow, creation: Creation, facts: Facts): Decision {
  const { status: asked, preset = "", settings = {}, ...identity } = creation;
  const first = workflow.initial[0] ?? "";
  const status = asked ?? (identity.summary.trim() === "" ? workflow.unclear : first);
  const refusal = creationProblem(workflow, status, preset, settings);
  if (refusal !== undefined) return rejected(refusal);

  const blank = blankTask(workflow, identity, first, preset, settings);
  const state = stateOf(workflow, status);
  const draft = startDraft(workflow, blank, status);
  const direct = status === first ? { hooks: [] } : workflow.states[first]?.out[status]?.[0];
  const set =
    direct === undefined ? arriveDirectly(draft, status, workflow, facts) : arrive(draft, state, direct, facts, true);
  const event: TaskEvent = {
    type: "task.created",
    by: "human",
    data: { status, workflow: identity.workflow },
    set: { ...blank, ...set, previousStatus: "" },
  };
  const created: Decision = { kind: "moved", task: apply(blank, event), events: [event], effects: draft.effects };
  // A task that begins at the beginning waits for its workspace there. Who asks for more is told at once that it is not to be had.
  if (facts.poolFull && status !== first && takesWorkspace(draft.effects, facts)) return rejected(noWorkspace);
  return withWorkspace(workflow, created, facts);
}

function arriveDirectly(
  draft: ReturnType<typeof startDraft>,
  status: string,
  workflow: Workflow,
  facts: Facts,
): Partial<Task> {
  const state = stateOf(workflow, status);
  // The counters of an ordinary arrival hold here too: a reviewer started this way is round 1.
  const usual: Way | undefined = workflow.ways.find((way) => way.to === status && way.implied === undefined);
  draft.effects.push({ action: "acquire_workspace", params: {} });
  moveCounters(draft, usual?.hooks ?? []);
  if (state.respawn !== undefined && state.wait.kind === "open") startRun(draft, state.respawn);
  return arrive(draft, state, { hooks: [] }, facts, true);
}

function creationProblem(workflow: Workflow, status: string, preset: string, settings: Settings) {
  if (workflow.states[status] === undefined) {
    return {
      code: "no-such-state" as const,
      text: `The workflow "${workflow.name}" has no state "${status}".`,
      fix: `Start in ${workflow.initial.join(", ")}.`,
    };
  }
  if (!workflow.initial.includes(status) && status !== workflow.unclear) {
    return {
      code: "not-allowed" as const,
      text: `No task can start in "${status}".`,
      fix: `Start in ${workflow.initial.join(", ")}.`,
    };
  }
  if (preset !== "" && workflow.presets[preset] === undefined) {
    const known = Object.keys(workflow.presets);
    return {
      code: "bad-value" as const,
      text: `There is no preset "${preset}".`,
      fix: known.length > 0 ? `Presets: ${known.join(", ")}.` : "This workflow has none.",
    };
  }
  for (const [name, value] of Object.entries(settings)) {
    const setting = workflow.settings[name];
    const text = setting === undefined ? `There is no setting "${name}".` : settingProblem(name, setting, value);
    if (text !== undefined)
      return {
        code: "bad-value" as const,
        text,
        fix: `Settings: ${Object.keys(workflow.settings).join(", ") || "this workflow has none"}.`,
      };
  }
  return undefined;
}

function blankTask(
  workflow: Workflow,
  identity: TaskIdentity,
  first: string,
  preset: string,
  settings: Settings,
): Task {
  return {
    ...identity,
    workflowHash: workflow.hash,
    preset,
    settings,
    status: first,
    previousStatus: "",
    entry: 0,
    phase: "entering",
    counters: {},
    crashCount: 0,
    visits: {},
    runs: {},
    sessions: {},
    runCount: 0,
    spent: { sections: [], head: "" },
    results: {},
    wait: noProgress,
    attended: false,
    held: undefined,
    reason: "",
    log: [],
  };
}
