import { constants } from "node:os";
import type { ProcessTable } from "../../../ports/processes.ts";
import type { Pane } from "../../../ports/terminal.ts";
import { runOf } from "./address.ts";
import type { Ask } from "./ask.ts";
import { hasNoServer, hasNoTarget, tmuxFault } from "./run-tmux.ts";
import { nameOption } from "./settings.ts";

// None of the fields can have a space in it but the last. Tmux lets no line end into a title.
const fields = [
  "session_name",
  "window_name",
  "pane_index",
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
  /^(?<session>[a-z0-9-]+) (?<window>[a-z0-9-]+) 0 (?<pid>\d+) (?<isDead>[01]) (?<code>\d*) (?<signal>\d*) (?<activeAt>\d+) (?<watchers>\d*) (?<name>[A-Za-z0-9_-]*) (?<title>.*)$/;

/** All panes of ours; empty where there is no server. */
export async function listPanes(ask: Ask, table: ProcessTable): Promise<readonly Pane[]> {
  const end = await ask(["list-panes", "-a", "-F", format]);
  if (hasNoServer(end) || hasNoTarget(end)) return [];
  if (end.code !== 0) throw tmuxFault("list its panes", end);
  const panes = end.stdout.split("\n").flatMap((text) => readPane(text) ?? []);
  return Promise.all(panes.map((pane) => unlessAlive(pane, table)));
}

function readPane(text: string): Pane | undefined {
  const read = line.exec(text)?.groups;
  const run = runOf(read?.window ?? "");
  if (read === undefined || run === undefined) return undefined;
  const { session = "", pid, isDead, code, signal, activeAt, watchers, name = "", title = "" } = read;
  return {
    run,
    session,
    window: Buffer.from(name, "base64url").toString("utf8"),
    pid: Number(pid),
    title,
    dead: isDead === "1" ? { code: code ? Number(code) : undefined, signal: signalName(signal) } : undefined,
    activeAt: Number(activeAt) * 1000,
    watchers: Number(watchers),
  };
}

/** A program that lets go of its terminal leaves a pane that looks dead, but tmux cannot say how it ended. */
async function unlessAlive(pane: Pane, table: ProcessTable): Promise<Pane> {
  const isSure = pane.dead === undefined || pane.dead.code !== undefined || pane.dead.signal !== "";
  if (isSure || (await table.identify(pane.pid)) === undefined) return pane;
  return { ...pane, dead: undefined };
}

function signalName(number: string | undefined): string {
  if (!number) return "";
  const found = Object.entries(constants.signals).find(([, value]) => value === Number(number));
  return found?.[0] ?? `SIG${number}`;
}
