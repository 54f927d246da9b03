import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { TaskEvent } from "../../engine/decision.ts";
import { waysToDone } from "../../engine/persons-turn.ts";
import { isRunAwaited } from "../../engine/settled.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { Places } from "../../home/places.ts";
import type { Turns } from "../../keyed.ts";
import type { HarnessOrder } from "../../ports/harness.ts";
import type { Run, StartedRun } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import type { Clock } from "../../ports/system.ts";
import { publishAgents } from "../callers.ts";
import type { Submit } from "../submit.ts";
import { type Dispatch, namedReset, seatOf } from "./dispatch.ts";
import { type Harnesses, harnessNamed } from "./harnesses.ts";
import { killRun, limitReason } from "./heal-run.ts";
import type { Mail } from "./messages.ts";
import type { Rank } from "./queue-order.ts";
import { isWanted, type LaunchPorts, launchRun, makeRunFolder, readOrder, runName, writeOrder } from "./run-order.ts";
import { hookCommand } from "./run-programs.ts";
import type { ReportedEnd } from "./run-record.ts";
import { orderAgain, type SecretPorts } from "./run-secrets.ts";
import { type StartPorts, transcriptOf } from "./start-run.ts";
import type { RunWatch } from "./watch-run.ts";

export interface SleeperPorts extends LaunchPorts, Pick<StartPorts, "confine" | "log">, SecretPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly places: Places;
  readonly harnesses: Harnesses;
  readonly dispatch: Dispatch;
  readonly mail: Mail;
  readonly inTurn: Turns;
  workflowOf(task: Task): Promise<Workflow>;
  isWatched(watch: RunWatch): boolean;
  watch(run: Run): void;
  unwatch(run: string): void;
  /** Ends a run whose program cannot be started again: its workflow decides what follows. */
  end(run: Run, end: ReportedEnd): Promise<unknown>;
  track(work: Promise<unknown>): void;
}

/** Idle runs whose programs were ended because there were too many. They resume their sessions when they are needed. */
interface Sleepers {
  /** Ends the programs of the longest idle runs where more are running than may stay. */
  tend(watches: readonly RunWatch[]): void;
  isAsleep(run: string): boolean;
  /**
   * Wakes a sleeping run for a message: it takes a seat, and its program is started again. Does nothing where it is not
   * asleep.
   */
  rouse(run: string): void;
  /** Wakes a run for a person who wants to see it, without a seat. Returns the updated run. */
  wake(run: string): Promise<Run | undefined>;
  /** A task has changed: it may now wait for one of its sleeping runs. */
  noticed(task: Task): Promise<void>;
  /** Adopts a run that was asleep when the previous daemon died. */
  adopted(run: Run): Promise<void>;
  /**
   * A person has control of the run's terminal elsewhere than in tmux: its program is not ended. Returns the function that says
   * that the person has released it.
   */
  attend(run: string): () => void;
  forget(run: string): void;
  forgetTask(task: string): void;
}

/** How long a run must be idle before its program is ended, in milliseconds: a person may be about to attach to it. */
const minIdle = 10_000;
/** How often the daemon tries to start a program again before its run counts as lost, and the milliseconds between. */
const maxTries = 4;
const retryPause = 5_000;

