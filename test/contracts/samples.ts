import type { Effect, TaskEvent } from "../../src/engine/decision.ts";
import type { Task } from "../../src/engine/task.ts";
import type { Kept } from "../../src/ports/records.ts";
import type {
  NewTask,
  Project,
  SavedDecision,
  StoredArtifact,
  StoredDocument,
  StoredTask,
} from "../../src/ports/store.ts";
import { builtIn, drive } from "../engine/drive.ts";

const fresh = drive(builtIn("minimal")).task;

export function sampleProject(name = "coffee"): Project {
  return {
    name,
    path: `/src/${name}`,
    defaultBranch: "main",
    poolSize: 2,
    workflow: "default",
    harness: "claude",
    reviewHarness: "codex",
    branchPrefix: "signalbox",
    workspaces: "clone",
    createdAt: 1_000,
  };
}

/** For `createTask`: a task with this id, on its own branch unless told otherwise. */
export function sampleTask(id: string, change: Partial<Task> = {}, rest: Partial<NewTask> = {}) {
  return (number: number): NewTask => {
    const task: Task = { ...fresh, project: "coffee", branch: `signalbox/${id}`, ...change, id, number };
    return {
      task,
      document: sampleDocument(`# ${id}\n`),
      events: [sampleEvent("task.created", task)],
      effects: [],
      at: 1_000,
      ...rest,
    };
  };
}

/** A decision about a task as it is stored: it changes what `change` says. */
export function sampleDecision(
  { task, revision, isOpen }: StoredTask,
  change: Partial<Task> = {},
  rest: Partial<SavedDecision> = {},
): SavedDecision {
  return {
    task: { ...task, ...change },
    revision,
    isOpen,
    events: [sampleEvent("task.moved", change)],
    effects: [],
    at: 2_000,
    ...rest,
  };
}

/** Without an author, unless `role` names the author of `Plan`. */
export function sampleDocument(text: string, role?: string): StoredDocument {
  if (role === undefined) return { text, authors: {} };
  return { text, authors: { Plan: { role, run: `${role}#1`, commit: "c0ffee", fingerprint: "f00d" } } };
}

export function sampleEvent(type: TaskEvent["type"], set: Partial<Task> = {}): TaskEvent {
  return { type, by: "human", data: { note: type }, set } as unknown as TaskEvent;
}

/** An event that cannot be written as JSON. */
export function unwritableEvent(type: TaskEvent["type"]): TaskEvent {
  return { type, by: "human", data: { n: 1n }, set: {} } as unknown as TaskEvent;
}

export function sampleEffect(action: string, delay?: number): Effect {
  return delay === undefined ? { action, params: {} } : { action, params: {}, delay };
}

export function sampleArtifact(task: string, section: string): StoredArtifact {
  return { task, section, text: `${section}!`, hash: "abc", role: "worker", run: "worker#1", commit: "c0ffee", at: 5 };
}

/** The fields that records of all kinds have. */
export function sampleRecord(id: string, task = "", at = 1_000, project = "coffee"): Kept {
  return { id, project, task, at };
}
