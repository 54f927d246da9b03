import { Fault } from "../../../fault.ts";
import type { ProcessTable } from "../../../ports/processes.ts";
import type { Pane, Terminal, WindowOrder } from "../../../ports/terminal.ts";
import { checkId, sessionTarget, windowName, windowTarget } from "./address.ts";
import type { Ask } from "./ask.ts";
import { writeOrder } from "./launch-order.ts";
import { readRecord } from "./run-record.ts";
import { asArgument, hasNoServer, hasNoTarget, type TmuxEnd, tmuxFault } from "./run-tmux.ts";
import { nameOption, runOption, sessionOption, titleOption, windowOption } from "./settings.ts";
import { shownText } from "./shown-text.ts";

// A server that ends with its last session, and a session that ends with its last window, may do so at any time.
const attempts = 5;

export interface OpenWindow {
  readonly list: Terminal["list"];
  readonly ask: Ask;
  readonly table: ProcessTable;
  readonly launcher: readonly string[];
}

/** Opens the window of a run, or finds it. */
export async function openWindow({ list, ask, table, launcher }: OpenWindow, order: WindowOrder): Promise<Pane> {
  checkId(order.run);
  checkId(order.session);
  for (let attempt = 0; attempt < attempts; attempt++) {
    // First the record: whoever has written it had a pane by then.
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
  throw new Fault("terminal.failed", `tmux did not keep the window that was opened for the run "${order.run}".`, {
    retry: "later",
    hint: "It is tried again. If it goes on, look whether something closes the windows of Signalbox.",
  });
}

/** One call, so that there is no session without its title. */
function addSession(ask: Ask, order: WindowOrder, command: readonly string[]): Promise<TmuxEnd> {
  const { session, run, title } = order;
  const make = ["new-session", "-d", "-s", session, "-n", windowName(run), "--", ...command, ";"];
  const name = ["set-option", "-t", sessionTarget(session), titleOption, asArgument(shownText(title)), ";"];
  return ask([...make, ...name, ...nameWindow(order)]);
}

/** Makes nothing where a window of that name is there. */
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
    // Tmux calls every pane like the machine, until the program has a name for it.
    ...["select-pane", "-t", target, "-T", ""],
  ];
}

function isWorthAnotherTry(end: TmuxEnd): boolean {
  return hasNoServer(end) || hasNoTarget(end) || /duplicate session/.test(end.stderr);
}

/** The run was started once, and its window is gone: how it ended nobody knows, and it is not started again. */
function lostPane({ run, session, window }: WindowOrder, pid: number, isAlive: boolean): Pane {
  const dead = isAlive ? undefined : { code: undefined, signal: "" };
  return { run, session, window, pid, title: "", dead, activeAt: 0, watchers: 0 };
}
