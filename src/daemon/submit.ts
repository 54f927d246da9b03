import { decide } from "../engine/decide.ts";
import type { Decision, Effect } from "../engine/decision.ts";
import { workspaceAfter } from "../engine/enter.ts";
import type { Facts, Request } from "../engine/request.ts";
import type { Task } from "../engine/task.ts";
import type { Workflow } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";
import { createTurns, type Turns } from "../keyed.ts";
import type { SavedDecision, StoredArtifact, StoredEffect, StoredTask } from "../ports/store.ts";
import type { Clock } from "../ports/system.ts";
import {
  evidenceOf,
  gatherFacts,
  type LookPorts,
  lookTimeout,
  needsOwnLook,
  type TimeLimit,
  withEvidence,
} from "./look.ts";
import { createRefusals, type Refusals } from "./refusals.ts";
import { mustBeAsSeen, noteChange } from "./seen-revision.ts";
import type { Addition } from "./task-documents.ts";

interface SubmitPorts extends LookPorts {
  readonly clock: Clock;
  /** The task was changed. `mayGoOn`: it may continue by itself, so its owed effects must be checked. */
  changed(stored: StoredTask, mayGoOn: boolean): void;
  /** The mutex that is shared with other writers of the task. */
  readonly inTurn?: Turns;
  readonly refusals?: Refusals;
}

/** What became of a submitted request. */
export interface Answer {
  readonly decision: Decision;
  /** The task after the decision. */
  readonly stored: StoredTask;
  /** Its state before. */
  readonly from: string;
}

/**
 * Submits a request for a task: decides what it does, saves the decision, and returns it. `document` is the caller's task
 * file, or an addition to it; it counts, and is stored, only if the request is granted.
 */
export type Submit = (
  task: string,
  request: Request,
  document?: string | Addition,
  urgency?: Urgency,
) => Promise<Answer>;

/** A request with the task that it is for. */
export interface TaskRequest {
  readonly task: string;
  readonly request: Request;
}

/**
 * Submits requests that count only together, as brakes: all decisions are saved in one transaction, or none where one is
 * refused. A task that has ended before is ignored. `isDry`: nothing is saved. The last of the answers is the refusal, if there is one.
 */
export type SubmitTogether = (requests: readonly TaskRequest[], isDry?: boolean) => Promise<readonly Answer[]>;

/** `brake`: a person stops the task. That waits for no other decision, and depends on no file and no git. */
type Urgency = "usual" | "brake";

// Another process may have written: then the decision is retried. More retries than this are not contention but a loop.
const maxTries = 10;

/** The only way to change a task: read, decide, save. A refusal changes nothing, but is recorded with its caller. */
export function createSubmit(ports: SubmitPorts): Submit & { readonly together: SubmitTogether } {
  const { store, clock, changed, inTurn = createTurns(), refusals = createRefusals(ports) } = ports;
  const decideAbout = async (
    id: string,
    request: Request,
    document: string | Addition | undefined,
    urgency: Urgency,
  ) => {
    const stored = await store.getTask(id);
    if (stored === undefined)
      throw new Fault("task.missing", `There is no task ${id}.`, { hint: "List the tasks: signalbox task list" });
    mustBeAsSeen(stored, request);
    return decideOnce(ports, stored, request, document, urgency);
  };
  const submit = (id: string, request: Request, document: string | Addition | undefined, urgency: Urgency) =>
    unlessConflict(async () => {
      const { save, mayGoOn, ...answer } = await decideAbout(id, request, document, urgency);
      if (answer.decision.kind === "rejected")
        await refusals.note(answer.stored.task, request, answer.decision.reasons);
      if (save === undefined) return answer;
      const stored = await store.saveDecision({ ...save, at: clock.now() });
      noteChange(id);
      changed(stored, mayGoOn);
      return { ...answer, stored };
    });
  const together: SubmitTogether = (requests, isDry = false) =>
    unlessConflict(async () => {
      const decided = await Promise.all(
        requests.map(async ({ task, request }) => unlessEnded(await decideAbout(task, request, undefined, "brake"))),
      );
      for (const [i, { decision, stored }] of decided.entries()) {
        const request = requests[i]?.request;
        if (decision.kind !== "rejected" || request === undefined) continue;
        await refusals.note(stored.task, request, decision.reasons);
        return decided.slice(0, i + 1);
      }
      const at = clock.now();
      const saves = decided.flatMap(({ save }) => (save === undefined ? [] : [{ ...save, at }]));
      if (isDry || saves.length === 0) return decided;
      const saved = new Map((await store.saveDecisions(saves)).map((stored) => [stored.task.id, stored]));
      return decided.map(({ save, mayGoOn, ...answer }) => {
        const stored = saved.get(answer.stored.task.id) ?? answer.stored;
        noteChange(stored.task.id);
        if (save !== undefined) changed(stored, mayGoOn);
        return { ...answer, stored };
      });
    });
  const braking = createBraking();
  // The mutex only saves work: the store refuses a decision about an older revision, and the decision is retried.
  return Object.assign<Submit, { together: SubmitTogether }>(
    (id, request, document, urgency = "usual") =>
      urgency === "brake"
        ? braking.hold([id], () => submit(id, request, document, urgency))
        : inTurn(id, async () => {
            await braking.isOver(id);
            return submit(id, request, document, urgency);
          }),
    {
      together: (requests, isDry) =>
        braking.hold(
          requests.map(({ task }) => task),
          () => together(requests, isDry),
        ),
    },
  );
}

