import { readDuration } from "../../engine/duration.ts";
import { type Activity, type Healing, type RunLimits, reconcile } from "../../engine/reconcile.ts";
import { specOf } from "../../engine/spec-of.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Harness, HarnessEvent, Obstacle, ScreenState } from "../../ports/harness.ts";
import type { ProcessTable } from "../../ports/processes.ts";
import type { Run, StartedRun } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import type { Tail, TailPosition, Tails } from "../../ports/tail.ts";
import type { Pane, Terminal } from "../../ports/terminal.ts";
import { lastTouched } from "./last-touched.ts";
import { isOutOfReach, type Seen } from "./panes.ts";
import { nameOfRun } from "./read-turn.ts";
import { firstSigns, isOfConversation, isOfWork, type RunSigns, usageIn, withEvent } from "./run-signs.ts";
import type { StartPorts } from "./start-run.ts";
import { countedUpTo, type TurnReading } from "./turn-reading.ts";
import type { UsageBook } from "./usage-book.ts";

export interface WatchPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly terminal: Terminal;
  readonly tails: Tails;
  readonly table: ProcessTable;
  readonly book: UsageBook;
  /** What a run without a terminal prints, and how it ended. */
  readingOf(run: Run, harness: Harness): TurnReading;
  runFolder(started: StartedRun): string;
  /** The last look at all panes that had begun when the run began to be watched. */
  readonly since: number;
  limitsOf(run: Run): Promise<RunLimits>;
  /** The name of its task file in its workspace, as far as one can tell. */
  taskFileOf(run: Run): string;
  /** Carries out what `reconcile` says. */
  heal(watch: RunWatch, healing: Healing): Promise<void>;
  /** Something was learnt about it. */
  learnt(watch: RunWatch): void;
}

/** Somebody who looks after one run. Everything that is seen of it goes through `reconcile`. */
export interface RunWatch {
  readonly run: Run;
  readonly started: StartedRun;
  readonly harness: Harness;
  readonly signs: RunSigns;
  /** As it was in the last look at all panes; undefined where there is none, or the run has no terminal. */
  readonly pane: Pane | undefined;
  readonly reading: TurnReading | undefined;
  /** What keeps it from working until a person has done something. */
  readonly obstacle: Obstacle | undefined;
  /** Why what it tells of itself cannot be read; nothing where it can. */
  readonly trouble: string;
  /** There is more in its files than one look reads. */
  readonly hasMore: boolean;
  /** Its program has ended. That is reported at once, unless nothing can be saved. */
  readonly isOver: boolean;
  /** Looks, learns, and does what follows. */
  look(seen: Seen): Promise<void>;
  /** Learns what it left in its files, once it has been ended: what it used counts, and nothing else follows. */
  readRest(): Promise<void>;
  /** What was changed about its record. */
  keep(change: Partial<Run>): Promise<void>;
  close(): void;
}

const beginning: TailPosition = { offset: 0, before: "" };
/** How long a busy agent may be quiet before its screen is looked at, in milliseconds. */
const quietScreen = 10_000;
/** How long a screen must look ready before that counts, where nothing shows that the prompt has arrived; milliseconds. */
const promptTime = 60_000;
/** Everybody is looked at every few seconds; who was not for this long was asleep with us, in milliseconds. */
const longestSilence = 60_000;
/**
 * How many megabytes of a file one look reads. A run that writes without end must not keep the daemon from seeing anything
 * else, least of all that the run has ended. What an ended run has left is read up to another bound.
 */
const mostAtOnce = 2;
const mostOfRest = 32;
/** The least share of a core that its children must use for it to count as at work. */
const leastShare = 0.05;

