import { actions } from "../engine/actions.ts";
import type { Effect, TaskEvent } from "../engine/decision.ts";
import type { Request } from "../engine/request.ts";
import type { Task } from "../engine/task.ts";
import type { Outcome } from "../engine/workflow.ts";
import { Fault, retryAtOf } from "../fault.ts";
import type { Store, StoredEffect } from "../ports/store.ts";
import type { Clock } from "../ports/system.ts";
import type { Submit } from "./submit.ts";

/** Carries out one kind of effect. Must be idempotent: after a crash it is carried out again. */
export type Perform = (effect: Effect, context: PerformContext) => Promise<void>;

export interface PerformContext {
  readonly task: Task;
  /** The same whenever the same effect is carried out, so that a performer can recognise a repeat. */
  readonly key: string;
}

export type Performers = Readonly<Record<string, Perform>>;

export interface Performer {
  /** A task was changed: it may owe effects now, or may have to continue by itself. */
  wake(task: string): void;
  /** After a start: continues every open task from its stored state. */
  recover(): Promise<void>;
  /** Whether a task waits for a person to resume its project. */
  isHalted(task: string): boolean;
  /** A project was resumed: tasks that waited for that continue. */
  resumed(): void;
  /** Starts nothing new, and waits for work in progress. */
  stop(): Promise<void>;
}

interface PerformPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly submit: Submit;
  readonly performers: Performers;
  /**
   * How a task has ended; undefined where it has not. Effects that would start something for an ended task are
   * pointless.
   */
  outcomeOf?(task: Task): Promise<Outcome | undefined>;
  /** Whether only effects that end agents may be carried out, because no configuration is known. */
  isBlocked?(): boolean;
  /** Whether publishing the work of a task has to wait because a person has paused its project. */
  isPaused?(task: Task): Promise<boolean>;
  /** Reports an unforeseen error. */
  onError(error: unknown): void;
}

interface Work extends PerformPorts {
  isStopped(): boolean;
  /**
   * Keys of effects that were carried out but could not be marked as done: they are not repeated when the disk has room
   * again.
   */
  readonly unnoted: Set<string>;
  /** Until when effects wait, by effect id. */
  readonly waits: Map<number, number>;
  /** Tasks that wait for a person to resume their project. */
  readonly halted: Set<string>;
  /** How often in a row an unforeseen error has occurred for a task. */
  failuresOf(task: string): number;
  /** How long a provider told an effect to wait, by effect id. */
  readonly limits: Map<number, number>;
}

const pageSize = 500;
/**
 * How often an effect is tried before a person is called, and the first pause between two tries; the pause doubles each
 * time.
 */
const maxTries = 6;
const firstRetryPause = 1_000;
/** Unforeseen errors are retried too, but a full store must not be asked without a pause. */
const maxRetryPause = 60_000;
/** Every owed effect should be woken by an event; this poll is a safety net. */
const pollInterval = 60_000;

/**
 * Carries out the effects that tasks owe: in order for each task, tasks in parallel. An effect that was in progress
 * when the process died is still owed, and is carried out again.
 */
export function createPerformer(ports: PerformPorts): Performer {
  const { store, clock } = ports;
  const busy = new Map<string, Promise<void>>();
  const again = new Set<string>();
  const timers = new Map<string, () => void>();
  const failures = new Map<string, number>();
  let stopped = false;
  const work: Work = {
    ...ports,
    isStopped: () => stopped,
    failuresOf: (task) => failures.get(task) ?? 0,
    unnoted: new Set(),
    waits: new Map(),
    limits: new Map(),
    halted: new Set(),
  };

  const wake = (task: string) => {
    if (stopped) return;
    if (busy.has(task)) return void again.add(task);
    cancelTimer(task);
    // A change before the next read of the task is seen by that read.
    const looks = () => {
      again.delete(task);
      return !stopped;
    };
    const done = runTask(work, task, looks)
      .then((dueAt) => {
        failures.delete(task);
        if (dueAt !== undefined) wakeIn(task, dueAt - clock.now());
      })
      .catch((error) => {
        ports.onError(error);
        const count = failures.get(task) ?? 0;
        failures.set(task, count + 1);
        wakeIn(task, Math.min(firstRetryPause * 2 ** count, maxRetryPause));
      })
      .finally(() => {
        busy.delete(task);
        if (again.delete(task)) wake(task);
      });
    busy.set(task, done);
  };
  const cancelTimer = (task: string) => {
    timers.get(task)?.();
    timers.delete(task);
  };
  const wakeIn = (task: string, milliseconds: number) => {
    cancelTimer(task);
    if (!stopped)
      timers.set(
        task,
        clock.after(milliseconds, () => wake(task)),
      );
  };

  const wakeOwing = async (until: number) => {
    for (const { task } of await store.dueEffects(until, Number.MAX_SAFE_INTEGER)) {
      if (!busy.has(task) && !timers.has(task)) wake(task);
    }
  };
  let cancelNet = () => {};
  const schedulePoll = () => {
    if (stopped) return;
    cancelNet = clock.after(pollInterval, () => {
      wakeOwing(clock.now()).catch(ports.onError).finally(schedulePoll);
    });
  };

  return {
    wake,
    async recover() {
      for (let before: number | undefined; ; ) {
        const page = await store.listTasks(
          { isOpen: true },
          before === undefined ? { limit: pageSize } : { before, limit: pageSize },
        );
        for (const { task } of page) if (task.phase !== "waiting" || (await hasFailed(store, task))) wake(task.id);
        before = page.at(-1)?.order;
        if (before === undefined) break;
      }
      await wakeOwing(Number.MAX_SAFE_INTEGER);
      schedulePoll();
    },
    isHalted: (task) => work.halted.has(task),
    resumed() {
      for (const task of work.halted) wake(task);
    },
    async stop() {
      stopped = true;
      cancelNet();
      for (const cancel of timers.values()) cancel();
      await Promise.all(busy.values());
    },
  };
}

