import { Refusal } from "../api/error.ts";
import { actions } from "../engine/actions/index.ts";
import type { Decision } from "../engine/decision.ts";
import { buildPrompt } from "../engine/prompt.ts";
import type { Actor } from "../engine/request.ts";
import type { Task } from "../engine/task.ts";
import type { Workflow } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";
import type { StoredEffect } from "../ports/store.ts";
import { reportEnd } from "./agents/report-end.ts";
import type { Core } from "./core.ts";
import { chooseWorkflow } from "./requests/choose-workflow.ts";
import { configFor } from "./requests/create-task.ts";
import { mustHave } from "./requests/projects.ts";

/** The engine as seed 001 describes it: the same core behind six functions. */
export interface WorkflowEngine {
  /** The workflow of a project's new tasks. */
  loadWorkflow(projectName: string): Promise<Workflow>;
  /** Asks for a state, and comes back when the hooks of the way have been carried out or have failed. */
  transition(task: Task, to: string, deps: Deps): Promise<TransitionResult>;
  /** Whether the workflow that was loaded last has such a transition. */
  hasTransition(from: string, to: string): boolean;
  /** Brings a dead agent back in place; throws where that is refused. */
  respawn(task: Task, deps: Deps): Promise<void>;
  /** The task's live runs have ended without a word: the workflow's rules say what follows. */
  handleDeadSession(task: Task, deps: Deps): Promise<void>;
  /** A prompt of the workflow that was loaded last, for a task. */
  buildPrompt(task: Task, promptKey: string): string;
}

export interface Deps {
  /** Who asks. */
  readonly actor: Actor;
}

export interface TransitionResult {
  readonly success: boolean;
  readonly error?: string;
  readonly hooksExecuted: string[];
  readonly hookErrors: string[];
}

export function createWorkflowEngine(core: Core): WorkflowEngine {
  let loaded: Workflow | undefined;
  return {
    async loadWorkflow(projectName) {
      const project = await mustHave(core, projectName);
      const chosen = await chooseWorkflow(core, project, configFor(core, project).workflow.value);
      await core.workflows.keep(chosen.workflow, chosen.text);
      loaded = chosen.workflow;
      return loaded;
    },
    async transition({ id }, to, { actor }) {
      const before = await core.store.lastEvent();
      const { decision } = await core.submit(id, { kind: "move", to, actor });
      if (decision.kind === "rejected") return refused(decision.reasons.map(({ text }) => text).join("\n"));
      if (decision.kind === "ignored") return refused(decision.why);
      return { success: true, ...(await hooksOf(core, id, decision, before)) };
    },
    hasTransition(from, to) {
      const state = loaded?.states[from];
      return state !== undefined && Object.hasOwn(state.out, to);
    },
    async respawn({ id }, { actor }) {
      const { decision } = await core.submit(id, { kind: "respawn", actor });
      if (decision.kind === "rejected") throw new Refusal(decision.reasons);
    },
    async handleDeadSession({ id }) {
      const stored = await core.store.getTask(id);
      for (const { key } of Object.values(stored?.task.runs ?? {})) await reportEnd(core, id, key, { word: "exit" });
    },
    buildPrompt(task, promptKey) {
      if (loaded === undefined) throw new Fault("workflow.missing", "No workflow has been loaded yet.");
      const built = buildPrompt(loaded, task, promptKey, { cli: "signalbox", task_file: "TASK.md" });
      if (built.ok) return built.text;
      throw new Fault("workflow.invalid", built.problem);
    },
  };
}

function refused(error: string): TransitionResult {
  return { success: false, error, hooksExecuted: [], hookErrors: [] };
}

type Granted = Extract<Decision, { kind: "moved" | "stayed" }>;

const pause = 10;

/** What became of the effects of a decision. One that has failed keeps those after it from being carried out. */
async function hooksOf(
  core: Core,
  task: string,
  { task: { entry }, effects }: Granted,
  before: number,
): Promise<Pick<TransitionResult, "hooksExecuted" | "hookErrors">> {
  for (;;) {
    // What a state does by itself comes later in the same stay, and belongs to no transition.
    const own = (await core.store.listEffects(task)).filter((each) => each.entry === entry).slice(0, effects.length);
    const end = own.findIndex(({ state }) => state !== "done");
    const last = own[end];
    if (last?.state === "owed") {
      await new Promise<void>((resolve) => core.clock.after(pause, resolve));
      continue;
    }
    const done = end < 0 ? own : own.slice(0, end);
    const passedOver = await failedNotes(core, task, before);
    return {
      hooksExecuted: done.filter(({ effect }) => !passedOver.has(effect.action)).map(({ effect }) => effect.action),
      hookErrors: [
        ...done.flatMap(({ effect }) => passedOver.get(effect.action) ?? []),
        ...(last === undefined ? [] : [whyNot(last)]),
      ],
    };
  }
}

/** Hooks that nothing depends on are ticked off although they failed; history says so. */
async function failedNotes({ store }: Core, task: string, before: number): Promise<ReadonlyMap<string, string>> {
  const events = await store.listEvents({ task }, before, 1_000);
  const notes = new Map<string, string>();
  for (const { event } of events) {
    const action = String(event.data.action);
    if (event.type === "effect.failed" && actions[action]?.holds === false)
      notes.set(action, `${action}: ${event.data.reason}`);
  }
  return notes;
}

function whyNot({ effect, state, failure }: StoredEffect): string {
  const why = state === "dropped" ? "The task has moved on." : (failure?.reason ?? "");
  return `${effect.action}: ${why}`;
}
