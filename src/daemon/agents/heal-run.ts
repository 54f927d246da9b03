import type { TaskEvent } from "../../engine/decision.ts";
import { countsAsAnswer, reportOf } from "../../engine/handed.ts";
import type { Healing } from "../../engine/reconcile.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault, tell } from "../../fault.ts";
import type { Places } from "../../home/places.ts";
import type { Harness, HarnessOrder } from "../../ports/harness.ts";
import type { Processes } from "../../ports/processes.ts";
import type { Run, StartedRun } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import type { Clock } from "../../ports/system.ts";
import type { Terminal } from "../../ports/terminal.ts";
import { lastWords, oneLine, sentences } from "../../text.ts";
import type { Confine } from "./confine.ts";
import { type Dispatch, defaultLimit, namedReset } from "./dispatch.ts";
import { countedOf, countedUpTo, endingSignal, readTurn } from "./read-turn.ts";
import { isWanted, type LaunchPorts, launchRun, processName, readOrder, runMark } from "./run-order.ts";
import { endingOfUnwanted, type ReportedEnd } from "./run-record.ts";
import { forgetSecrets, orderAgain, type SecretPorts } from "./run-secrets.ts";
import { isOfConversation, usageIn } from "./run-signs.ts";
import type { UsageBook } from "./usage.ts";
import type { RunWatch } from "./watch-run.ts";

export interface EndingPorts {
  readonly terminal: Terminal;
  readonly processes: Processes;
  readonly places: Places;
  /** The run is over: stops watching it and reports its end to the engine. */
  finish(watch: RunWatch, end: ReportedEnd): Promise<void>;
}

export type Ending = NonNullable<StartedRun["ending"]>;

export async function endRun(ports: EndingPorts, watch: RunWatch, ending: Ending): Promise<void> {
  await noteEnding(watch, ending);
  await killRun(ports, watch.run);
  await ports.finish(watch, ending);
}

/**
 * Stored before the program is ended: if the daemon dies in between, its successor neither takes the end for a crash
 * nor lets the run continue.
 */
export async function noteEnding(watch: RunWatch, { word, reason }: Ending): Promise<void> {
  await watch.keep({ started: { ...watch.started, ending: { word, reason } } });
}

export type KillPorts = Pick<EndingPorts, "terminal" | "processes" | "places">;

/**
 * Ends the process of a run with everything that it started. The process is found by its recorded identity and by its
 * mark, whether or not its window can be reached.
 */
export async function killRun(ports: KillPorts, run: Run): Promise<void> {
  const { started } = run;
  if (started === undefined) return;
  const { terminal, processes } = ports;
  const isSession = started.mode === "session";
  // A terminal that hangs must keep no program alive. A supervisor, however, ends the program itself, because it
  // records the reason.
  if (isSession && started.process !== undefined) await sweepRun(ports, run);
  const closing = isSession ? terminal.close(started.name) : processes.kill(processName(started));
  const failure = await closing.then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  const hasSwept = await sweepRun(ports, run);
  // With a recorded identity the sweep has found everything, so a window that cannot be closed does not matter.
  if (failure !== undefined && started.process === undefined && !hasSwept) throw failure.error;
}

/**
 * Ends the remaining processes of a run that has ended or cannot be reached, before another run works in its folder.
 */
async function sweepRun({ terminal, processes, places }: KillPorts, { started }: Run): Promise<boolean> {
  if (started === undefined) return false;
  // Both marks together: a process that has dropped one of them gets its time beside the others, not after them.
  const ofWindow = started.mode === "session" ? terminal.markOf?.(started.name) : undefined;
  const marks = [runMark(places, started.name), ...(ofWindow === undefined ? [] : [ofWindow])];
  return processes.sweep(started.process, ...marks);
}

interface KillerPorts extends KillPorts {
  readonly store: Store;
  readonly clock: Clock;
  isStopped(): boolean;
  track(work: Promise<unknown>): void;
  /** Stops watching the run, and returns its watch. */
  forget(run: Run): RunWatch | undefined;
  /** The program is gone. */
  ended(run: Run, watched: RunWatch | undefined): Promise<void>;
}

