import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";
import { Fault } from "../../fault.ts";
import type { ProcessTable } from "../../ports/processes.ts";
import type { AttachCommand, Pane, Terminal, WindowOrder } from "../../ports/terminal.ts";
import { spawnChild } from "../child.ts";
import { endFamily } from "../processes/end-family.ts";
import { markEntry } from "../processes/process-table.ts";
import { markOf, readRecord, writeOrder } from "./launch-order.ts";
import {
  type Ask,
  asArgument,
  baseArguments,
  checkId,
  environment,
  hasNoServer,
  hasNoTarget,
  runOf,
  sessionTarget,
  shownText,
  type TmuxEnd,
  tmuxFault,
  windowName,
  windowTarget,
} from "./run-tmux.ts";
import { deathChannel, leaveKeys, nameOption, runOption, sessionOption, titleOption, windowOption } from "./server.ts";

interface AttachTo {
  readonly session: string;
  readonly run?: string;
}

/** The command for a person's terminal. Inside the person's own tmux, ours runs in one of its panes. */
export function attachCommand(
  program: string,
  socket: string,
  { session, run }: AttachTo,
  env: NodeJS.ProcessEnv,
  pane?: string,
): AttachCommand {
  const target = run === undefined ? sessionTarget(session) : (pane ?? windowTarget(session, run));
  const isNested = (env.TMUX ?? "") !== "";
  return {
    argv: [program, ...baseArguments(socket), "attach-session", "-E", "-t", target],
    // Tmux refuses to run inside itself, and must not take our server for the person's.
    env: { TMUX: undefined, TMUX_PANE: undefined },
    hint: isNested
      ? `${leaveKeys} brings you back. The keys of your own tmux keep working.`
      : `${leaveKeys} brings you back.`,
  };
}

interface Ending {
  readonly table: ProcessTable;
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly grace: number;
}

/** Ends the processes of a pane, then closes its window. */
export async function closeWindow(
  ask: Ask,
  ending: Ending,
  { id, pid, dead }: TmuxPane,
  folder: string | undefined,
): Promise<void> {
  const isTheirs = dead === undefined || (await isOrphaned(ending.table, pid));
  await endProgram(ending, isTheirs ? pid : undefined, folder);
  const end = await ask(["kill-pane", "-t", id]);
  if (end.code !== 0 && !hasNoServer(end) && !hasNoTarget(end)) throw tmuxFault("close a window", end);
}

/** Ends what is left of a run that has no window: its program, and the processes that the program has started. */
export async function endLost(ending: Ending, folder: string): Promise<void> {
  const record = await readRecord(folder);
  const { table } = ending;
  const isTheirs =
    record !== undefined &&
    ((await table.isAlive(record)) ||
      ((await isOfThisBoot(table, record.boot)) && (await isOrphaned(table, record.pid))));
  await endProgram(ending, isTheirs ? record.pid : undefined, folder);
}

/** Ends the processes that a program has left behind; false if there were none. */
export function sweepLeft(ending: Ending, folder: string): Promise<boolean> {
  return endProgram(ending, undefined, folder);
}

/** Also ends processes that have left the program's session: they are found by the mark in their environment. */
async function endProgram(
  { table, grace }: Ending,
  pid: number | undefined,
  folder: string | undefined,
): Promise<boolean> {
  // Of a dead program only the pid is known, which is also its group's id.
  const head = pid === undefined ? undefined : ((await table.identify(pid)) ?? { boot: "", pid, start: "" });
  const entries = folder === undefined ? [] : [windowMark(folder)];
  return (await endFamily(table, { head, entries, keepsGroup: true }, grace)) !== "";
}

/** The entry in the environment of everything that is started in the window of the run with this folder. */
export function windowMark(folder: string): string {
  return markEntry(markOf(folder));
}

/** Whether a dead process left others of its group behind. While they live, no other process gets its pid. */
async function isOrphaned(table: ProcessTable, pid: number): Promise<boolean> {
  return (await table.identify(pid)) === undefined;
}

async function isOfThisBoot(table: ProcessTable, boot: string): Promise<boolean> {
  return (await table.identify(process.pid))?.boot === boot;
}

const ifOurs = (ours: string, other: string) => `?#{!=:#{${runOption}},},${ours},#{${other}}`;
// Only the last field can contain a space, and tmux allows no line end in a title. An option of the pane names its run;
// a pane that an earlier version opened is recognised by the names of its session and its window.
const fields = [
  "version",
  "pid",
  "start_time",
  "pane_id",
  ifOurs(`#{${sessionOption}}`, "session_name"),
  ifOurs(`run-#{${runOption}}`, "window_name"),
  ifOurs("0", "pane_index"),
  "pane_pid",
  "pane_dead",
  "pane_dead_status",
  "pane_dead_signal",
  "window_activity",
  "window_active_clients_list",
  nameOption,
  "pane_title",
] as const;
const format = fields.map((field) => `#{${field}}`).join(" ");
const line =
  /^(?<version>\S*) (?<server>\d+) (?<startedAt>\d*) (?<id>%\d+) (?<session>[a-z0-9-]+) (?<window>[a-z0-9-]+) 0 (?<pid>\d+) (?<isDead>[01]) (?<code>\d*) (?<signal>[A-Za-z0-9+-]*) (?<activeAt>\d+) (?<clients>\S*) (?<name>[A-Za-z0-9_-]*) (?<title>.*)$/;

