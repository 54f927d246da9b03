import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { TaskEvent } from "../../engine/decision.ts";
import { isAwaited } from "../../engine/idle.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { Places } from "../../home/places.ts";
import type { Clock } from "../../ports/clock.ts";
import type { HarnessOrder } from "../../ports/harness.ts";
import type { ProcessTable } from "../../ports/processes.ts";
import type { Run, StartedRun } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import { publishAgents } from "../agents-at-work.ts";
import type { Turns } from "../turns.ts";
import { type Dispatch, seatOf } from "./dispatch.ts";
import { killRun } from "./end-run.ts";
import { readOrder, writeOrder } from "./harness-order.ts";
import { type Harnesses, harnessNamed } from "./harnesses.ts";
import type { Mail } from "./mail.ts";
import type { ReportedEnd } from "./report-end.ts";
import { eventsFile, ownVariables } from "./run-environment.ts";
import { runName } from "./run-name.ts";
import { hookCommand } from "./run-programs.ts";
import { identified, isWanted, launchRun, type StartPorts, transcriptOf } from "./start-run.ts";
import type { RunWatch } from "./watch-run.ts";

export interface SleeperPorts extends Pick<StartPorts, "terminal" | "processes" | "config" | "log"> {
  readonly store: Store;
  readonly clock: Clock;
  readonly places: Places;
  readonly table: ProcessTable;
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

/** Idle runs whose programs were ended because too many were there. They go on in their sessions when they are needed. */
export interface Sleepers {
  /** Ends the programs of those that are idle for the longest, where more are there than may stay. */
  tend(watches: readonly RunWatch[]): void;
  isAsleep(run: string): boolean;
  /** A run is to be told something: it takes a seat, and its program is started again. Nothing where it does not sleep. */
  rouse(run: string): void;
  /** A person wants to see a run: its program is started again, without a seat. Gives the run as it is then. */
  wake(run: string): Promise<Run | undefined>;
  /** A task has changed: one of its runs that sleeps may be waited for now. */
  noticed(task: Task): Promise<void>;
  /** One that slept when the daemon before us died. */
  takenUp(run: Run): Promise<void>;
  forget(run: string): void;
  forgetTask(task: string): void;
}

/** How long a run is idle at least before its program is ended, in milliseconds: somebody may be about to look at it. */
const leastIdle = 10_000;
/** How often it is tried to start a program again before its run counts as lost, and the milliseconds between. */
const maxTries = 4;
const retryPause = 5_000;

export function createSleepers(ports: SleeperPorts): Sleepers {
  const { store, clock, dispatch, mail, inTurn, track } = ports;
  const asleep = new Map<string, Run & { readonly started: StartedRun }>();
  const rousing = new Set<string>();
  const goingToSleep = new Set<string>();

  const maySleep = (watch: RunWatch) => {
    const { run, started, signs, pane, harness } = watch;
    return (
      isIdle(watch) &&
      clock.now() - signs.since >= leastIdle &&
      pane?.watchers === 0 &&
      started.raised === "" &&
      started.ending === undefined &&
      // What failed is seen to when it is over, and only while somebody looks after the run.
      signs.error === undefined &&
      harness.can.resume &&
      harness.needsPrompt !== true &&
      run.session !== "" &&
      // What never began cannot be resumed.
      (signs.promptCount > 0 || started.isResumed) &&
      !dispatch.isSeated(run.id) &&
      !mail.waits(watch) &&
      !mail.isTelling(watch)
    );
  };
  const isWaitedFor = async (run: Run) => {
    const task = (await store.getTask(run.task))?.task;
    return task !== undefined && isAwaited(await ports.workflowOf(task), task, run.key);
  };
  /** In the turn of its messages too: nothing is typed into a program that is about to be ended. */
  const sleep = (watch: RunWatch) =>
    inTurn(`mail ${watch.run.id}`, () =>
      inTurn(watch.run.id, async () => {
        if (!ports.isWatched(watch) || !maySleep(watch) || (await isWaitedFor(watch.run))) return;
        const { started, signs } = watch;
        // Noted before: whoever comes after us ends the program, and takes its end for no crash.
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
      // It may have become needed meanwhile.
      if (asleep.has(watch.run.id)) await rouseIfNeeded(watch.run);
    });

  const wake = (id: string) =>
    inTurn(id, async () => {
      const run = asleep.get(id);
      const task = run && (await store.getTask(run.task))?.task;
      if (run === undefined || task === undefined || !isWanted(task, run.key)) return undefined;
      // Whoever died while it was about to sleep, or to wake, may have left a program.
      await killRun(ports, run);
      const woken = await startAgain(ports, run, task);
      asleep.delete(id);
      ports.watch(woken);
      return woken;
    });
  const failures = new Map<string, number>();
  /** Starts the program of a run that has a seat; false where it has to be tried again later. */
  const tryToWake = async (run: Run): Promise<boolean> => {
    try {
      // Where it is not wanted any more, or a person has woken it, nobody else would give the seat back.
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
  /** It may not be needed any more. */
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
    async takenUp(run) {
      if (run.started === undefined) return;
      asleep.set(run.id, { ...run, started: run.started });
      await rouseIfNeeded(run);
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

/** Starts the program of a run that sleeps in its session, and tells it nothing. Each time it has another name and folder. */
async function startAgain(ports: SleeperPorts, run: Run & { started: StartedRun }, task: Task): Promise<Run> {
  const { store, clock, places } = ports;
  const harness = harnessNamed(ports.harnesses, run.harness);
  const before = run.started;
  const wakes = (before.wakes ?? 0) + 1;
  const name = `${runName(task.id, run.key)}-${wakes + 1}`;
  const runFolder = join(places.runs, name);
  await mkdir(runFolder, { recursive: true, mode: 0o700 });
  const { spec, order } = await readOrder(join(places.runs, before.name));
  const events = eventsFile(places, name);
  const env = { ...order.env, SIGNALBOX_EVENTS: events };
  const again: HarnessOrder = {
    ...{ ...order, run: name, runFolder, prompt: "", schema: undefined, env },
    session: { kind: "resume", id: run.session },
    mcp: order.mcp && { ...order.mcp, env: ownVariables(env) },
    hook: hookCommand(places, events),
  };
  await writeOrder(runFolder, { spec, order: again });
  const launch = await harness.prepare(again);
  const { process: _, ...kept } = before;
  const started: StartedRun = {
    ...{ ...kept, name, wakes, at: clock.now(), isResumed: true, hasPrompt: false, raised: "" },
    ...(await transcriptOf(harness, run.session, run.folder)),
  };
  // It counts as asleep until its program is there: if we die before, the program that may be there is ended.
  await store.runs.put({ ...run, started });
  const { asleepSince: __, ...awake } = started;
  const opened = { ...run, started: awake };
  const pid = await launchRun(ports, ports.config(), task, opened, launch, runFolder);
  const woken = await identified(ports, { ...opened, pid });
  await store.runs.put(woken);
  await publishAgents(ports);
  const event: TaskEvent = { type: "agent.woken", by: "engine", data: { run: run.key }, set: {} };
  await store.addEvents(task.id, [event], clock.now());
  ports.log.info("An agent's program was started again in its session", { task: task.id, run: run.key, pid });
  await rm(join(places.runs, before.name), { recursive: true, force: true });
  return woken;
}
