import { stat } from "node:fs/promises";
import { join } from "node:path";
import { type Activity, minLifetime } from "../../engine/reconcile.ts";
import { Fault } from "../../fault.ts";
import { gitFoldersOf } from "../../git-folder.ts";
import type { HarnessError, HarnessEvent, TokenUsage } from "../../ports/harness.ts";
import type { Run, StartedRun } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import type { Clock } from "../../ports/system.ts";
import type { Pane, Terminal, TerminalServer } from "../../ports/terminal.ts";
import { sentence, shownTime } from "../../text.ts";
import type { Agents } from "./agents.ts";
import { runRecordId } from "./run-order.ts";
import type { RunWatch } from "./watch-run.ts";

/**
 * When a workspace was last changed, estimated from a few files: its top folder, its task file, and the files that git
 * writes whenever it is used. Milliseconds since 1970; 0 where there is nothing.
 */
export async function lastTouched(folder: string, taskFile: string): Promise<number> {
  const git = gitFoldersOf(folder)?.gitFolder ?? join(folder, ".git");
  const places = [folder, ...(taskFile === "" ? [] : [join(folder, taskFile)])];
  const ofGit = ["index", "HEAD", join("logs", "HEAD")].map((name) => join(git, name));
  const times = await Promise.all([...places, ...ofGit].map(changedAt));
  return Math.max(0, ...times);
}

/** When a file was last changed, in milliseconds since 1970; 0 if there is none. */
export function changedAt(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}

/** Whether a run that a task wants is alive. `none`: it has not started yet. */
export function lifeOf(agents: Agents | undefined, task: string, run: string): "alive" | "dead" | "unknown" | "none" {
  const id = runRecordId(task, run);
  const watch = agents?.watchOf(id);
  if (agents?.isAsleep(id)) return "alive";
  if (watch === undefined) return agents?.dispatch.whyRunWaits(id) === undefined ? "unknown" : "none";
  const { pane, started } = watch;
  // A watched turn has not ended: its end is reported immediately, and then it is not watched.
  if (started.mode !== "session") return "alive";
  if (pane === undefined) return "unknown";
  return pane.dead === undefined ? "alive" : "dead";
}

/** What a live run does, asks or reports. */
export function sayingOf({
  error,
  activity,
  said,
  what,
}: Pick<RunSigns, "error" | "activity" | "said" | "what">): string {
  if (error !== undefined) return error.message;
  return activity === "idle" ? (said.split("\n")[0] ?? "") : what;
}

/** The state of a run, from everything that was observed so far. */
export interface RunSigns {
  readonly activity: Activity;
  /** When the activity last changed. */
  readonly since: number;
  /** When the run last gave a sign of life. */
  readonly signAt: number;
  readonly session: string;
  readonly transcript: string;
  /** Tool calls that have begun and not ended. */
  readonly tools: number;
  /** The latest prompts that have arrived in its conversation, in order; `promptCount` counts all of them. */
  readonly prompted: readonly string[];
  readonly promptCount: number;
  /** Its last words, or its question. */
  readonly said: string;
  /** What it is doing, in a few words. */
  readonly what: string;
  /** The last failure, unless the run has continued since. */
  readonly error: HarnessError | undefined;
}

export function firstSigns(now: number, session: string, transcript: string): RunSigns {
  return {
    ...{ activity: "starting", since: now, signAt: now, session, transcript },
    ...{ tools: 0, prompted: [], promptCount: 0, said: "", what: "", error: undefined },
  };
}

/** How many prompts back a delivery is searched for. */
const maxPrompts = 2_000;

/** The state after an event. */
export function withEvent(signs: RunSigns, event: HarnessEvent, now: number): RunSigns {
  const seen = { ...signs, signAt: now };
  const be = (activity: Activity, rest: Partial<RunSigns> = {}): RunSigns => ({
    ...seen,
    ...rest,
    activity,
    since: activity === signs.activity ? signs.since : now,
  });
  switch (event.kind) {
    case "session":
      return { ...seen, session: event.id || signs.session, transcript: event.transcript || signs.transcript };
    case "prompted":
      return be("busy", {
        prompted: [...signs.prompted, event.text].slice(-maxPrompts),
        promptCount: signs.promptCount + 1,
        error: undefined,
        tools: 0,
      });
    case "busy":
      return be("busy", { what: event.what || signs.what });
    case "tool":
      return be("busy", {
        tools: Math.max(0, signs.tools + (event.state === "began" ? 1 : -1)),
        what: event.name || signs.what,
      });
    case "said":
      return be("busy", { said: event.text });
    case "idle":
      return be("idle", { said: event.said || signs.said, tools: 0, what: "" });
    case "asks":
      return be("asks", { what: event.about });
    case "failed":
      return { ...seen, error: event.error };
    case "over":
      // The program is about to end, so no message may be sent to it.
      return be("unknown", { tools: 0, what: "" });
    case "usage":
      return seen;
  }
}

/** Whether an event proves that the session exists; an id that the daemon has chosen does not. */
export function isOfConversation(event: HarnessEvent, namesSession: boolean): boolean {
  return ["prompted", "said", "tool", "usage"].includes(event.kind) || (event.kind === "session" && !namesSession);
}

/** Whether an event proves that the program works: without a login a program gets no further than its prompt. */
export function isOfWork(event: HarnessEvent): boolean {
  return event.kind === "tool" || (event.kind === "usage" && event.usage.outputTokens > 0);
}

export function usageIn(events: readonly HarnessEvent[]): readonly TokenUsage[] {
  return events.flatMap((event) => (event.kind === "usage" ? [event.usage] : []));
}