/** Milliseconds between two attempts to end a program. */
const killInterval = 5_000;

/** Ends the programs of runs that are no longer wanted. */
export function createKiller(ports: KillerPorts) {
  const { store, clock, isStopped, track } = ports;
  /** Runs that could not be ended; they keep their seats until they are. */
  const undead = new Set<string>();
  const close = async ({ id }: Run) => {
    const run = await store.runs.get(id);
    if (run !== undefined && run.endedAt === undefined)
      await store.runs.put({ ...run, endedAt: clock.now(), ...(await endingOfUnwanted(store, run)) });
  };
  const kill = async (run: Run): Promise<void> => {
    const watched = ports.forget(run);
    await killRun(ports, run).catch((error) => {
      // The task may continue without the run, so nothing else would retry.
      undead.add(run.id);
      clock.after(killInterval, () => {
        if (undead.has(run.id) && !isStopped()) track(kill(run).then(() => close(run)));
      });
      throw error;
    });
    undead.delete(run.id);
    await ports.ended(run, watched);
    if (run.started !== undefined) forgetSecrets(ports.places.runs, run.started.name);
  };
  return { kill, close };
}

interface HealPorts extends LaunchPorts, SecretPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly places: Places;
  readonly dispatch: Dispatch;
  readonly book: UsageBook;
  readonly confine: Confine;
  workflowOf(task: Task): Promise<Workflow>;
  runFolder(name: string): string;
  /** The run is over: stops watching it and reports its end to the engine. */
  finish(watch: RunWatch, end: ReportedEnd): Promise<void>;
  /** The run continues in another process. */
  rewatch(run: Run): void;
  idle(watch: RunWatch): Promise<void>;
  /** The run waits for a login. */
  awaitLogin(watch: RunWatch): Promise<void>;
}

/** How often an invalid answer is asked for again in the same session. */
const maxAsked = 2;
/** Milliseconds that a program may take to end after its provider has named a limit. */
const maxEndTime = 60_000;

/** Carries out what `reconcile` found. */
export function healRun(ports: HealPorts): (watch: RunWatch, healing: Healing) => Promise<void> {
  return async (watch, healing) => {
    const { ending } = watch.started;
    // An earlier daemon has ended the run, or was about to.
    if (ending !== undefined) return endRun(ports, watch, ending);
    switch (healing.kind) {
      case "none":
        return;
      case "judge":
        return judge(ports, watch, healing.isLost === true).catch((error) => misjudged(ports, watch, error));
      case "lost":
        return ports.finish(watch, {
          word: "lost",
          reason: (await sweep(ports, watch))
            ? "It could no longer be reached, and was ended."
            : "It ended together with its terminal server or its machine.",
        });
      case "stalled":
        return endRun(ports, watch, { word: "stall", reason: healing.reason });
      case "overdue":
        return endRun(ports, watch, { word: "time", reason: healing.reason });
      case "raise":
        await raise(ports, watch, healing.reason);
        return watch.obstacle?.kind === "login" ? ports.awaitLogin(watch) : undefined;
      case "idle":
        return ports.idle(watch);
    }
  };
}

async function judge(ports: HealPorts, watch: RunWatch, isLost: boolean): Promise<void> {
  if (watch.reading === undefined) return judgeSession(ports, watch, await sweep(ports, watch), isLost);
  // The kernel may still be ending what is in its sandbox. Its files count only as they are after that.
  if (watch.started.isConfined === true) await sweep(ports, watch);
  return judgeTurn(ports, watch);
}

/**
 * What a run has written must not keep its end from being judged: then it has failed. A fault, or an error of the system, may
 * pass; the next check tries again, and a person is called.
 */