/** Holds other decisions about a task while a person stops it: a task that moves all the time would always be faster. */
function createBraking() {
  const held = new Map<string, Set<Promise<unknown>>>();
  return {
    async hold<T>(ids: readonly string[], brake: () => Promise<T>): Promise<T> {
      const mine = brake();
      for (const id of ids) held.set(id, (held.get(id) ?? new Set()).add(mine));
      try {
        return await mine;
      } finally {
        for (const id of ids) {
          held.get(id)?.delete(mine);
          if (held.get(id)?.size === 0) held.delete(id);
        }
      }
    },
    async isOver(id: string): Promise<void> {
      while (held.has(id)) await Promise.allSettled(held.get(id) ?? []);
    },
  };
}

async function unlessConflict<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "store.conflict" || attempt === maxTries) throw error;
    }
  }
}

/** The decision about a request, and what the store saves for it; undefined where nothing changes. */
interface Decided extends Answer {
  readonly save?: Omit<SavedDecision, "at">;
  /** The task may continue by itself afterwards. */
  readonly mayGoOn: boolean;
}

function unlessEnded(decided: Decided): Decided {
  const { decision } = decided;
  if (decision.kind !== "rejected" || !decision.reasons.some(({ code }) => code === "terminal")) return decided;
  return { ...decided, decision: { kind: "ignored", why: "The task had ended before." } };
}

async function decideOnce(
  ports: SubmitPorts,
  stored: StoredTask,
  request: Request,
  given: string | Addition | undefined,
  urgency: Urgency,
): Promise<Decided> {
  const { store, clock } = ports;
  const { task } = stored;
  const { id, status: from } = task;
  const actor = actorOf(request);
  const seen = isRecord(request) ? withoutOutside(ports) : ports;
  const told = {
    asks: request.kind === "move",
    starts: request.kind === "move" || request.kind === "continue",
    ...(request.kind === "move" && request.word?.merged === true ? { mergedFor: request.to } : {}),
    ...(request.kind === "ended" ? { ended: request.run } : {}),
  };
  const timeLimit = urgency === "brake" ? { clock, limit: lookTimeout } : timeLimitFor(request, clock);
  const { workflow, facts, document, changes } = await gatherFacts(
    seen,
    task,
    { ...actor, text: given, ...told },
    timeLimit,
  );
  const open = await store.openEffects(id);
  const unchanged = { stored, from, mayGoOn: false };
  if (open.length > 0 && saysAllIsDone(request))
    return { decision: { kind: "ignored", why: "Meanwhile the task owes new effects." }, ...unchanged };
  const first = decide(workflow, task, request, withOwed(withUnstarted(facts, task, open), task, open));
  const owes = open.length > 0;
  const decision = owes ? first : settledAtOnce(workflow, first, facts);
  if (decision.kind === "ignored" || decision.kind === "rejected") return { decision, ...unchanged };
  const dropsOwed = endsWork(task, request, decision.task) || leavesFailure(task, decision);
  const evidence = evidenceOf(id, decision.events, facts, document.authors, clock.now());
  const artifacts = [...evidence, ...handedOver(task, request, decision.task, clock.now())];
  const events = withEvidence(decision.events, evidence, actor.run);
  return {
    ...{ decision, stored, from },
    mayGoOn: owes || decision.effects.length > 0 || decision.task.phase !== "waiting",
    save: {
      task: decision.task,
      revision: stored.revision,
      isOpen: decision.task.phase !== "over",
      events: [...changes, ...events],
      effects: dropsOwed ? [...endings(open), ...decision.effects] : decision.effects,
      ...(changes.length > 0 ? { document } : {}),
      artifacts,
      dropsOwed,
      retriesFailed: isTriedAgain(task, request),
    },
  };
}

