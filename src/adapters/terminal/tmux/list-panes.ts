import { constants } from "node:os";
import type { ProcessTable } from "../../../ports/processes.ts";
import type { Pane } from "../../../ports/terminal.ts";
import { runOf } from "./address.ts";
import type { Ask } from "./ask.ts";
import { nudge } from "./nudge.ts";
import { hasNoServer, hasNoTarget, tmuxFault } from "./run-tmux.ts";
import { nameOption, runOption, sessionOption } from "./settings.ts";

const ifOurs = (ours: string, other: string) => `?#{!=:#{${runOption}},},${ours},#{${other}}`;
// None of the fields can have a space in it but the last. Tmux lets no line end into a title. A pane says itself which run it
// belongs to; one that an earlier version opened is known by the names of its session and its window.
const fields = [
  "version",
  "pid",
  "pane_id",
  ifOurs(`#{${sessionOption}}`, "session_name"),
  ifOurs(`run-#{${runOption}}`, "window_name"),
  ifOurs("0", "pane_index"),
  "pane_pid",
  "pane_dead",
  "pane_dead_status",
  "pane_dead_signal",
  "window_activity",
  "window_active_clients",
  nameOption,
  "pane_title",
] as const;
const format = fields.map((field) => `#{${field}}`).join(" ");
const line =
  /^(?<version>\S*) (?<server>\d+) (?<id>%\d+) (?<session>[a-z0-9-]+) (?<window>[a-z0-9-]+) 0 (?<pid>\d+) (?<isDead>[01]) (?<code>\d*) (?<signal>[A-Za-z0-9+-]*) (?<activeAt>\d+) (?<watchers>\d*) (?<name>[A-Za-z0-9_-]*) (?<title>.*)$/;

/** A pane, and what tmux calls it: its id stays the same wherever it is moved. */
export interface TmuxPane extends Pane {
  readonly id: string;
}

export interface Listing {
  readonly panes: readonly TmuxPane[];
  /** The server's process; undefined where there is none. */
  readonly server: number | undefined;
}

/** All panes of ours, in one look. */
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
    watchers: Number(read.watchers),
  };
  const isSure = pane.dead === undefined || pane.dead.code !== undefined || pane.dead.signal !== "";
  if (isSure) return pane;
  // It looks dead as soon as nobody holds its terminal any more. The program may live, or tmux has not heard how it ended.
  if (tellsSignals(version)) nudge(server);
  else if ((await table.identify(pane.pid)) === undefined) return pane;
  return { ...pane, dead: undefined };
}

/** An old tmux never tells of signals. */
function tellsSignals(version: string): boolean {
  return !/^3\.[0-2]/.test(version);
}

/** Some systems give a number, others a name without its beginning. */
function signalName(told: string): string {
  if (told === "") return "";
  const found = Object.entries(constants.signals).find(([, value]) => value === Number(told));
  return found?.[0] ?? `SIG${told.toUpperCase().replace(/^SIG/, "")}`;
}