export function watchRun(ports: WatchPorts, first: Run & { started: StartedRun }, harness: Harness): RunWatch {
  const { store, clock, terminal, tails, book } = ports;
  const { started } = first;
  const isSession = started.mode === "session";
  let run: Run = first;
  let signs = firstSigns(clock.now(), first.session, started.transcript);
  let startedAt = started.at;
  let lookedAt = clock.now();
  let pane: Pane | undefined;
  let shownAt = -1;
  let shown: ScreenState = "starting";
  let readySince = Number.POSITIVE_INFINITY;
  /** What it was at before the screen showed a dialog of which nothing else tells. */
  let behindDialog: Activity | undefined;
  let hasWorked = false;
  let obstacle: Obstacle | undefined;
  let isClosed = false;
  let cpu = { at: 0, used: 0, isBusy: false };
  const troubles = { events: "", transcript: "" };
  let hasMore = false;
  let isOver = false;
  const events = tails.open(`${ports.runFolder(started)}/events`, beginning, true);
  let transcript = openTranscript();
  const reading = isSession ? undefined : ports.readingOf(first, harness);

  function openTranscript() {
    // A turn prints everything that its transcript says too.
    if (signs.transcript === "" || !isSession) return undefined;
    const known = book.of(run.id)?.position ?? beginning;
    const from = known.offset > started.transcriptFrom ? known : { offset: started.transcriptFrom, before: "" };
    return { path: signs.transcript, tail: tails.open(signs.transcript, from) };
  }

  /** What a second source says about the same things comes late: where hooks speak, it does not say what goes on now. */
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

  /** The screen is weak evidence: it is asked only where nothing stronger speaks. */
  const readScreen = async () => {
    if (pane === undefined || pane.dead !== undefined) return;
    const quiet = clock.now() - signs.signAt;
    const isMute = harness.can.acknowledges === "no";
    if (signs.activity !== "asks") behindDialog = undefined;
    const known = behindDialog ?? signs.activity;
    const wants = known === "starting" || isMute || (known === "busy" && quiet > quietScreen);
    // Until it has worked it may wait to be logged in, whatever its hooks say.
    if (!wants && hasWorked && obstacle === undefined) return;
    // What has not been written to since the last look shows the same; times of panes have whole seconds.
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
    // Between drawing the place to type in and taking the prompt from there, whatever is typed gets lost or mixed up.
    const isEarly = started.hasPrompt === true && !isMute && clock.now() - readySince < promptTime;
    const activity = known === "starting" && shown === "ready" && isEarly ? known : activityOf(shown, known, isMute);
    behindDialog = activity === "asks" ? known : undefined;
    if (activity !== signs.activity) signs = { ...signs, activity, since: clock.now() };
  };

  const seenOn = (screen: string): Obstacle | undefined => {
    const seen = harness.readObstacle?.(screen);
    const isAwaited = seen?.kind === "login" && harness.login !== undefined;
    return isAwaited ? { ...seen, told: `${seen.told} (it then goes on by itself)` } : seen;
  };

  /** What a person was told about an obstacle is over when the obstacle is. */
  const meet = async (next: Obstacle | undefined) => {
    const before = obstacle;
    obstacle = next;
    if (before !== undefined && next === undefined && run.started?.raised === before.told)
      await keep({ started: { ...run.started, raised: "" } });
  };

  /** A login that has run out is told by what failed, also in the middle of its work. */
  const failedLogin = () =>
    signs.error?.kind === "authentication" ? harness.readObstacle?.(signs.error.message) : undefined;

  const isAtWork = async (stall: number | undefined) => {
    if (signs.tools > 0) return true;
    const quiet = (clock.now() - signs.signAt) / 1000;
    if (stall === undefined || quiet < stall / 2 || run.pid === 0) return false;
    // Files that change are a sign of life as good as any word.
    const touched = await lastTouched(run.folder, ports.taskFileOf(run));
    if (touched > signs.signAt) signs = { ...signs, signAt: Math.min(touched, clock.now()) };
    if (clock.now() - signs.signAt < (stall * 1000) / 2) return true;
    const family = (await ports.table.familyOf(run.pid)).filter(({ pid }) => pid !== run.pid);
    let used = 0;
    for (const { pid } of family) used += await ports.table.cpuTime(pid);
    const at = clock.now();
    if (at - cpu.at > 1_000) cpu = { at, used, isBusy: used - cpu.used > (at - cpu.at) * leastShare };
    return cpu.isBusy;
  };

  /**
   * Nobody is waited for longer because the clock was put back. And while nobody looked, because the machine slept or had
   * no time for us, nobody could give a sign of life.
   */
  const keepTime = () => {
    const now = clock.now();
    const slept = now - lookedAt > longestSilence ? now - lookedAt : 0;
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
    const isNews = seen.number > ports.since;
    const process = isSession
      ? isNews
        ? paneProcess(pane, seen)
        : "absent"
      : known(await reading?.process(), run, clock.now());
    isOver = process === "ended" || process === "lost";
    const hasLearnt = await readEvidence(isOver ? mostOfRest : mostAtOnce);
    // A harness that draws a spinner writes to its screen for ever: that says nothing where it has a better way to speak.
    if (pane !== undefined && before !== undefined && pane.activeAt > before && harness.can.acknowledges === "no")
      signs = { ...signs, signAt: Math.max(signs.signAt, pane.activeAt) };
    // It is weak evidence: a terminal that does not answer keeps nobody from seeing the rest.
    await readScreen().catch((error) => {
      if (!isOutOfReach(error)) throw error;
    });
    const limits = await ports.limitsOf(run);
    const isBusy = process === "running" && (await isAtWork(limits.stall));
    const now = clock.now();
    const healing = reconcile(
      {
        mode: started.mode,
        process: process ?? "absent",
        activity: signs.activity,
        age: (now - startedAt) / 1000,
        quiet: (now - signs.signAt) / 1000,
        isAtWork: isBusy,
        idle: signs.activity === "idle" ? (now - signs.since) / 1000 : 0,
        obstacle: (obstacle ?? failedLogin())?.told ?? "",
        // A program that says nothing of itself may look like that for ever.
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
      await readEvidence(mostOfRest);
    },
    keep,
    close: () => {
      isClosed = true;
    },
  };
  return self;
}

/** One that was there and of which nothing is known any more is lost. */
function known(state: "absent" | "running" | "ended" | "lost" | undefined, { pid, started }: Run, now: number) {
  const isLate = now - (started?.at ?? now) > startTime;
  return state === "absent" && (pid > 0 || isLate) ? "lost" : state;
}

/** Milliseconds within which something is seen of whatever was started. */
const startTime = 120_000;

function paneProcess(pane: Pane | undefined, { hasServer }: Seen): "running" | "ended" | "lost" {
  if (pane !== undefined) return pane.dead === undefined ? "running" : "ended";
  // Whoever takes away one window among others has ended the agent; a server that went away has ended nobody in particular.
  return hasServer ? "ended" : "lost";
}

function activityOf(shown: ReturnType<Harness["readScreen"]>, known: Activity, isMute: boolean): Activity {
  if (shown === "asks") return "asks";
  if (shown === "ready") return known === "starting" || isMute ? "idle" : known;
  if (shown === "busy") return known === "starting" || isMute ? "busy" : known;
  return known === "asks" ? "unknown" : known;
}

/** How long a run may be quiet, and how long it may last, as the workflow and the configuration say now. */
export async function limitsOf(
  { store, workflowOf, config }: Pick<StartPorts, "store" | "workflowOf" | "config">,
  run: Run,
): Promise<RunLimits> {
  const task = (await store.getTask(run.task))?.task;
  const workflow = task && (await workflowOf(task));
  const state = task && workflow?.states[task.status];
  if (workflow === undefined || state === undefined) return { stall: undefined, time: undefined };
  const { limits } = specOf(workflow, state, nameOfRun(run.key));
  const own = limits.stall ?? state.limits.stall;
  const usual = run.started?.mode === "session" ? undefined : readDuration(config().agentsStall);
  return { stall: own ?? usual, time: limits.time };
}