/** A pane with tmux's id, which stays the same when the pane is moved. */
export interface TmuxPane extends Pane {
  readonly id: string;
}

interface Listing {
  readonly panes: readonly TmuxPane[];
  /** The server's pid; undefined if there is no server. */
  readonly server: number | undefined;
}

/** Lists all our panes in one call. */
export async function listPanes(ask: Ask, table: ProcessTable): Promise<Listing> {
  const end = await ask(["list-panes", "-a", "-F", format]);
  if (hasNoServer(end) || hasNoTarget(end)) return { panes: [], server: undefined };
  if (end.code !== 0) throw tmuxFault("list its panes", end);
  const read = end.stdout.split("\n").map((text) => line.exec(text)?.groups ?? {});
  const server = Number(read.find((groups) => groups.server !== undefined)?.server ?? 0);
  const panes = await Promise.all(read.map((groups) => readPane(groups, server, table)));
  return { panes: panes.filter((pane) => pane !== undefined), server: server === 0 ? undefined : server };
}

async function readPane(
  read: Record<string, string>,
  server: number,
  table: ProcessTable,
): Promise<TmuxPane | undefined> {
  const { version = "", id = "", session = "", window = "", pid, isDead } = read;
  const { code, signal = "", name = "", title = "" } = read;
  const run = runOf(window);
  if (run === undefined) return undefined;
  const pane = {
    id,
    run,
    session,
    window: Buffer.from(name, "base64url").toString("utf8"),
    pid: Number(pid),
    title,
    dead: isDead === "1" ? { code: code ? Number(code) : undefined, signal: signalName(signal) } : undefined,
    activeAt: Number(read.activeAt) * 1000,
    watchers: personsIn(read.clients ?? ""),
    server: { id: `${server}-${read.startedAt}`, startedAt: Number(read.startedAt) * 1000 },
  };
  const isSure = pane.dead === undefined || pane.dead.code !== undefined || pane.dead.signal !== "";
  if (isSure) return pane;
  // Tmux calls a pane dead once its terminal is closed. The program may still live, or tmux may not know how it ended.
  if (tellsSignals(version)) nudge(server);
  else if ((await table.identify(pane.pid)) === undefined) return pane;
  return { ...pane, dead: undefined };
}

/** How many people are among the clients of a window. Tmux names a client without a terminal, such as ours, by its process. */
function personsIn(clients: string): number {
  return clients.split(",").filter((name) => name !== "" && !/^client-\d+$/.test(name)).length;
}

/** Old versions of tmux do not report signals. */
function tellsSignals(version: string): boolean {
  return !/^3\.[0-2]/.test(version);
}

/** Some systems give a number, others a name without "SIG". */
function signalName(told: string): string {
  if (told === "") return "";
  const found = Object.entries(constants.signals).find(([, value]) => value === Number(told));
  return found?.[0] ?? `SIG${told.toUpperCase().replace(/^SIG/, "")}`;
}

/**
 * Makes a tmux server check for ended children. Tmux 3.3 sometimes misses the signal SIGCHLD, and would wait for the
 * next one. Other programs ignore this signal.
 */
function nudge(server: number): void {
  try {
    process.kill(server, "SIGCHLD");
  } catch {
    // The server has ended.
  }
}

// A server ends with its last session and a session with its last window, possibly between two calls.
const maxTries = 5;

interface OpenWindow {
  readonly list: Terminal["list"];
  readonly ask: Ask;
  readonly table: ProcessTable;
  readonly launcher: readonly string[];
}

/** Opens the window of a run, or finds it. */
export async function openWindow({ list, ask, table, launcher }: OpenWindow, order: WindowOrder): Promise<Pane> {
  checkId(order.run);
  checkId(order.session);
  for (let attempt = 0; attempt < maxTries; attempt++) {
    // Read the record before the panes: the process that wrote it had a pane by then.
    const record = await readRecord(order.folder);
    const panes = await list();
    const pane = panes.find(({ run }) => run === order.run);
    if (pane !== undefined) return pane;
    if (record !== undefined) return lostPane(order, record.pid, await table.isAlive(record));
    const file = await writeOrder(order.folder, order);
    const command = [...launcher, file].map(asArgument);
    const isThere = panes.some(({ session }) => session === order.session);
    const end = await (isThere ? addWindow(ask, order, command) : addSession(ask, order, command));
    if (end.code !== 0 && !isWorthAnotherTry(end)) throw tmuxFault("open a window", end);
  }
  throw new Fault("terminal.failed", `tmux closed the window of the run "${order.run}" immediately after opening it.`, {
    retry: "later",
    hint: "Signalbox retries. If it keeps failing, check whether another program closes Signalbox's windows.",
  });
}

