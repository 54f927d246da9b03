import { parseTaskDocument, type TaskDocument } from "../../documents/task-document.ts";
import { decide } from "../decide.ts";
import type { Decision, Effect, TaskEvent } from "../decision.ts";
import { workspaceAfter } from "../enter.ts";
import type { Facts } from "../request.ts";
import type { Task } from "../task.ts";
import type { Workflow } from "../workflow.ts";
import { requestOf, type Step } from "./step.ts";

/** A task and the few facts outside of it that decisions depend on. */
export interface World {
  readonly task: Task;
  readonly workspace: boolean;
  /** The body of the task file, by heading. */
  readonly sections: Readonly<Record<string, string>>;
}

export interface Taken {
  readonly world: World;
  readonly kind: "moved" | "stayed";
  readonly events: readonly TaskEvent[];
  readonly effects: readonly Effect[];
  /** One for a plain step; several for a step that repeats. */
  readonly decisions: readonly Extract<Decision, { kind: "moved" | "stayed" }>[];
}

// A bound for steps that repeat; limits of real workflows are far smaller.
const maxRepeats = 1_000;

/** Takes one step; undefined where it is refused or ignored. Effects succeed immediately. */
export function takeStep(workflow: Workflow, world: World, step: Step): Taken | undefined {
  let now = world;
  const decisions: Extract<Decision, { kind: "moved" | "stayed" }>[] = [];
  const taken = (kind: Taken["kind"]): Taken => ({
    world: now,
    kind,
    events: decisions.flatMap((decision) => decision.events),
    effects: decisions.flatMap((decision) => decision.effects),
    decisions,
  });
  for (let i = 0; i < maxRepeats; i++) {
    const sections = step.sections === undefined ? now.sections : { ...now.sections, ...step.sections };
    const decision = decide(workflow, now.task, requestOf(step, now.task), factsOf({ ...now, sections }, step));
    if (decision.kind === "rejected" || decision.kind === "ignored") {
      return i === 0 ? undefined : taken("stayed");
    }
    decisions.push(decision);
    now = { task: decision.task, workspace: workspaceAfter(now.workspace, decision.effects), sections };
    if (decision.kind === "moved") return taken("moved");
    if (!step.untilLeft || decision.task.held !== undefined || decision.task.phase === "doing") break;
  }
  return taken("stayed");
}

export function factsOf(world: World, step: Pick<Step, "facts">): Facts {
  return {
    document: documentOf(world.sections),
    head: "",
    artifacts: {},
    numbers: { workspace: world.workspace ? 1 : 0, ...step.facts },
    taskFileTracked: false,
    poolFull: false,
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