export function createSleepers(ports: SleeperPorts): Sleepers {
  const { store, clock, dispatch, mail, inTurn, track } = ports;
  const asleep = new Map<string, Run & { readonly started: StartedRun }>();
  const rousing = new Set<string>();
  const goingToSleep = new Set<string>();
  /** How many people have control of a run. */
  const attended = new Map<string, number>();

  const maySleep = (watch: RunWatch) => {
    const { run, started, signs, pane, harness } = watch;
    return (
      isIdle(watch) &&
      clock.now() - signs.since >= minIdle &&
      pane?.watchers === 0 &&
      !attended.has(run.id) &&
      started.raised === "" &&
      started.ending === undefined &&
      // A failed run is retried when its limit is over, and only while it is watched.
      signs.error === undefined &&
      harness.can.resume &&
      harness.needsPrompt !== true &&
      run.session !== "" &&
      // A session that never began cannot be resumed.
      (signs.promptCount > 0 || started.isResumed) &&
      !dispatch.isSeated(run.id) &&
      !mail.waits(watch) &&
      !mail.isTelling(watch)
    );
  };
  const isWaitedFor = async (run: Run) => {
    const task = (await store.getTask(run.task))?.task;
    return task !== undefined && isRunAwaited(await ports.workflowOf(task), task, run.key);
  };
  /** Inside the mutex of its messages too, so that nothing is typed into a program that is about to be ended. */
  const sleep = (watch: RunWatch) =>
    inTurn(`mail ${watch.run.id}`, () =>
      inTurn(watch.run.id, async () => {
        if (!ports.isWatched(watch) || !maySleep(watch) || (await isWaitedFor(watch.run))) return;
        const { started, signs } = watch;
        // Stored first: after a crash the next daemon ends the program, and does not take its end for a crash.
        await watch.keep({ pid: 0, started: { ...started, asleepSince: signs.since } });
        const { run } = watch;
        ports.unwatch(run.id);
        asleep.set(run.id, { ...run, started: watch.started });
        await killRun(ports, run).finally(() => watch.readRest());
        await publishAgents(ports);
        const event: TaskEvent = { type: "agent.slept", by: "engine", data: { run: run.key }, set: {} };
        await store.addEvents(run.task, [event], clock.now());
        ports.log.info("An idle agent's program was ended to make room", { task: run.task, run: run.key });
      }),
    ).finally(async () => {
      // The run may have become needed meanwhile.
      if (asleep.has(watch.run.id)) await rouseIfNeeded(watch.run);
    });

  const wake = (id: string) =>
    inTurn(id, async () => {
      const run = asleep.get(id);
      const task = run && (await store.getTask(run.task))?.task;
      if (run === undefined || task === undefined || !isWanted(task, run.key)) return undefined;
      // A daemon that died while the run fell asleep or woke may have left a program.
      await killRun(ports, run);
      const woken = await startAgain(ports, run, task);
      asleep.delete(id);
      ports.watch(woken);
      return woken;
    });
  const failures = new Map<string, number>();
  /** Starts the program of a run that has a seat; false where it must be retried later. */
  const tryToWake = async (run: Run): Promise<boolean> => {
    try {
      // Where the run is no longer wanted, or a person has woken it, nothing else would release the seat.
      if ((await wake(run.id)) === undefined) dispatch.rests(run.id);
      return true;
    } catch (error) {
      dispatch.rests(run.id);
      const count = (failures.get(run.id) ?? 0) + 1;
      failures.set(run.id, count);
      const isHopeful = !(error instanceof Fault) || error.retry === "later";
      if (count < maxTries && isHopeful) return false;
      const reason = `It could not be started again in its session: ${error instanceof Error ? error.message : error}`;
      return ports.end(run, { word: "lost", reason }).then(
        () => true,
        () => false,
      );
    }
  };
  const rouse = (id: string) => {
    const run = asleep.get(id);
    if (run === undefined || rousing.has(id)) return;
    rousing.add(id);
    const over = () => void rousing.delete(id);
    const waking = dispatch.enter(seatOf(run)).then(
      async () => {
        if (await tryToWake(run)) failures.delete(id);
        else clock.after(retryPause * Math.min(failures.get(id) ?? 1, maxTries), () => rouseAgain(id));
      },
      () => failures.delete(id),
    );
    track(waking.finally(over));
  };
  /** The run may no longer be needed. */
  const rouseAgain = (id: string) => {
    const run = asleep.get(id);
    if (run !== undefined) track(rouseIfNeeded(run));
  };
  const rouseIfNeeded = async (run: Run) => {
    if ((await mail.untold(run)).length > 0 || (await isWaitedFor(run))) rouse(run.id);
  };

  return {
    tend(watches) {
      const idle = watches.filter(isIdle);
      const surplus = idle.length - goingToSleep.size - ports.config().agentsLive;
      if (surplus <= 0) return;
      const chosen = idle
        .filter((watch) => maySleep(watch) && !goingToSleep.has(watch.run.id))
        .sort((one, other) => one.signs.since - other.signs.since)
        .slice(0, surplus);
      for (const watch of chosen) {
        const { id } = watch.run;
        goingToSleep.add(id);
        track(sleep(watch).finally(() => goingToSleep.delete(id)));
      }
    },
    isAsleep: (run) => asleep.has(run),
    rouse,
    wake,
    async noticed(task) {
      for (const run of asleep.values()) if (run.task === task.id) await rouseIfNeeded(run);
    },
    async adopted(run) {
      if (run.started === undefined) return;
      asleep.set(run.id, { ...run, started: run.started });
      await rouseIfNeeded(run);
    },
    attend(run) {
      attended.set(run, (attended.get(run) ?? 0) + 1);
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        const left = (attended.get(run) ?? 1) - 1;
        if (left > 0) attended.set(run, left);
        else attended.delete(run);
      };
    },
    forget: (run) => void asleep.delete(run),
    forgetTask(task) {
      for (const run of [...asleep.values()]) if (run.task === task) asleep.delete(run.id);
    },
  };
}