async function misjudged(ports: HealPorts, watch: RunWatch, error: unknown): Promise<void> {
  if (error instanceof Fault) throw error;
  const reason = `How it ended could not be read: ${oneLine(error instanceof Error ? error.message : String(error), 300)}`;
  const isOfSystem = error instanceof Error && "code" in error;
  try {
    if (isOfSystem) throw error;
    await ports.finish(watch, { word: "error", reason });
  } catch (again) {
    await raise(ports, watch, reason);
    throw again;
  }
}

/** Ends every process of the run before another run takes its place. Returns whether any was alive. */
async function sweep(ports: HealPorts, watch: RunWatch): Promise<boolean> {
  try {
    const hasSwept = await sweepRun(ports, watch.run);
    // Processes that dropped the run's variables still have the mark of their terminal.
    const isSession = watch.started.mode === "session";
    return (isSession && (await ports.terminal.sweep(watch.started.name))) || hasSwept;
  } catch (error) {
    if (error instanceof Fault) await raise(ports, watch, tell(error));
    throw error;
  }
}

/** Records on the run and in the task's history that a person is needed. */
export async function raise(
  { store, clock }: Pick<HealPorts, "store" | "clock">,
  watch: Pick<RunWatch, "run" | "started" | "keep">,
  reason: string,
): Promise<void> {
  const { run, started } = watch;
  if (started.raised === reason) return;
  await watch.keep({ started: { ...started, raised: reason } });
  const event: TaskEvent = { type: "agent.raised", by: "engine", data: { run: run.key, reason }, set: {} };
  await store.addEvents(run.task, [event], clock.now());
}

async function judgeSession(ports: HealPorts, watch: RunWatch, hasSurvived: boolean, isLost: boolean): Promise<void> {
  const { pane, signs, started, harness } = watch;
  if (signs.error?.kind === "rate-limit") return limited(ports, watch, signs.error.resetAt, signs.error.message);
  const signal = pane?.dead === undefined ? "" : endingSignal(pane.dead);
  const gone = isLost ? "Its terminal server died twice in a row, right after a start" : "Its window was closed";
  const how =
    pane?.dead === undefined
      ? `${gone}${hasSurvived ? ", and it was ended" : ""}.`
      : signal !== ""
        ? `It was ended by ${signal}.`
        : `It ended with ${pane.dead.code ?? "an unknown code"}.`;
  // The screen of a dead program stays until its window is closed.
  const screen = pane?.dead === undefined ? "" : await ports.terminal.capture(started.name, 50).catch(() => "");
  const obstacle = harness.readObstacle?.([signs.error?.message, screen].join("\n"));
  if (obstacle?.kind === "session" && started.isResumed) return startAnew(ports, watch, obstacle.told);
  // A program that was killed from outside printed no reason.
  const words = pane?.dead !== undefined && signal === "" ? lastWords(screen) : "";
  const said = signs.error?.message ?? (words === "" ? "" : `It said last: ${words}`);
  await ports.finish(watch, { word: "exit", reason: sentences([how, obstacle?.told ?? "", said]) });
}

/** The session to resume does not exist: starts the same run in a new session; this counts as no attempt. */
async function startAnew(ports: HealPorts, watch: RunWatch, reason: string): Promise<void> {
  await watch.keep({ session: "", started: { ...watch.started, hasBegun: false } });
  return ports.finish(watch, { word: "lost", reason });
}

