import { parseTaskDocument, type TaskDocument } from "../../documents/task-document.ts";
import { actions } from "../actions.ts";
import { decideWithoutPromises } from "../decide.ts";
import type { Decision, Effect, TaskEvent } from "../decision.ts";
import { workspaceAfter } from "../enter.ts";
import { brokenPromise } from "../promises.ts";
import { deedOf, noteProofs } from "../proofs.ts";
import type { Facts } from "../request.ts";
import type { Task } from "../task.ts";
import { resolve } from "../when.ts";
import type { AuthorsPromise, Workflow } from "../workflow.ts";
import { requestOf, type Step } from "./step.ts";

/** A task and the few facts outside of it that decisions depend on. */
export interface World {
  readonly task: Task;
  readonly workspace: boolean;
  /** The body of the task file, by heading. */
  readonly sections: Readonly<Record<string, string>>;
  readonly past: Past;
}

/** What has happened to a task, as far as it decides which facts can hold. */
export interface Past {
  /** A run was started, so the branch may have commits. */
  readonly ran: boolean;
  /** A fan-out has made children. */
  readonly fanned: boolean;
  /** A review has reported findings. */
  readonly reviewed: boolean;
  /** The last decision has effects that may fail and hold the task. */
  readonly owes: boolean;
}

export const noPast: Past = { ran: false, fanned: false, reviewed: false, owes: false };

export type Changed = Extract<Decision, { kind: "moved" | "stayed" }>;

export interface Taken {
  readonly world: World;
  readonly kind: "moved" | "stayed";
  readonly events: readonly TaskEvent[];
  readonly effects: readonly Effect[];
  /** One for a plain step; several for a step that repeats. */
  readonly decisions: readonly Changed[];
  /** The promise that the step breaks: the daemon would not make it. Missing where it breaks none, and while exploring. */
  readonly broken?: AuthorsPromise;
}

/** A bound for steps that repeat: an idle agent is reminded a few times, a stepped run takes its steps. */
const maxRepeats = 1_000_000;

/** Takes one step; undefined where it is refused or ignored. Effects succeed immediately. A promise that it breaks is only told. */
export function takeStep(workflow: Workflow, world: World, step: Step): Taken | undefined {
  let broken: AuthorsPromise | undefined;
  const note: Note = (before, decision, facts) => {
    if (decision.kind !== "moved" && decision.kind !== "stayed") return decision;
    const deed = deedOf(workflow, before, decision.events, facts);
    const noted = noteProofs(deed, decision);
    broken ??= brokenPromise(deed, noted.task);
    return noted;
  };
  const look: Look = (now) => {
    const sections = step.sections === undefined ? now.sections : { ...now.sections, ...step.sections };
    return { sections, facts: factsOf({ ...now, sections }, step) };
  };
  const taken = repeatStep(workflow, world, step, look, workflow.promises.length === 0 ? undefined : note);
  return taken === undefined || broken === undefined ? taken : { ...taken, broken };
}

/** Notes what a decision means for the promises of the workflow. */
type Note = (before: Task, decision: Decision, facts: Facts) => Decision;

/** What a step sees of the world each time that it repeats. */
type Look = (now: World) => { readonly facts: Facts; readonly sections: World["sections"] };

export function repeatStep(
  workflow: Workflow,
  world: World,
  step: Step,
  look: Look,
  note: Note = (_, decision) => decision,
): Taken | undefined {
  let now = world;
  const decisions: Changed[] = [];
  for (let i = 0; i < maxRepeats; i++) {
    const { facts, sections } = look(now);
    const decision = note(now.task, decideWithoutPromises(workflow, now.task, requestOf(step, now.task), facts), facts);
    if (decision.kind === "rejected" || decision.kind === "ignored") break;
    decisions.push(decision);
    now = worldAfter(sections === now.sections ? now : { ...now, sections }, decision);
    if (decision.kind === "moved") return takenWith(now, "moved", decisions);
    if (!step.untilLeft || decision.task.held !== undefined || decision.task.phase === "doing") break;
  }
  return decisions.length === 0 ? undefined : takenWith(now, "stayed", decisions);
}

function takenWith(world: World, kind: Taken["kind"], decisions: readonly Changed[]): Taken {
  const [only] = decisions;
  if (only !== undefined && decisions.length === 1)
    return { world, kind, events: only.events, effects: only.effects, decisions };
  return {
    world,
    kind,
    events: decisions.flatMap(({ events }) => events),
    effects: decisions.flatMap(({ effects }) => effects),
    decisions,
  };
}

/** The world in which a stepped run is about to take its last step. No step before it differs from the first. */
export function beforeLastStep(workflow: Workflow, world: World): World {
  const limit = stepLimit(workflow, world.task);
  if (limit <= 1 || limit === Number.POSITIVE_INFINITY) return world;
  const { task } = world;
  return { ...world, task: { ...task, crashCount: 0, wait: { ...task.wait, step: limit - 1 } } };
}

/** How many steps a stepped run may take in the task's state. */
export function stepLimit(workflow: Workflow, task: Task): number {
  const state = workflow.states[task.status];
  const run = state?.wait.kind === "agent" ? state.wait.run : undefined;
  const limit = state?.limits.steps ?? run?.limits.steps ?? Number.POSITIVE_INFINITY;
  return task.wait.stepLimit ?? resolve(limit, workflow, task);
}

export function worldAfter(
  { task: before, workspace, sections, past }: World,
  { task, effects, events }: Changed,
): World {
  const owes =
    task.phase !== "over" && (effects.length > 0 ? effects.some(mayFail) : past.owes && before.phase === task.phase);
  return {
    task,
    workspace: workspaceAfter(workspace, effects),
    sections,
    past: pastAfter(past, effects, events, owes),
  };
}

function pastAfter(past: Past, effects: Changed["effects"], events: Changed["events"], owes: boolean): Past {
  const ran = past.ran || effects.some(({ action }) => action === "spawn_agent");
  const fanned = past.fanned || effects.some(({ action }) => action === "start_children");
  const reviewed = past.reviewed || events.some(({ type }) => type === "finding.reviewed");
  return { ran, fanned, reviewed, owes };
}

/** Whether the failure of an effect holds the task. Children and runs are no actions of the language. */
function mayFail({ action }: Effect): boolean {
  return action === "start_children" || action === "stop_children" || actions[action]?.holds === true;
}

export function factsOf(world: Pick<World, "workspace" | "sections">, step: Pick<Step, "facts" | "poolFull">): Facts {
  return {
    document: documentOf(world.sections),
    head: "",
    artifacts: {},
    numbers: { workspace: world.workspace ? 1 : 0, ...step.facts },
    willHaveWorkspace: world.workspace,
    taskFileTracked: false,
    poolFull: step.poolFull ?? false,
  };
}

// A cache: many steps in a row see the same sections.
const documents = new WeakMap<Readonly<Record<string, string>>, TaskDocument>();

function documentOf(sections: Readonly<Record<string, string>>): TaskDocument {
  const before = documents.get(sections);
  if (before !== undefined) return before;
  const text = Object.entries(sections).map(([heading, body]) => `## ${heading}\n${body}\n`);
  const document = parseTaskDocument(text.join("\n"));
  documents.set(sections, document);
  return document;
}
