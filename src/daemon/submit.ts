import { decide } from "../engine/decide.ts";
import type { Decision, TaskEvent } from "../engine/decision.ts";
import type { Facts, Request } from "../engine/request.ts";
import type { Task } from "../engine/task.ts";
import type { Workflow } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";
import type { Clock } from "../ports/clock.ts";
import type { Store, StoredTask } from "../ports/store.ts";

export interface SubmitPorts {
  readonly store: Store;
  readonly clock: Clock;
  /** The workflow a task is pinned to. */
  workflowOf(task: Task): Promise<Workflow>;
  /** What is true outside at this moment. */
  factsOf(task: Task): Promise<Facts>;
  /** Somebody should look at what the task owes now. */
  wake(task: string): void;
}

export interface Answer {
  readonly decision: Decision;
  readonly stored: StoredTask;
}

export type Submit = (task: string, request: Request) => Promise<Answer>;

// Two askers at once: one wins, the other looks again. More than this at the same task is not contention but a loop.
const mostTries = 10;

/**
 * The one way by which a task changes: read, decide, save. A refusal changes nothing but is remembered, with the one who
 * asked.
 */
export function createSubmit(ports: SubmitPorts): Submit {
  const { store, clock } = ports;
  return async (id, request) => {
    for (let attempt = 1; ; attempt++) {
      const stored = await store.getTask(id);
      if (stored === undefined)
        throw new Fault("task.missing", `There is no task ${id}.`, { hint: "List them with signalbox task list." });
      const workflow = await ports.workflowOf(stored.task);
      const decision = decide(workflow, stored.task, request, await ports.factsOf(stored.task));
      if (decision.kind === "ignored") return { decision, stored };
      if (decision.kind === "rejected") {
        await store.addEvents(id, [refusal(request, decision.reasons)], clock.now());
        return { decision, stored };
      }
      try {
        const saved = await store.saveDecision({
          task: decision.task,
          revision: stored.revision,
          isOpen: decision.task.phase !== "over",
          events: decision.events,
          effects: decision.effects,
          at: clock.now(),
          dropsOwed: endsWork(stored.task, request, decision.task),
          retriesFailed: request.kind === "continue" && stored.task.held?.again === "effects",
        });
        ports.wake(id);
        return { decision, stored: saved };
      } catch (error) {
        if (!(error instanceof Fault) || error.code !== "store.conflict" || attempt === mostTries) throw error;
      }
    }
  };
}

/** Once a state's own work is over or left, what was still to come of it must not happen any more. */
function endsWork(before: Task, request: Request, after: Task): boolean {
  return before.phase === "doing" && (request.kind === "did" || after.phase !== "doing");
}

function refusal(request: Request, reasons: Extract<Decision, { kind: "rejected" }>["reasons"]): TaskEvent {
  const by = "actor" in request ? request.actor.role : "engine";
  return { type: "request.rejected", by, data: { request, reasons }, set: {} };
}