function isIdle({ started, signs, pane }: RunWatch): boolean {
  return started.mode === "session" && signs.activity === "idle" && pane !== undefined && pane.dead === undefined;
}

/** Resumes the session of a sleeping run without a prompt. Each time the run has another name and folder. */
async function startAgain(ports: SleeperPorts, run: Run & { started: StartedRun }, task: Task): Promise<Run> {
  const { store, clock, places } = ports;
  const harness = harnessNamed(ports.harnesses, run.harness);
  const before = run.started;
  const wakes = (before.wakes ?? 0) + 1;
  const name = `${runName(task.id, run.key)}-${wakes + 1}`;
  const { runFolder, events } = await makeRunFolder(places, name);
  const kept = await readOrder(join(places.runs, before.name));
  const again: HarnessOrder = {
    ...(await orderAgain(ports, task, run, name, kept)),
    ...{ run: name, runFolder, prompt: "", schema: undefined },
    session: { kind: "resume", id: run.session },
    hook: hookCommand(places, events),
  };
  await writeOrder(runFolder, kept.spec, again);
  const prepared = await harness.prepare(again);
  const launch = await ports.confine({
    project: task.project,
    spec: kept.spec,
    harness,
    order: again,
    launch: prepared,
  });
  const { process: _, ...lasting } = before;
  const started: StartedRun = {
    ...{ ...lasting, name, wakes, at: clock.now(), isResumed: true, hasPrompt: false, raised: "" },
    isConfined: before.isConfined === true && launch.isConfined,
    ...(await transcriptOf(harness, run.session, run.folder)),
  };
  // The record says asleep until the program runs: if the daemon dies before, the next one ends any program left.
  await store.runs.put({ ...run, started });
  const { asleepSince: __, ...awake } = started;
  const woken = await launchRun(ports, { ...run, started: awake }, launch, runFolder);
  await store.runs.put(woken);
  await publishAgents(ports);
  const event: TaskEvent = { type: "agent.woken", by: "engine", data: { run: run.key }, set: {} };
  await store.addEvents(task.id, [event], clock.now());
  ports.log.info("An agent's program was started again in its session", {
    task: task.id,
    run: run.key,
    pid: woken.pid,
  });
  await rm(join(places.runs, before.name), { recursive: true, force: true });
  return woken;
}

interface RankPorts {
  readonly store: Store;
  workflowOf(task: Task): Promise<Workflow>;
}