async function judgeTurn(ports: HealPorts, watch: RunWatch): Promise<void> {
  const { run, started, reading } = watch;
  const read = await reading?.end();
  if (read === undefined)
    return ports.finish(watch, { word: "error", reason: "It ended immediately, and how it ended was not recorded." });
  const isCounted = countedOf(ports.book.of(run.id), started).isEnd;
  const used = isCounted ? [] : usageIn(read.events);
  await ports.book.add(run, used, countedUpTo(started, read.position, true), ports.clock.now());
  const session = read.events.findLast((event) => event.kind === "session")?.id ?? run.session;
  const hasBegun = read.events.some((event) => isOfConversation(event, watch.harness.can.namesSession));
  if (session !== "" && (session !== run.session || hasBegun))
    await watch.keep({ session, started: { ...watch.started, hasBegun: watch.started.hasBegun || hasBegun } });
  const task = (await ports.store.getTask(run.task))?.task;
  if (task === undefined) return ports.finish(watch, { word: "exit" });
  const { spec } = await readOrder(ports.runFolder(started.name));
  const workflow = await ports.workflowOf(task);
  const verdict = readTurn(workflow, spec, read.end, read.turn, started.isResumed);
  switch (verdict.kind) {
    case "ended": {
      // Once a conversation has begun, its text may mention logins too.
      const printed = watch.started.hasBegun === true ? verdict.reason : `${verdict.reason}\n${read.turn.text}`;
      const hasFailed = verdict.word === "error" || verdict.word === "login";
      const seen = hasFailed ? watch.harness.readObstacle?.(printed) : undefined;
      if (seen === undefined) return ports.finish(watch, verdict);
      const word = seen.kind === "login" ? "login" : verdict.word;
      return ports.finish(watch, { ...verdict, word, reason: sentences([seen.told, verdict.reason]) });
    }
    case "limited":
      return limited(ports, watch, verdict.until, verdict.reason);
    case "session-gone":
      return startAnew(ports, watch, verdict.reason);
    case "invalid": {
      // The report of a run is its answer: there is nothing to ask again.
      const hasAnswered = reportOf(task, run.key) !== undefined && countsAsAnswer(workflow, spec);
      const canAsk = started.part < maxAsked && watch.harness.can.resume && watch.run.session !== "";
      if (canAsk && !hasAnswered && isWanted(task, run.key)) return askAgain(ports, watch, task, verdict.reason);
      return ports.finish(watch, { word: "invalid", reason: verdict.reason, answer: verdict.answer });
    }
  }
}

/** The provider accepts no more: nothing is started in that harness until the limit is over, then the run continues. */
async function limited(ports: HealPorts, watch: RunWatch, until: number | undefined, reason: string): Promise<void> {
  const { run, harness } = watch;
  const at = ports.clock.now();
  // A reset time that is past now may still have been ahead when the provider named it.
  const named = namedReset(until, at - maxEndTime);
  const end = Math.max(named ?? at + defaultLimit, at + 1_000);
  const isGuess = named === undefined || named <= at;
  ports.dispatch.limit(harness.name, end, limitReason(harness, reason), isGuess);
  const data = { run: run.key, harness: harness.name, until: new Date(end).toISOString(), reason };
  await ports.store.addEvents(run.task, [{ type: "agent.limited", by: "engine", data, set: {} }], at);
  await ports.finish(watch, { word: "lost", reason });
}

/** Every run of a harness gives the same reason for a limit, so that a person is called once for it. */
export function limitReason({ title }: Pick<Harness, "title">, message: string): string {
  return `${title} accepts no more requests for now: ${message}`;
}

/** Tells the same session what was wrong with its answer, and asks again. */
async function askAgain(ports: HealPorts, watch: RunWatch, task: Task, problem: string): Promise<void> {
  const { run, started, harness } = watch;
  const kept = await readOrder(ports.runFolder(started.name));
  const { spec } = kept;
  const order: HarnessOrder = {
    ...(await orderAgain(ports, task, run, started.name, kept)),
    prompt: `Your answer cannot be used. ${problem} Answer again with the JSON that was asked for, and nothing else.`,
    session: { kind: "resume", id: run.session },
  };
  const prepared = await harness.prepare(order);
  const launch = await ports.confine({ project: run.project, spec, harness, order, launch: prepared });
  const isConfined = started.isConfined === true && launch.isConfined;
  // The reason for ending the run may have been recorded meanwhile, and must stay.
  await watch.keep({ started: { ...watch.started, part: started.part + 1, isResumed: true, isConfined } });
  await watch.keep(await launchRun(ports, watch.run, launch, ports.runFolder(started.name)));
  watch.close();
  ports.rewatch(watch.run);
}