/** In one call, so that no session is without its title. */
function addSession(ask: Ask, order: WindowOrder, command: readonly string[]): Promise<TmuxEnd> {
  const { session, run, title } = order;
  const make = ["new-session", "-d", "-s", session, "-n", windowName(run), "--", ...command, ";"];
  const name = ["set-option", "-t", sessionTarget(session), titleOption, asArgument(shownText(title)), ";"];
  return ask([...make, ...name, ...nameWindow(order)]);
}

/** Does nothing if a window with that name exists. */
function addWindow(ask: Ask, order: WindowOrder, command: readonly string[]): Promise<TmuxEnd> {
  const { session, run } = order;
  const make = ["new-window", "-d", "-S", "-t", sessionTarget(session), "-n", windowName(run), "--", ...command, ";"];
  return ask([...make, ...nameWindow(order)]);
}

function nameWindow({ session, run, window }: WindowOrder): readonly string[] {
  const target = windowTarget(session, run);
  const exact = Buffer.from(window.toWellFormed(), "utf8").toString("base64url");
  return [
    ...["set-option", "-w", "-t", target, windowOption, asArgument(shownText(window)), ";"],
    ...["set-option", "-w", "-t", target, nameOption, exact, ";"],
    ...["set-option", "-p", "-t", target, runOption, checkId(run), ";"],
    ...["set-option", "-p", "-t", target, sessionOption, checkId(session), ";"],
    // By default a pane's title is the machine's name, until the program sets one.
    ...["select-pane", "-t", target, "-T", ""],
  ];
}

function isWorthAnotherTry(end: TmuxEnd): boolean {
  return hasNoServer(end) || hasNoTarget(end) || /duplicate session/.test(end.stderr);
}

/** The run was started, but its window is gone: its end is unknown, and it is not started again. */
function lostPane({ run, session, window }: WindowOrder, pid: number, isAlive: boolean): Pane {
  const dead = isAlive ? undefined : { code: undefined, signal: "" };
  return { run, session, window, pid, title: "", dead, activeAt: 0, watchers: 0, server: undefined };
}

interface DeathWatch {
  watch(listener: () => void): () => void;
  /** Reports that a server with this pid was seen. */
  serverSeen(pid: number): void;
}

// After this time tmux notices an end that it missed. With a hundred panes each check costs it half a millisecond.
const nudgeInterval = 150;

/**
 * Waits inside tmux until a hook of the server signals that a pane has died; an idle wait costs nothing. Signals
 * between two waits may be lost, because a second signal cancels the first, so listeners are also notified whenever a
 * wait begins. Without a server there is nothing to wait for until one is seen.
 */
export function createDeathWatch(program: string, socket: string, ask: Ask): DeathWatch {
  const listeners = new Set<() => void>();
  let waiting: ChildProcess | undefined;
  let isFirst = true;
  let server = 0;
  let nudging: NodeJS.Timeout | undefined;

  const tell = () => {
    for (const listener of [...listeners]) listener();
  };
  const watcher = (args: readonly string[]) => {
    try {
      return spawnChild(program, args, { cwd: "/", env: environment(), stdio: ["ignore", "pipe", "pipe"] });
    } catch (error) {
      if (error instanceof Fault && error.retry === "later") return undefined;
      throw error;
    }
  };
  const arm = () => {
    if (waiting !== undefined || listeners.size === 0) return;
    const begin = ["display-message", "-p", "begun", ";", "wait-for", deathChannel];
    const child = watcher([...baseArguments(socket), ...begin]);
    // The next server that is seen arms it again.
    if (child === undefined) return;
    waiting = child;
    child.unref();
    nudging ??= setInterval(() => nudge(server), nudgeInterval).unref();
    child.stdout.once("data", () => {
      if (waiting === child) tell();
    });
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString("utf8")).slice(-1000);
    });
    child.on("error", () => {
      if (waiting === child) disarm();
    });
    child.on("close", (code) => {
      if (waiting !== child) return;
      if (code === 0) {
        waiting = undefined;
        arm();
      } else disarm();
      // If the server died, all panes are gone; if there was no server, no pane has ended.
      if (code === 0 || !/no server running|error connecting/.test(said)) tell();
    });
  };
  const disarm = () => {
    waiting = undefined;
    clearInterval(nudging);
    nudging = undefined;
  };
  const serverSeen = (pid: number) => {
    server = pid;
    if (waiting !== undefined || listeners.size === 0) return;
    if (!isFirst) return arm();
    isFirst = false;
    // Ends the waits of killed predecessors, which would otherwise last for ever.
    ask(["wait-for", "-S", deathChannel]).then(arm, arm);
  };

  return {
    watch: (listener) => {
      listeners.add(listener);
      if (server !== 0) serverSeen(server);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        const child = waiting;
        disarm();
        child?.kill("SIGKILL");
      };
    },
    serverSeen,
  };
}
