import { decide } from "../engine/decide.ts";
import type { Decision, Effect, Reason, TaskEvent } from "../engine/decision.ts";
import type { Facts, Request } from "../engine/request.ts";
import type { Task } from "../engine/task.ts";
import type { Workflow } from "../engine/workflow.ts";
import { workspaceAfter } from "../engine/workspace-order.ts";
import { Fault } from "../fault.ts";
import type { Clock } from "../ports/clock.ts";
import type { StoredEffect, StoredTask } from "../ports/store.ts";
import { evidenceOf, withEvidence } from "./evidence.ts";
import { type LookPorts, look, lookPatience, type Patience } from "./look.ts";
import { createTurns, type Turns } from "./turns.ts";
import type { Addition } from "./write-document.ts";

export interface SubmitPorts extends LookPorts {
  readonly clock: Clock;
  /** The task was changed: somebody should look at what it waits for now and, where it may go on by itself, at what it owes. */
  changed(stored: StoredTask, mayGoOn: boolean): void;
  /** Shared with whoever else writes about tasks. */
  readonly inTurn?: Turns;
}

export interface Answer {
  readonly decision: Decision;
  /** As the task is now. */
  readonly stored: StoredTask;
  /** Where it was before. */
  readonly from: string;
}

/** `document` is the asker's task file, or something to add to it; it counts, and is kept, only if the request is granted. */
export type Submit = (
  task: string,
  request: Request,
  document?: string | Addition,
  urgency?: Urgency,
) => Promise<Answer>;

/** `brake`: a person stops the task. That waits for no other decision, and depends on no file and no git. */
export type Urgency = "usual" | "brake";

// Another process may have written: then we look again. More often than this at one task is not contention but a loop.
const mostTries = 10;

/**
 * The one way by which a task changes: read, decide, save. A refusal changes nothing but is remembered, with the one who
 * asked.
 */
export function createSubmit(ports: SubmitPorts): Submit {
  const { store, inTurn = createTurns() } = ports;
  // Turns only save work: who decides about an older revision is refused by the store, and looks again.
  return (id, request, document, urgency = "usual") =>
    urgency === "brake"
      ? submit(id, request, document, urgency)
      : inTurn(id, () => submit(id, request, document, urgency));

  async function submit(
    id: string,
    request: Request,
    document: string | Addition | undefined,
    urgency: Urgency,
  ): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      const stored = await store.getTask(id);
      if (stored === undefined)
        throw new Fault("task.missing", `There is no task ${id}.`, { hint: "List them with signalbox task list." });
      try {
        return await submitOnce(ports, stored, request, document, urgency);
      } catch (error) {
        if (!(error instanceof Fault) || error.code !== "store.conflict" || attempt === mostTries) throw error;
      }
    }
  }
}

async function submitOnce(
  ports: SubmitPorts,
  stored: StoredTask,
  request: Request,
  given: string | Addition | undefined,
  urgency: Urgency,
): Promise<Answer> {
  const { store, clock, changed } = ports;
  const { task } = stored;
  const { id, status: from } = task;
  const actor = actorOf(request);
  // A failure is noted whatever the workspace says, and it may be the reason why nobody can look there.
  const seen = request.kind === "unsettled" ? withoutOutside(ports) : ports;
  const told = { asks: request.kind === "move", ...(request.kind === "ended" ? { ended: request.run } : {}) };
  const patience = urgency === "brake" ? { clock, limit: lookPatience } : patienceFor(request, clock);
  const { workflow, facts, document, changes } = await look(seen, task, { ...actor, text: given, ...told }, patience);
  const open = await store.openEffects(id);
  if (open.length > 0 && saysAllIsDone(request))
    return { decision: { kind: "ignored", why: "The task has come to owe something since." }, stored, from };
  const first = decide(workflow, task, request, withOwed(withUnstarted(facts, task, open), task, open));
  const owes = open.length > 0;
  const decision = owes ? first : settledAtOnce(workflow, first, facts);
  if (decision.kind === "ignored") return { decision, stored, from };
  const at = clock.now();
  if (decision.kind === "rejected") {
    await store.addEvents(id, [refusal(request, decision.reasons)], at);
    return { decision, stored, from };
  }
  const dropsOwed = endsWork(task, request, decision.task) || leavesFailure(task, decision);
  const artifacts = evidenceOf(id, decision.events, facts, document.authors, at);
  const events = withEvidence(decision.events, artifacts, actor.run);
  const saved = await store.saveDecision({
    task: decision.task,
    revision: stored.revision,
    isOpen: decision.task.phase !== "over",
    events: [...changes, ...events],
    effects: dropsOwed ? [...endings(open), ...decision.effects] : decision.effects,
    at,
    ...(changes.length > 0 ? { document } : {}),
    artifacts,
    dropsOwed,
    retriesFailed: isTriedAgain(task, request),
  });
  changed(saved, owes || decision.effects.length > 0 || decision.task.phase !== "waiting");
  return { decision, stored: saved, from };
}

