import type { TaskEvent } from "../../engine/decision.ts";
import { lastWords } from "../../engine/last-words.ts";
import type { Healing } from "../../engine/reconcile.ts";
import { sentences } from "../../engine/sentence.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault, tell } from "../../fault.ts";
import type { AgentConfig } from "../../home/agent-fields.ts";
import type { Places } from "../../home/places.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Harness } from "../../ports/harness.ts";
import type { Processes, ProcessTable } from "../../ports/processes.ts";
import type { Run } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import type { Terminal } from "../../ports/terminal.ts";
import { type Dispatch, namedReset, usualLimit } from "./dispatch.ts";
import { endRun, sweepRun } from "./end-run.ts";
import { readOrder } from "./harness-order.ts";
import { readTurn } from "./read-turn.ts";
import type { ReportedEnd } from "./report-end.ts";
import { isOfConversation, usageIn } from "./run-signs.ts";
import { identified, launchRun } from "./start-run.ts";
import { countedOf, countedUpTo } from "./turn-reading.ts";
import type { UsageBook } from "./usage-book.ts";
import type { RunWatch } from "./watch-run.ts";

export interface HealPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly terminal: Terminal;
  readonly processes: Processes;
  readonly places: Places;
  readonly table: ProcessTable;
  readonly dispatch: Dispatch;
  readonly book: UsageBook;
  config(): AgentConfig;
  workflowOf(task: Task): Promise<Workflow>;
  runFolder(name: string): string;
  /** The run is over: it is not looked after any more, and the engine is told. */
  finish(watch: RunWatch, end: ReportedEnd): Promise<void>;
  /** It goes on as another process. */
  rewatch(run: Run): void;
  idle(watch: RunWatch): Promise<void>;
  /** It waits to be logged in. */
  awaitLogin(watch: RunWatch): Promise<void>;
}

/** How often an answer that does not fit is asked for again in the same session. */
const mostAsked = 2;
/** How long a program may take to end after it has heard of a limit. */
const slowEnd = 60_000;