/** Whether an effect has failed and the daemon died before it told the engine: no owed effect would lead to it. */
async function hasFailed(store: Store, { id, held }: Task): Promise<boolean> {
  return held === undefined && (await store.openEffects(id)).some(({ state }) => state === "failed");
}

/** Advances a task as far as it can go by itself. Returns when it can continue, if it has to wait. */
async function runTask(ports: Work, task: string, looks: () => boolean): Promise<number | undefined> {
  while (looks()) {
    const [first] = await ports.store.openEffects(task);
    if (first?.state !== "owed") {
      if (!(await advance(ports, task, first))) return undefined;
    } else {
      const dueAt = dueTime(ports, first);
      if (dueAt > ports.clock.now() && !(await isPointless(ports, first))) return dueAt;
      if (await isHalted(ports, first)) return undefined;
      ports.waits.delete(first.id);
      await performOne(ports, first);
    }
  }
  return undefined;
}

/** No effect waits longer than its pause, even if the clock was set back since. */
function dueTime({ clock, waits, limits }: Work, { id, effect, tries, dueAt }: StoredEffect): number {
  const pause = limits.get(id) ?? (tries > 0 ? firstRetryPause * 2 ** (tries - 1) : (effect.delay ?? 0) * 1000);
  const at = Math.min(waits.get(id) ?? dueAt, dueAt, clock.now() + pause);
  waits.set(id, at);
  return at;
}

async function performOne(ports: Work, owed: StoredEffect): Promise<void> {
  const { store, clock, performers, unnoted, isStopped } = ports;
  const stored = await store.getTask(owed.task);
  if (stored === undefined) return;
  if (await isPointless(ports, owed)) return passOver(ports, owed);
  const perform = performers[owed.effect.action] ?? unavailable;
  const key = `${owed.task}:${owed.id}`;
  try {
    if (!unnoted.has(key)) await perform(owed.effect, { task: stored.task, key });
  } catch (error) {
    // An effect that was interrupted because the daemon stops has not failed; it stays owed.
    if (isStopped() || (isPausedFault(error) && (await isHalted(ports, owed)))) return;
    return noteFailure(ports, owed, stored.task, error);
  }
  unnoted.add(key);
  await store.finishEffect(owed.id, clock.now());
  unnoted.delete(key);
  ports.limits.delete(owed.id);
}

/** A person has paused the project while an effect was carried out, before anything was published. The effect stays owed. */
export function pausedFault(project: string): Fault {
  return new Fault(pausedCode, `The project ${project} was paused.`, {
    retry: "later",
    hint: `To continue: signalbox resume --project ${project}`,
  });
}

const pausedCode = "merge.paused";

function isPausedFault(error: unknown): boolean {
  return error instanceof Fault && error.code === pausedCode;
}

/** Effects that publish a task's work. */
const publishing = new Set(["merge", "merge_pr", "push_branch", "create_pr"]);

/** Effects that end agents. They depend on no setting. */
const braking = new Set(["kill_agent", "kill_session"]);

/** A halted effect stays owed, and uses up no try. */
async function isHalted(
  { store, halted, isPaused, isBlocked }: Work,
  { task, effect }: StoredEffect,
): Promise<boolean> {
  const stored = publishing.has(effect.action) ? await store.getTask(task) : undefined;
  const is =
    (isBlocked?.() === true && !braking.has(effect.action)) ||
    (stored !== undefined && ((await isPaused?.(stored.task)) ?? false));
  if (is) halted.add(task);
  else halted.delete(task);
  return is;
}

/**
 * Whether an effect is owed by an earlier stay of a task that has ended since, and would start something: it would only
 * delay the effects after it. Effects that end, release, delete or record something are carried out all the same.
 */
async function isPointless({ store, outcomeOf }: Work, { task: id, entry, effect }: StoredEffect): Promise<boolean> {
  const begins = effect.action === "start_children" ? "agent" : actions[effect.action]?.begins;
  if (begins === undefined) return false;
  const task = (await store.getTask(id))?.task;
  if (task === undefined || entry >= task.entry) return false;
  const outcome = await outcomeOf?.(task);
  return outcome !== undefined && (begins === "agent" || outcome !== "done");
}