const mostHops = 10;

/** A task that owes nothing where it arrives need not be stored as arriving. */
function settledAtOnce(workflow: Workflow, decision: Decision, facts: Facts, hops = 0): Decision {
  // Rules that drive a task round and round shall be seen in history, not keep the daemon from answering.
  if (hops === mostHops) return decision;
  if (decision.kind !== "moved" && decision.kind !== "stayed") return decision;
  const { task, effects, events } = decision;
  if (effects.length > 0 || task.phase !== "entering" || task.held !== undefined) return decision;
  const next = decide(workflow, task, { kind: "settled", entry: task.entry }, facts);
  if (next.kind !== "moved" && next.kind !== "stayed") return decision;
  const kind = decision.kind === "moved" ? "moved" : next.kind;
  return settledAtOnce(workflow, { ...next, kind, events: [...events, ...next.events] }, facts, hops + 1);
}

/** That an agent is quiet is heard whatever fails in its workspace: otherwise nobody would ever ask why nothing moves. */
function patienceFor({ kind }: Request, clock: Clock): Patience | undefined {
  return kind === "idle" ? { clock } : undefined;
}

function withoutOutside({ outsideOf: _, ...ports }: SubmitPorts): LookPorts {
  return ports;
}

/** Whoever leads a task away from its work, or from a hook that failed, drops the starts that are owed. */
function withUnstarted(facts: Facts, { held, phase }: Task, open: readonly StoredEffect[]): Facts {
  if (held?.again !== "effects" && phase !== "doing") return facts;
  const unstarted = open.flatMap(({ effect: { action, agent } }) =>
    action === "spawn_agent" && agent !== undefined ? [agent.run] : [],
  );
  return unstarted.length === 0 ? facts : { ...facts, unstarted };
}

/** What is owed may give the workspace back, or acquire one, before anything that is decided now is carried out. */
function withOwed(facts: Facts, { held, phase }: Task, open: readonly StoredEffect[]): Facts {
  if (open.length === 0) return facts;
  const hasOne = facts.numbers.workspace !== 0;
  const owed = open.map(({ effect }) => effect);
  const isDropped = held?.again === "effects" || phase === "doing";
  const isReleased = owed.some(({ action }) => action === "release_workspace");
  const willHaveWorkspace = isDropped ? hasOne && !isReleased : workspaceAfter(hasOne, owed);
  return willHaveWorkspace === hasOne ? facts : { ...facts, willHaveWorkspace };
}

/** The task knows these runs as ended: they must end, also where what was to come after that is dropped. */
function endings(open: readonly StoredEffect[]): readonly Effect[] {
  const owed = open.filter(({ state }) => state === "owed").map(({ effect }) => effect);
  return owed.filter(({ action }) => action === "kill_agent" || action === "kill_session");
}

/** Whoever says so has looked before: what the task owes by now must be carried out all the same. */
function saysAllIsDone(request: Request): boolean {
  return request.kind === "settled" || (request.kind === "did" && request.word === "ok");
}

/** Once a state's own work is over or left, what was still to come of it must not happen any more. */
function endsWork(before: Task, request: Request, after: Task): boolean {
  return before.phase === "doing" && (request.kind === "did" || after.phase !== "doing");
}

/** Who leads a task out of a state in which a hook failed does without that hook, and without those that came after it. */
function leavesFailure(before: Task, { kind }: Decision): boolean {
  return kind === "moved" && before.held?.again === "effects";
}

/** A person has seen to what an effect failed for. */
function isTriedAgain({ held }: Task, { kind }: Request): boolean {
  return held?.again === "effects" && (kind === "continue" || kind === "respawn");
}

function actorOf(request: Request) {
  return "actor" in request ? request.actor : { role: "engine" };
}

/** History of what was asked in vain. */
export function refusal(request: Request, reasons: readonly Reason[], by: string = actorOf(request).role): TaskEvent {
  return { type: "request.rejected", by, data: { request, reasons }, set: {} };
}