/** Carries out what `reconcile` found. */
export function healRun(ports: HealPorts): (watch: RunWatch, healing: Healing) => Promise<void> {
  return async (watch, healing) => {
    const { ending } = watch.started;
    // A daemon that died meanwhile has ended it, or was about to.
    if (ending !== undefined) return endRun(ports, watch, ending);
    switch (healing.kind) {
      case "none":
        return;
      case "judge":
        return watch.reading === undefined
          ? judgeSession(ports, watch, await sweep(ports, watch))
          : judgeTurn(ports, watch);
      case "lost":
        return ports.finish(watch, {
          word: "lost",
          reason: (await sweep(ports, watch))
            ? "It could not be reached any more, and was ended."
            : "It went away with its terminal or its machine.",
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

/** Nobody is started in its place before nothing of it lives any more. Whether something did. */
async function sweep(ports: HealPorts, watch: RunWatch): Promise<boolean> {
  try {
    return await sweepRun(ports, watch.run);
  } catch (error) {
    if (error instanceof Fault) await raise(ports, watch, tell(error));
    throw error;
  }
}

/** A person is needed from now on: whoever calls people learns it from the run's record. The task's history keeps it. */
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

async function judgeSession(ports: HealPorts, watch: RunWatch, hasSurvived: boolean): Promise<void> {
  const { pane, signs, started, harness } = watch;
  if (signs.error?.kind === "rate-limit") return limited(ports, watch, signs.error.resetAt, signs.error.message);
  const how =
    pane?.dead === undefined
      ? `Its window was closed${hasSurvived ? ", and it was ended" : ""}.`
      : pane.dead.signal !== ""
        ? `It was ended by ${pane.dead.signal}.`
        : `It ended with ${pane.dead.code ?? "an unknown code"}.`;
  // The screen of a program that is dead stays until its window is closed.
  const screen = pane?.dead === undefined ? "" : await ports.terminal.capture(started.name, 50).catch(() => "");
  const obstacle = harness.readObstacle?.([signs.error?.message, screen].join("\n"));
  if (obstacle?.kind === "session" && started.isResumed) return startAnew(ports, watch, obstacle.told);
  // Who was killed from outside did not say why.
  const words = pane?.dead?.signal === "" ? lastWords(screen) : "";
  const said = signs.error?.message ?? (words === "" ? "" : `It said last: ${words}`);
  await ports.finish(watch, { word: "exit", reason: sentences([how, obstacle?.told ?? "", said]) });
}

/** The session that it was to go on in does not exist: the same again in a new one, at no cost. */
async function startAnew(ports: HealPorts, watch: RunWatch, reason: string): Promise<void> {
  await watch.keep({ session: "", started: { ...watch.started, hasBegun: false } });
  return ports.finish(watch, { word: "lost", reason });
}

async function judgeTurn(ports: HealPorts, watch: RunWatch): Promise<void> {
  const { run, started, reading } = watch;
  const read = await reading?.end();
  if (read === undefined)
    return ports.finish(watch, { word: "error", reason: "It ended at once, and nobody noted how." });
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
  const verdict = readTurn(await ports.workflowOf(task), spec, read.end, read.turn, started.isResumed);
  switch (verdict.kind) {
    case "ended": {
      // What it says in a conversation may be about logins too.
      const printed = watch.started.hasBegun === true ? verdict.reason : `${verdict.reason}\n${read.turn.text}`;
      const login = verdict.word === "error" ? watch.harness.readObstacle?.(printed) : undefined;
      if (login === undefined) return ports.finish(watch, verdict);
      return ports.finish(watch, { ...verdict, reason: sentences([login.told, verdict.reason]) });
    }
    case "limited":
      return limited(ports, watch, verdict.until, verdict.reason);
    case "session-gone":
      return startAnew(ports, watch, verdict.reason);
    case "invalid": {
      const canAsk = started.part < mostAsked && watch.harness.can.resume && watch.run.session !== "";
      if (canAsk) return askAgain(ports, watch, task, verdict.reason);
      return ports.finish(watch, { word: "invalid", reason: verdict.reason, answer: verdict.answer });
    }
  }
}

/** The provider takes no more: nothing more is started in that harness, and the run goes on afterwards where it was. */
async function limited(ports: HealPorts, watch: RunWatch, until: number | undefined, reason: string): Promise<void> {
  const { run, harness } = watch;
  const at = ports.clock.now();
  // One that was over when the run ended was named before that.
  const named = namedReset(until, at - slowEnd);
  const end = Math.max(named ?? at + usualLimit, at + 1_000);
  const isGuess = named === undefined || named <= at;
  ports.dispatch.limit(harness.name, end, limitReason(harness, reason), isGuess);
  const data = { run: run.key, harness: harness.name, until: new Date(end).toISOString(), reason };
  await ports.store.addEvents(run.task, [{ type: "agent.limited", by: "engine", data, set: {} }], at);
  await ports.finish(watch, { word: "lost", reason });
}

/** Every run of a harness gives the same reason for a limit, so that a person is called once for it. */
export function limitReason({ title }: Pick<Harness, "title">, message: string): string {
  return `${title} takes no more for now: ${message}`;
}

/** The same session is told what was wrong with its answer. */
async function askAgain(ports: HealPorts, watch: RunWatch, task: Task, problem: string): Promise<void> {
  const { run, started, harness } = watch;
  const again = { ...started, part: started.part + 1, isResumed: true };
  const { order } = await readOrder(ports.runFolder(started.name));
  const launch = await harness.prepare({
    ...order,
    prompt: `Your answer cannot be used. ${problem} Answer again with the JSON that was asked for, and nothing else.`,
    session: { kind: "resume", id: run.session },
  });
  await watch.keep({ started: again });
  const pid = await launchRun(
    ports,
    ports.config(),
    task,
    { ...run, started: again },
    launch,
    ports.runFolder(again.name),
  );
  await watch.keep(await identified(ports, { ...watch.run, pid }));
  watch.close();
  ports.rewatch(watch.run);
}