function passOver({ store, clock }: Work, { id, effect: { action } }: StoredEffect): Promise<void> {
  const data = { action, reason: "The task ended before this was done." };
  return store.finishEffect(id, clock.now(), { type: "effect.failed", by: "engine", data, set: {} });
}

async function unavailable(effect: Effect): Promise<void> {
  throw new Fault("effect.unavailable", `"${effect.action}" is not available in this version yet.`);
}

/**
 * Retries an effect that may work later. If nothing depends on a failed effect, it is recorded and the task continues.
 */
async function noteFailure(
  { store, clock, limits }: Work,
  owed: StoredEffect,
  task: Task,
  error: unknown,
): Promise<void> {
  const { action } = owed.effect;
  const reason = reasonOf(error);
  const word = error instanceof Fault && Object.hasOwn(actions[action]?.words ?? {}, error.code) ? error.code : "error";
  // A provider's limit is waited for however long it lasts, and uses up no try.
  const limit = Math.max(0, (retryAtOf(error) ?? 0) - clock.now());
  const isHopeful = error instanceof Fault && error.retry === "later" && (limit > 0 || owed.tries + 1 < maxTries);
  const pause = Math.max(limit, firstRetryPause * 2 ** Math.min(owed.tries, maxTries));
  if (limit > 0) limits.set(owed.id, pause);
  else limits.delete(owed.id);
  const failure = { word, reason, ...(error instanceof Fault ? { code: error.code } : {}) };
  if (isHopeful) return store.failEffect(owed.id, failure, clock.now() + pause);
  const { holds = true, failsSilently = false } = actions[action] ?? {};
  if (holds || (task.phase === "doing" && !failsSilently)) return store.failEffect(owed.id, failure);
  const note: TaskEvent = { type: "effect.failed", by: "engine", data: { action, reason }, set: {} };
  await store.finishEffect(owed.id, clock.now(), note);
}

/** The reason must tell the person what to do. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof Fault && error.hint !== undefined && error.hint !== ""
    ? `${error.message}\n${error.hint}`
    : error.message;
}

/**
 * Tells the engine what follows from the effects that a task owes; false where nothing does. It reads only the store,
 * so that it does the same after a crash. `first` is the first effect that is not done.
 */
async function advance(ports: Work, id: string, first: StoredEffect | undefined): Promise<boolean> {
  const task = (await ports.store.getTask(id))?.task;
  const request = nextRequest(task, first);
  if (task === undefined || request === undefined) return false;
  try {
    const { decision } = await ports.submit(id, request);
    return decision.kind === "moved" || decision.kind === "stayed";
  } catch (error) {
    if (!needsPerson(error)) throw error;
    const { entry, held } = task;
    if (held !== undefined) return false;
    // A changed repository stays changed. Other git errors may be temporary.
    if (error.code !== "project.changed" && ports.failuresOf(id) < maxTries - 1) throw error;
    const action = "reading the workspace";
    await ports.submit(id, { kind: "unsettled", entry, action, reason: reasonOf(error) });
    return false;
  }
}

/** A person has to check the repository or the workspace; nothing else would solve it. */
function needsPerson(error: unknown): error is Fault {
  return error instanceof Fault && error.retry === "never" && /^(project|git|workspace)\./.test(error.code);
}

/**
 * The faults that say something about the task's work, or about its workflow: they are the `error` that rules cover. Every other
 * fault is about the environment, such as a moved repository, a full disk, a missing program or a rejected token. A person mends
 * that, so the task is held until then; the rules of its workflow could end it for good.
 */
const faultsOfWork: ReadonlySet<string> = new Set([
  ...["command.failed", "tests.timeout", "tests.killed", "forge.invalid", "pr.missing"],
  ...["action.unfilled", "branch.unfilled", "notify.unfilled", "effect.unavailable", "git.too-much"],
  ...["push.no-work", "push.default-branch", "workspace.detached", "workspace.operation"],
  ...["workspace.other-branch", "ticket.unmerged"],
  ...["merge.later", "merge.moved", "merge.no-parent", "merge.no-target", "merge.refused"],
]);

/** Whether the workflow's rules decide what follows from a failure of the state's own work. */
function isAboutWork({ word, code }: NonNullable<StoredEffect["failure"]>): boolean {
  return word !== "error" || (code !== undefined && faultsOfWork.has(code));
}

function nextRequest(task: Task | undefined, first: StoredEffect | undefined): Request | undefined {
  if (task === undefined) return undefined;
  const { entry, phase, held } = task;
  if (first?.failure !== undefined) {
    const { word, reason } = first.failure;
    if (phase === "doing" && isAboutWork(first.failure)) return { kind: "did", entry, word, reason };
    return held === undefined ? { kind: "unsettled", entry, action: first.effect.action, reason } : undefined;
  }
  if (phase === "entering") return { kind: "settled", entry };
  return phase === "doing" ? { kind: "did", entry, word: "ok" } : undefined;
}
