import { readDuration } from "../../engine/duration.ts";
import { type Activity, type Healing, type RunLimits, reconcile } from "../../engine/reconcile.ts";
import { specOf } from "../../engine/run-spec.ts";
import { Fault } from "../../fault.ts";
import type { Harness, HarnessEvent, Obstacle, ScreenState } from "../../ports/harness.ts";
import type { ProcessTable } from "../../ports/processes.ts";
import type { Run, StartedRun } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import type { Clock } from "../../ports/system.ts";
import type { Tail, TailPosition, Tails } from "../../ports/tail.ts";
import type { Pane, Terminal, TerminalServer } from "../../ports/terminal.ts";
import { countedUpTo, nameOfRun, type TurnReading } from "./read-turn.ts";
import {
  changedAt,
  firstSigns,
  isOfConversation,
  isOfWork,
  isOutOfReach,
  knownProcess,
  lastTouched,
  paneProcess,
  type RunSigns,
  type Seen,
  usageIn,
  wasLostBefore,
  withEvent,
} from "./run-signs.ts";
import type { StartPorts } from "./start-run.ts";
import { turnsAfter } from "./turns.ts";
import type { UsageBook } from "./usage.ts";

export interface WatchPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly terminal: Terminal;
  readonly tails: Tails;
  readonly table: ProcessTable;
  readonly book: UsageBook;
  /** Reads the output and the end of a run without a terminal. */
  readingOf(run: Run, harness: Harness): TurnReading;
  eventsFile(started: StartedRun): string;
  /** The number of the last listing of all panes that had begun when the watch began. */
  readonly since: number;
  limitsOf(run: Run): Promise<RunLimits>;
  /** The name of its task file in its workspace, as far as it can be guessed. */
  taskFileOf(run: Run): string;
  /** Carries out the result of `reconcile`. */
  heal(watch: RunWatch, healing: Healing): Promise<void>;
  /** Called when the daemon has learnt something about the run. */
  learnt(watch: RunWatch): void;
}

/** Watches one run. Everything that is observed goes through `reconcile`. */
export interface RunWatch {
  readonly run: Run;
  readonly started: StartedRun;
  readonly harness: Harness;
  readonly signs: RunSigns;
  /** When its current activity began, also if an earlier daemon saw that. Shown to people. */
  readonly since: number;
  /** Its pane in the last listing of all panes; undefined where there is none, or the run has no terminal. */
  readonly pane: Pane | undefined;
  readonly reading: TurnReading | undefined;
  /** What stops it from working until a person acts. */
  readonly obstacle: Obstacle | undefined;
  /** Why its events cannot be read; empty where they can. */
  readonly trouble: string;
  /** Its files have more than one check reads. */
  readonly hasMore: boolean;
  /** Its program has ended. That is reported immediately, unless nothing can be saved. */
  readonly isOver: boolean;
  /** Checks the run: reads its evidence, and does what follows from it. */
  look(seen: Seen): Promise<void>;
  /** Reads the rest of its files after it was ended: its usage counts, and nothing else follows. */
  readRest(): Promise<void>;
  /** Changes its record. */
  keep(change: Partial<Run>): Promise<void>;
  close(): void;
}

const beginning: TailPosition = { offset: 0, before: "" };
/** How long a busy agent may be quiet before its screen is read, in milliseconds. */
const screenInterval = 10_000;
/**
 * How long a screen must look ready before that counts, where nothing shows that the prompt has arrived; milliseconds.
 */
const promptTimeout = 60_000;
/**
 * Every run is checked every few seconds; after a longer gap the machine, or this process, was asleep. Milliseconds.
 */
const maxGap = 60_000;
/**
 * How many megabytes of a file one check reads. A run that writes without end must not stop the daemon from noticing
 * other things, such as the end of that run. The rest of an ended run's files has another limit.
 */
const maxMegabytes = 2;
const maxMegabytesAtEnd = 32;
/** The share of a core that its children must use to count as working. */
const minShare = 0.05;