/** The rank of a task's runs, from the task's current state. */
export async function taskRank({ store, workflowOf }: RankPorts, id: string): Promise<Rank> {
  const stored = await store.getTask(id);
  if (stored === undefined) throw new Fault("task.missing", `There is no task ${id}.`);
  const { task, order } = stored;
  return { ways: waysToDone(await workflowOf(task), task.status), priority: task.priority, order };
}

export interface IdlePorts {
  readonly clock: Clock;
  readonly store: Pick<Store, "openEffects">;
  readonly submit: Submit;
  readonly mail: Mail;
  readonly dispatch: Dispatch;
}

interface Idle {
  /** A run's turn has ended and the run is idle; called at every check. */
  noticed(watch: RunWatch): Promise<void>;
  /** Adopts a run of an earlier daemon, with the time of its last message. */
  adopted(run: string, toldAt: number): void;
  forget(run: string): void;
}

/** Milliseconds between two reminders. */
export const reminderInterval = 5 * 60_000;

interface Told {
  /** Since when the run was idle when the engine was last notified. */
  readonly since: number;
  readonly at: number;
  readonly remindedAt: number;
}

/**
 * Notifies the engine that an agent is idle: immediately, so that its results count, and again after each interval. The
 * interval begins when a reminder has reached the agent: a person is called for a quiet agent only after a reminder was
 * delivered and did not help.
 */
export function createIdle({ clock, store, submit, mail, dispatch }: IdlePorts): Idle {
  const told = new Map<string, Told>();
  /** A message for the run is on its way: owed by its task, or stored and undelivered. */
  const isToBeTold = async (run: Run) => {
    const isOwed = (await store.openEffects(run.task)).some(
      ({ state, effect }) => state === "owed" && effect.action === "notify_agent" && effect.agent?.run === run.key,
    );
    return isOwed || (await mail.untold(run)).length > 0;
  };
  return {
    async noticed(watch) {
      const { run, signs, harness } = watch;
      if (watch.started.mode !== "session") return;
      if (mail.waits(watch)) return mail.wake(watch);
      const now = clock.now();
      if (signs.error?.kind === "rate-limit") {
        const named = namedReset(signs.error.resetAt, signs.since);
        const until = named ?? signs.since + reminderInterval;
        const isLifted = (dispatch.liftedAt(harness.name) ?? Number.NEGATIVE_INFINITY) >= signs.since;
        if (now < until && !isLifted)
          return dispatch.limit(harness.name, until, limitReason(harness, signs.error.message), named === undefined);
        const text = "The provider's limit is over. Continue your work.";
        return mail.tell(run, text, `limit-${signs.since}`);
      }
      const before = inTime(told.get(run.id), now);
      if (before !== undefined) told.set(run.id, before);
      if (before?.since === signs.since && now - before.at < reminderInterval) return;
      const remindedAt = before?.remindedAt ?? Number.NEGATIVE_INFINITY;
      const hasHeardAt = Math.min(mail.toldAt(run) ?? remindedAt, now);
      const heardAt = remindedAt === Number.NEGATIVE_INFINITY ? remindedAt : Math.max(remindedAt, hasHeardAt);
      // A patient run gets no reminder, but its results still count.
      const isPatient = now - heardAt < reminderInterval || (await isToBeTold(run));
      told.set(run.id, { since: signs.since, at: now, remindedAt });
      const { decision } = await submit(run.task, { kind: "idle", run: run.key, isPatient });
      const isReminded = decision.kind === "stayed" && decision.events.some(({ type }) => type === "agent.reminded");
      if (isReminded) told.set(run.id, { since: signs.since, at: now, remindedAt: now });
    },
    adopted: (run, at) => void told.set(run, { since: Number.NaN, at, remindedAt: at }),
    forget: (run) => void told.delete(run),
  };
}

/** A clock that was set back must not make the pause longer. */
function inTime(told: Told | undefined, now: number): Told | undefined {
  return told && { ...told, at: Math.min(told.at, now), remindedAt: Math.min(told.remindedAt, now) };
}
