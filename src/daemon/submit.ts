import { decide } from "../engine/decide.ts";
import type { Decision, Reason, TaskEvent } from "../engine/decision.ts";
import type { Request } from "../engine/request.ts";
import type { Task } from "../engine/task.ts";
import type { Workflow } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";
import type { Clock } from "../ports/clock.ts";
import type { Store, StoredTask } from "../ports/store.ts";
import { evidenceOf, withEvidence } from "./evidence.ts";
import type { FactsOf } from "./facts.ts";
import { createTurns } from "./turns.ts";
import { writeDocument } from "./write-document.ts";

export interface SubmitPorts {
  readonly store: Store;
  readonly clock: Clock;
  /** The workflow a task is pinned to. */
  workflowOf(task: Task): Promise<Workflow>;
  readonly factsOf: FactsOf;
  /** The task was changed: somebody should look at what it owes and waits for now. */
  changed(stored: StoredTask): void;
}

export interface Answer {
  readonly decision: Decision;
  /** As the task is now. */
  readonly stored: StoredTask;
  /** Where it was before. */
  readonly from: string;
}

export interface SubmitOptions {
  /** The asker's task file; it counts, and is kept, only if the request is granted. */
  readonly document?: string | undefined;
  /** The task as it was read a moment ago: saves reading it again. */
  readonly known?: StoredTask;
}

export type Submit = (task: string, request: Request, options?: SubmitOptions) => Promise<Answer>;

// Another process may have written: then we look again. More often than this at one task is not contention but a loop.
const mostTries = 10;

/**
 * The one way by which a task changes: read, decide, save. A refusal changes nothing but is remembered, with the one who
 * asked.
 */
export function createSubmit(ports: SubmitPorts): Submit {
  const { store } = ports;
  const inTurn = createTurns();
  return (id, request, options) => inTurn(id, () => submit(id, request, options));

  async function submit(id: string, request: Request, { document, known }: SubmitOptions = {}): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      const stored = attempt === 1 && known !== undefined ? known : await store.getTask(id);
      if (stored === undefined)
        throw new Fault("task.missing", `There is no task ${id}.`, { hint: "List them with signalbox task list." });
      try {
        return await submitOnce(ports, stored, request, document);
      } catch (error) {
        if (!(error instanceof Fault) || error.code !== "store.conflict" || attempt === mostTries) throw error;
      }
    }
  }
}

async function submitOnce(
  { store, clock, workflowOf, factsOf, changed }: SubmitPorts,
  stored: StoredTask,
  request: Request,
  given: string | undefined,
): Promise<Answer> {
  const { task } = stored;
  const { id, status: from } = task;
  const workflow = await workflowOf(task);
  const before = await store.getDocument(id);
  const actor = actorOf(request);
  const written = given === undefined ? undefined : writeDocument(workflow, before, given, actor, "");
  const document = written?.document ?? before;
  const facts = await factsOf(task, document);
  const decision = decide(workflow, task, request, facts);
  if (decision.kind === "ignored") return { decision, stored, from };
  const at = clock.now();
  if (decision.kind === "rejected") {
    await store.addEvents(id, [refusal(request, decision.reasons)], at);
    return { decision, stored, from };
  }
  const artifacts = evidenceOf(id, decision.events, facts, document.authors, at);
  const events = withEvidence(decision.events, artifacts, actor.run);
  const isChanged = written !== undefined && written.changed.length > 0;
  const saved = await store.saveDecision({
    task: decision.task,
    revision: stored.revision,
    isOpen: decision.task.phase !== "over",
    events: isChanged ? [documentChanged(actor, written.changed), ...events] : events,
    effects: decision.effects,
    at,
    ...(isChanged ? { document } : {}),
    artifacts,
    dropsOwed: endsWork(task, request, decision.task),
    retriesFailed: request.kind === "continue" && task.held?.again === "effects",
  });
  changed(saved);
  return { decision, stored: saved, from };
}

/** Once a state's own work is over or left, what was still to come of it must not happen any more. */
function endsWork(before: Task, request: Request, after: Task): boolean {
  return before.phase === "doing" && (request.kind === "did" || after.phase !== "doing");
}

function actorOf(request: Request) {
  return "actor" in request ? request.actor : { role: "engine" };
}

export function documentChanged(
  { role, run }: { readonly role: string; readonly run?: string },
  sections: readonly string[],
): TaskEvent {
  return {
    type: "document.changed",
    by: role,
    data: { sections, ...(run === undefined ? {} : { run }) },
    set: {},
  };
}

/** History of what was asked in vain. */
export function refusal(request: Request, reasons: readonly Reason[], by: string = actorOf(request).role): TaskEvent {
  return { type: "request.rejected", by, data: { request, reasons }, set: {} };
}