/** Live runs whose harness is unknown: it was removed from the configuration, or the configuration is invalid. */
interface Strangers {
  /** Calls a person. The run continues, and is watched once its harness is known again. */
  meet(run: Run & { readonly started: StartedRun }): Promise<void>;
  forget(run: string): void;
  list(): readonly Run[];
}

interface StrangerPorts {
  readonly store: Store;
  raise(watch: Pick<RunWatch, "run" | "started" | "keep">, reason: string): Promise<void>;
}

export function createStrangers({ store, raise }: StrangerPorts): Strangers {
  const known = new Map<string, Run>();
  return {
    async meet(run) {
      known.set(run.id, run);
      const keep = async (change: Partial<Run>) => {
        const raised = { ...run, ...change };
        await store.runs.put(raised);
        if (known.has(run.id)) known.set(run.id, raised);
      };
      const reason = `Its harness "${run.harness}" is no longer configured, so it cannot be watched.`;
      await raise({ run, started: run.started, keep }, reason);
    },
    forget: (run) => void known.delete(run),
    list: () => [...known.values()],
  };
}

/** The result of listing all panes. `server`: the terminal server; undefined if none is running. */
export interface Seen {
  /** The number of the listing: one that began before a run existed says nothing about that run. */
  readonly number: number;
  readonly panes: ReadonlyMap<string, Pane>;
  readonly server: TerminalServer | undefined;
}

/**
 * A missing window among others was closed, so its agent has ended. If the whole server is gone, all its runs are lost, even if
 * the first one that was resumed has started another server. `own`: the server in which the window was last seen.
 */
export function paneProcess(
  pane: Pane | undefined,
  { server }: Seen,
  own: TerminalServer | undefined,
  startedAt: number,
): "running" | "ended" | "lost" {
  if (pane !== undefined) return pane.dead === undefined ? "running" : "ended";
  if (server === undefined) return "lost";
  // An earlier daemon may have seen the window: then only a server that is clearly younger than the run is another one.
  const isOther = own === undefined ? server.startedAt > startedAt + maxOpenTime : server.id !== own.id;
  return isOther ? "lost" : "ended";
}

/** Milliseconds between the start of a run and that of the server with its window. */
const maxOpenTime = 30_000;

/** A run that existed and of which nothing is left is lost. */
export function knownProcess(
  state: "absent" | "running" | "ended" | "lost" | undefined,
  { pid, started }: Run,
  now: number,
) {
  const isLate = now - (started?.at ?? now) > startTimeout;
  return state === "absent" && (pid > 0 || isLate) ? "lost" : state;
}

/** Milliseconds within which a started run must be observed. */
const startTimeout = 120_000;

/** Whether the run that this one continues was lost right after its start. */
export async function wasLostBefore({ runs }: Pick<Store, "runs">, { id, task, role, at }: Run): Promise<boolean> {
  const earlier = (await runs.list({ task })).filter((run) => run.role === role && run.id !== id && run.at <= at);
  const last = earlier.toSorted((a, b) => a.at - b.at).at(-1);
  if (last?.word !== "lost" || last.endedAt === undefined) return false;
  return last.endedAt - (last.started?.at ?? last.at) < minLifetime * 1000;
}

/** The result of the last listing of all panes, and whether the terminal server answers. */
export interface Panes {
  readonly seen: Seen;
  /** How many listings have begun. */
  readonly looks: number;
  look(): Promise<void>;
  /** The same, but keeps the last result if the terminal server does not answer. Returns whether it answered. */
  tryToLook(): Promise<boolean>;
  /**
   * Since when the terminal server has not answered, and what to do; undefined while it answers or the outage is short.
   */
  trouble(): TerminalTrouble | undefined;
}

export interface TerminalTrouble {
  readonly reason: string;
  readonly fix: string;
}

/** Milliseconds without an answer before people are told. */
const outageLimit = 60_000;

export function createPanes(ports: {
  readonly terminal: Terminal;
  readonly clock: Clock;
  onError(error: unknown): void;
}): Panes {
  const { terminal, clock } = ports;
  let looks = 0;
  let seen: Seen = { number: 0, panes: new Map(), server: undefined };
  let mute: { readonly since: number; readonly fault: Fault } | undefined;

  const list = async () => {
    const since = clock.now();
    try {
      const panes = await terminal.list();
      mute = undefined;
      return panes;
    } catch (error) {
      if (isOutOfReach(error)) mute = { since: Math.min(mute?.since ?? since, since), fault: error };
      throw error;
    }
  };
  const look = async () => {
    const number = ++looks;
    const panes = await list();
    if (number < seen.number) return;
    seen = { number, panes: new Map(panes.map((pane) => [pane.run, pane])), server: panes[0]?.server };
  };
  return {
    get seen() {
      return seen;
    },
    get looks() {
      return looks;
    },
    look,
    async tryToLook() {
      try {
        await look();
        return true;
      } catch (error) {
        if (!isOutOfReach(error)) throw error;
        ports.onError(error);
        return false;
      }
    },
    trouble() {
      if (mute === undefined || clock.now() - mute.since < outageLimit) return undefined;
      const { message, hint = "" } = mute.fault;
      const reason = `The terminal server has not answered since ${shownTime(mute.since)}: ${sentence(message)}`;
      return { reason, fix: hint };
    },
  };
}

/** The terminal server fails as a whole: the error says nothing about a single run. */
export function isOutOfReach(error: unknown): error is Fault {
  return error instanceof Fault && ["terminal.timeout", "terminal.unreachable", "terminal.failed"].includes(error.code);
}