/** The documents that the request has handed over, with their texts. */
function handedOver(
  before: Task,
  request: Request,
  { id, documents = [] }: Task,
  at: number,
): readonly StoredArtifact[] {
  if (request.kind !== "complete") return [];
  return documents.flatMap((document) => {
    if (before.documents?.includes(document)) return [];
    const { type, title, sha256: hash, role, run, commit, state } = document;
    const given = request.documents.find((each) => each.type === type && each.title === title);
    if (given === undefined) return [];
    return [{ task: id, section: title, text: given.text, hash, role, run, commit, at, document: { type, state } }];
  });
}

const maxHops = 10;

/** If a task owes nothing in its new state, and the facts tell what that state asks for, both steps are saved as one decision. */
function settledAtOnce(workflow: Workflow, decision: Decision, facts: Facts, hops = 0): Decision {
  // Rules that move a task in a loop must show in the history, not block the daemon.
  if (hops === maxHops) return decision;
  if (decision.kind !== "moved" && decision.kind !== "stayed") return decision;
  const { task, effects, events } = decision;
  if (effects.length > 0 || task.phase !== "entering" || task.held !== undefined) return decision;
  if (needsOwnLook(workflow, task)) return decision;
  const next = decide(workflow, task, { kind: "settled", entry: task.entry }, facts);
  if (next.kind !== "moved" && next.kind !== "stayed") return decision;
  const kind = decision.kind === "moved" ? "moved" : next.kind;
  return settledAtOnce(workflow, { ...next, kind, events: [...events, ...next.events] }, facts, hops + 1);
}

/** An idle agent is reported whatever fails in its workspace: otherwise no person would learn that nothing moves. */
function timeLimitFor({ kind }: Request, clock: Clock): TimeLimit | undefined {
  return kind === "idle" ? { clock } : undefined;
}

/**
 * A failure and the result of tests are recorded whatever the state of the workspace, which may be the very reason for the
 * failure, and which the tests may have changed.
 */
function isRecord(request: Request): boolean {
  return request.kind === "edit"
    ? request.set.tested !== undefined
    : request.kind === "unsettled" || request.kind === "mended";
}

function withoutOutside({ outsideOf: _, ...ports }: SubmitPorts): LookPorts {
  return ports;
}

/**
 * A decision that takes a task away from its work, or from a failed hook, drops the runs that are still to be started.
 */
function withUnstarted(facts: Facts, { held, phase }: Task, open: readonly StoredEffect[]): Facts {
  if (held?.again !== "effects" && phase !== "doing") return facts;
  const unstarted = open.flatMap(({ effect: { action, agent } }) =>
    action === "spawn_agent" && agent !== undefined ? [agent.run] : [],
  );
  return unstarted.length === 0 ? facts : { ...facts, unstarted };
}

/** Owed effects may release or acquire the workspace before the effects of this decision are carried out. */
function withOwed(facts: Facts, { held, phase }: Task, open: readonly StoredEffect[]): Facts {
  if (open.length === 0) return facts;
  const hasOne = facts.numbers.workspace !== 0;
  const owed = open.map(({ effect }) => effect);
  const isDropped = held?.again === "effects" || phase === "doing";
  const isReleased = owed.some(({ action }) => action === "release_workspace");
  const willHaveWorkspace = isDropped ? hasOne && !isReleased : workspaceAfter(hasOne, owed);
  return willHaveWorkspace === hasOne ? facts : { ...facts, willHaveWorkspace };
}

/** The task counts these runs and children as ended, so they must end even if the effects after that are dropped. */
function endings(open: readonly StoredEffect[]): readonly Effect[] {
  const owed = open.filter(({ state }) => state === "owed").map(({ effect }) => effect);
  return owed.filter(({ action }) => ending.has(action));
}

const ending = new Set(["kill_agent", "kill_session", "stop_children"]);

/** The request was made before: effects that the task owes by now must be carried out first. */
function saysAllIsDone(request: Request): boolean {
  return request.kind === "settled" || (request.kind === "did" && request.word === "ok");
}

/** Once the work of a state is over or left, its remaining effects must not be carried out. */
function endsWork(before: Task, request: Request, after: Task): boolean {
  return before.phase === "doing" && (request.kind === "did" || after.phase !== "doing");
}

/** Moving a task out of a state with a failed hook skips that hook and those after it. */
function leavesFailure(before: Task, { kind }: Decision): boolean {
  return kind === "moved" && before.held?.again === "effects";
}

/** A person has solved the problem for which an effect failed. */
function isTriedAgain({ held }: Task, { kind }: Request): boolean {
  return held?.again === "effects" && (kind === "continue" || kind === "respawn");
}

function actorOf(request: Request) {
  return "actor" in request ? request.actor : { role: "engine" };
}