export function watchRun(ports: WatchPorts, first: Run & { started: StartedRun }, harness: Harness): RunWatch {
  const { store, clock, terminal, tails, book } = ports;
  const { started } = first;
  const isSession = started.mode === "session";
  let run: Run = first;
  let signs = firstSigns(clock.now(), first.session, started.transcript);
  let startedAt = started.at;
  let lookedAt = clock.now();
  let pane: Pane | undefined;
  /** The server that had its pane when the pane was last seen. */
  let server: TerminalServer | undefined;
  let shownAt = -1;
  let shown: ScreenState = "starting";
  let readySince = Number.POSITIVE_INFINITY;
  /** Its activity before the screen showed a dialog that no other source reports. */
  let behindDialog: Activity | undefined;
  let hasWorked = false;
  let obstacle: Obstacle | undefined;
  let isClosed = false;
  let cpu = { at: 0, used: 0, isBusy: false };
  const troubles = { events: "", transcript: "" };
  let hasMore = false;
  let isOver = false;
  let adopted: { readonly since: number; readonly at: number } | undefined;
  const events = tails.open(ports.eventsFile(started), beginning, true);
  let transcript = openTranscript();
  const reading = isSession ? undefined : ports.readingOf(first, harness);

  function openTranscript() {
    // A turn prints everything that is in its transcript.
    if (signs.transcript === "" || !isSession) return undefined;
    const known = book.of(run.id)?.position ?? beginning;
    const from = known.offset > started.transcriptFrom ? known : { offset: started.transcriptFrom, before: "" };
    return { path: signs.transcript, tail: tails.open(signs.transcript, from) };
  }

  /** The transcript reports the same things late: where hooks report, it does not set the current activity. */
  const learn = async (learnt: readonly HarnessEvent[], position: TailPosition, isSecond = false) => {
    const now = clock.now();
    for (const event of learnt) {
      const { activity, since, tools } = signs;
      signs = withEvent(signs, event, now);
      if (isSecond) signs = { ...signs, activity, since, tools };
    }
    hasWorked ||= learnt.some(isOfWork);
    if (learnt.some((event) => isOfConversation(event, harness.can.namesSession))) await noteBeginning();
    if (signs.transcript !== transcript?.path) transcript = openTranscript();
    await book.add(run, usageIn(learnt), position, now);
    if (signs.session !== run.session) await keep({ session: signs.session });
  };
  const noteBeginning = async () => {
    if (run.started?.hasBegun === false) await keep({ started: { ...run.started, hasBegun: true } });
  };
  const keep = async (change: Partial<Run>) => {
    run = { ...run, ...change };
    await store.runs.put(run);
  };

  const readEvidence = async (most: number) => {
    let count = 0;
    hasMore = false;
    const readOn = async (tail: Tail, read: (line: string) => readonly HarnessEvent[], isSource: boolean) => {
      for (let parts = 1; ; parts++) {
        const part = await tail.read();
        troubles[isSource ? "transcript" : "events"] = part.trouble ?? "";
        const learnt = part.lines.flatMap(({ text, isCut }) => (isCut ? [] : read(text)));
        if (part.lines.length > 0) signs = { ...signs, signAt: clock.now() };
        count += learnt.length;
        const position = isSource ? part.position : (book.of(run.id)?.position ?? beginning);
        await learn(learnt, position, isSource && harness.can.acknowledges === "hook");
        if (!part.hasMore) return;
        if (parts >= most) {
          hasMore = true;
          return;
        }
      }
    };
    await readOn(events, (line) => harness.readEvidence(line), false);
    if (transcript !== undefined) await readOn(transcript.tail, (line) => harness.readTranscript(line), true);
    if (reading === undefined) return count > 0;
    const printed = await reading.read();
    await learn(printed.events, countedUpTo(started, printed.position));
    hasMore ||= printed.hasMore;
    if (printed.grew) signs = { ...signs, signAt: clock.now() };
    return count + printed.events.length > 0;
  };

  /** What a run has written must not keep the daemon from noticing its end. */
  const unreadable = (error: unknown) => {
    if (!(error instanceof Error) || error instanceof Fault || "code" in error) throw error;
    troubles.events = `${error.message}.`;
    return false;
  };

  /** The screen is weak evidence: it is read only where there is no stronger evidence. */
  const readScreen = async () => {
    if (pane === undefined || pane.dead !== undefined) return;
    const quiet = clock.now() - signs.signAt;
    const isMute = harness.can.acknowledges === "no";
    if (signs.activity !== "asks") behindDialog = undefined;
    const known = behindDialog ?? signs.activity;
    const wants = known === "starting" || isMute || (known === "busy" && quiet > screenInterval);
    // Until it has worked it may be waiting for a login, whatever its hooks report.
    if (!wants && hasWorked && obstacle === undefined) return;
    // A pane without output since the last check shows the same; pane times have whole seconds.
    const isSame = pane.activeAt === shownAt && clock.now() - pane.activeAt > 2_000;
    if (!isSame) {
      shownAt = pane.activeAt;
      const screen = await terminal.capture(started.name);
      shown = harness.readScreen(screen, pane.title);
      readySince = shown === "ready" ? Math.min(readySince, clock.now()) : Number.POSITIVE_INFINITY;
      await meet(hasWorked ? undefined : seenOn(screen));
    }
    if (obstacle !== undefined) {
      behindDialog = known;
      if (signs.activity !== "asks") signs = { ...signs, activity: "asks", since: clock.now() };
      return;
    }
    if (!wants) {
      if (signs.activity !== known) signs = { ...signs, activity: known, since: clock.now() };
      return;
    }
    if (isMute && (shown === "ready" || shown === "busy")) await noteBeginning();
    // Text that is typed between the drawing of the input box and the arrival of the prompt gets lost or mixed up.
    const isEarly = started.hasPrompt === true && !isMute && clock.now() - readySince < promptTimeout;
    const activity = known === "starting" && shown === "ready" && isEarly ? known : activityOf(shown, known, isMute);
    behindDialog = activity === "asks" ? known : undefined;
    if (activity !== signs.activity) signs = { ...signs, activity, since: clock.now() };
  };

  const seenOn = (screen: string): Obstacle | undefined => {
    const seen = harness.readObstacle?.(screen);
    const isAwaited = seen?.kind === "login" && harness.login !== undefined;
    return isAwaited ? { ...seen, told: `${seen.told} (it then continues by itself)` } : seen;
  };

  /** When an obstacle is gone, the call to a person about it is over too. */
  const meet = async (next: Obstacle | undefined) => {
    const before = obstacle;
    obstacle = next;
    if (before !== undefined && next === undefined && run.started?.raised === before.told)
      await keep({ started: { ...run.started, raised: "" } });
  };

  /** An expired login shows as a failure, even in the middle of the work. */
  const failedLogin = () =>
    signs.error?.kind === "authentication" ? harness.readObstacle?.(signs.error.message) : undefined;

  const isAtWork = async (stall: number | undefined) => {
    if (signs.tools > 0) return true;
    const quiet = (clock.now() - signs.signAt) / 1000;
    if (stall === undefined || quiet < stall / 2 || run.pid === 0) return false;
    // Changing files are a sign of life too.
    const touched = await lastTouched(run.folder, ports.taskFileOf(run));
    if (touched > signs.signAt) signs = { ...signs, signAt: Math.min(touched, clock.now()) };
    if (clock.now() - signs.signAt < (stall * 1000) / 2) return true;
    const family = (await ports.table.familyOf(run.pid)).filter(({ pid }) => pid !== run.pid);
    let used = 0;
    for (const { pid } of family) used += await ports.table.cpuTime(pid);
    const at = clock.now();
    if (at - cpu.at > 1_000) cpu = { at, used, isBusy: used - cpu.used > (at - cpu.at) * minShare };
    return cpu.isBusy;
  };

  /**
   * A clock that was set back must not make a run wait longer. Time in which nobody checked the run, because the
   * machine slept or was overloaded, does not count as silence.
   */
  const keepTime = () => {
    const now = clock.now();
    const slept = now - lookedAt > maxGap ? now - lookedAt : 0;
    lookedAt = now;
    startedAt = Math.min(startedAt + slept, now);
    if (slept > 0) signs = { ...signs, signAt: signs.signAt + slept };
    if (cpu.at > now) cpu = { ...cpu, at: now };
    if (signs.signAt <= now && signs.since <= now) return;
    signs = { ...signs, signAt: Math.min(signs.signAt, now), since: Math.min(signs.since, now) };
  };

  const look = async (seen: Seen) => {
    if (isClosed) return;
    keepTime();
    const before = pane?.activeAt;
    if (isSession) pane = seen.panes.get(started.name);
    server = pane?.server ?? server;
    const isNews = seen.number > ports.since;
    const process = isSession
      ? isNews
        ? paneProcess(pane, seen, server, started.at)
        : "absent"
      : knownProcess(await reading?.process(), run, clock.now());
    isOver = process === "ended" || process === "lost";
    const hasLearnt = await readEvidence(isOver ? maxMegabytesAtEnd : maxMegabytes).catch(unreadable);
    // Events from before this daemon started have no time, so the time of their file counts.
    adopted ??= { since: signs.since, at: Math.min(signs.since, await changedAt(ports.eventsFile(started))) };
    // A harness with a spinner writes to its screen for ever: that is no sign of life where it has a better way to
    // report.
    if (pane !== undefined && before !== undefined && pane.activeAt > before && harness.can.acknowledges === "no")
      signs = { ...signs, signAt: Math.max(signs.signAt, pane.activeAt) };
    // The screen is weak evidence: a terminal that does not answer must not stop the rest of the check.
    await readScreen().catch((error) => {
      if (!isOutOfReach(error)) throw error;
    });
    const turns = turnsAfter(run, signs.activity, self.since);
    if (turns !== undefined && run.started !== undefined) await keep({ started: { ...run.started, turns } });
    const limits = await ports.limitsOf(run);
    const isBusy = process === "running" && (await isAtWork(limits.stall));
    const now = clock.now();
    const healing = reconcile(
      {
        mode: started.mode,
        process: process ?? "absent",
        isLostAgain: process === "lost" && (await wasLostBefore(store, run)),
        activity: signs.activity,
        age: (now - startedAt) / 1000,
        quiet: (now - signs.signAt) / 1000,
        isAtWork: isBusy,
        idle: signs.activity === "idle" ? (now - signs.since) / 1000 : 0,
        obstacle: (obstacle ?? failedLogin())?.told ?? "",
        // A program that reports nothing may look as if it were starting for ever.
        starting: signs.activity === "starting" && harness.can.acknowledges !== "no" ? (now - signs.since) / 1000 : 0,
        isRaised: (run.started?.raised ?? "") !== "",
      },
      limits,
    );
    if (healing.kind !== "none" || run.started?.ending !== undefined) await ports.heal(self, healing);
    if (hasLearnt) ports.learnt(self);
  };

  const self: RunWatch = {
    get run() {
      return run;
    },
    get started() {
      return run.started ?? started;
    },
    get signs() {
      return signs;
    },
    get since() {
      const { since, activity } = signs;
      return activity === "idle" && adopted?.since === since && adopted.at > 0 ? adopted.at : since;
    },
    get pane() {
      return pane;
    },
    get obstacle() {
      return obstacle ?? failedLogin();
    },
    get trouble() {
      return [troubles.events, transcript === undefined ? "" : troubles.transcript].filter(Boolean).join(" ");
    },
    get hasMore() {
      return hasMore;
    },
    get isOver() {
      return isOver;
    },
    harness,
    reading,
    look,
    async readRest() {
      await readEvidence(maxMegabytesAtEnd);
    },
    keep,
    close: () => {
      isClosed = true;
    },
  };
  return self;
}

function activityOf(shown: ReturnType<Harness["readScreen"]>, known: Activity, isMute: boolean): Activity {
  if (shown === "asks") return "asks";
  if (shown === "ready") return known === "starting" || isMute ? "idle" : known;
  if (shown === "busy") return known === "starting" || isMute ? "busy" : known;
  return known === "asks" ? "unknown" : known;
}

/** How long a run may be quiet, and how long it may last, from the current workflow and configuration. */
export async function limitsOf(
  { store, workflowOf, config }: Pick<StartPorts, "store" | "workflowOf" | "config">,
  run: Run,
): Promise<RunLimits & { readonly pollInterval?: number | undefined }> {
  const task = (await store.getTask(run.task))?.task;
  const workflow = task && (await workflowOf(task));
  const state = task && workflow?.states[task.status];
  if (workflow === undefined || state === undefined) return { stall: undefined, time: undefined };
  const { limits } = specOf(workflow, state, nameOfRun(run.key));
  const own = limits.stall ?? state.limits.stall;
  const defaultStall = run.started?.mode === "session" ? undefined : readDuration(config().agentsStall);
  return { stall: own ?? defaultStall, time: limits.time, pollInterval: workflow.pollInterval };
}
