import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { writeWhole } from "../../durable-file.ts";
import { Fault } from "../../fault.ts";
import type { ProcessIdentity, ProcessTable } from "../../ports/processes.ts";

// Our tmux server: how it is found again when its socket was deleted, the names of the options that we set in it, and the
// commands that configure it.

interface ServerRecord {
  /** Records that the server with this pid has answered. */
  seen(pid: number): Promise<void>;
  /**
   * For when no server listens at the socket: finds our server by its recorded identity, and makes it create its socket
   * again. False if there is no server; throws if it lives but cannot be reached.
   */
  revive(): Promise<boolean>;
  /** The server's pid, if one was recorded and is alive. */
  pid(): Promise<number | undefined>;
}

interface ServerPorts {
  readonly socket: string;
  /** The file with the server's identity. Not beside the socket, so that both are not deleted together. */
  readonly file: string;
  readonly table: ProcessTable;
  isAnswering(): Promise<boolean>;
}

const pause = 50;
/** Milliseconds for a server to create its socket again. */
const reviveTimeout = 3_000;

export function createServerRecord({ socket, file, table, isAnswering }: ServerPorts): ServerRecord {
  let known: ProcessIdentity | "unread" | undefined = "unread";
  let reviving: Promise<boolean> | undefined;

  const revive = async () => {
    const server = known === "unread" ? await readIdentity(file) : known;
    const end = performance.now() + reviveTimeout;
    while (server !== undefined && (await table.isAlive(server))) {
      if (performance.now() > end) throw unreachable(socket, server.pid);
      await mkdir(dirname(socket), { recursive: true, mode: 0o700 });
      signal(server.pid);
      await wait(pause);
      if (await isAnswering()) return true;
    }
    known = undefined;
    return false;
  };
  return {
    async pid() {
      const server = known === "unread" ? await readIdentity(file) : known;
      return server !== undefined && (await table.isAlive(server)) ? server.pid : undefined;
    },
    async seen(pid) {
      if (known !== "unread" && known?.pid === pid) return;
      const identity = await table.identify(pid);
      if (identity === undefined) return;
      known = identity;
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await writeWhole(file, JSON.stringify(identity), { mode: 0o600, fsync: false });
    },
    revive() {
      reviving ??= revive().finally(() => {
        reviving = undefined;
      });
      return reviving;
    },
  };
}

async function readIdentity(file: string): Promise<ProcessIdentity | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as ProcessIdentity;
  } catch {
    return undefined;
  }
}

/** SIGUSR1 makes tmux create its socket again. */
function signal(pid: number): void {
  try {
    process.kill(pid, "SIGUSR1");
  } catch {
    // The server has ended in the meantime.
  }
}

function unreachable(socket: string, pid: number): Fault {
  return new Fault(
    "terminal.unreachable",
    `The tmux server of Signalbox (process ${pid}) does not listen at ${socket}.`,
    {
      retry: "later",
      hint: `Check the permissions of that folder. To end the server with all its windows and agents: kill ${pid}`,
    },
  );
}

/** The tmux channel that wakes all watchers when a pane dies. */
export const deathChannel = "signalbox-death";
/** Tmux options for the names that people see; see `shownText`. */
export const titleOption = "@signalbox_title";
export const windowOption = "@signalbox_window";
/** The window's exact name, in base64, so that any text is restored unchanged. */
export const nameOption = "@signalbox_name";
/** The pane's run and its first session. They stay with the pane when a person renames or moves it. */
export const runOption = "@signalbox_run";
export const sessionOption = "@signalbox_session";

/** The window's size before a watcher of its screen sized it. */
export const sizeOption = "@signalbox_size";

/** The keys for leaving. They are free in a default tmux, and no known agent needs them. */
export const leaveKeys = "F12, or Ctrl-Q and then d,";

const windowFormat = ` #{${windowOption}}#{?pane_dead, (ended),} `;

const options: readonly (readonly [string, string])[] = [
  // A pane stays when its program has ended, so that its end can be read.
  ["remain-on-exit", "on"],
  // Tmux's own message would push the first line of the last screen away.
  ["remain-on-exit-format", ""],
  ["history-limit", "10000"],
  ["default-terminal", "tmux-256color"],
  ["default-size", "160x48"],
  ["default-shell", "/bin/sh"],
  // Agents must not get the environment of a person's terminal.
  ["update-environment", ""],
  ["escape-time", "0"],
  // Fast keys must not count as a paste, or the key for leaving could go to the program.
  ["assume-paste-time", "0"],
  ["set-titles", "off"],
  ["allow-rename", "off"],
  ["automatic-rename", "off"],
  ["allow-passthrough", "off"],
  ["set-clipboard", "external"],
  ["exit-empty", "on"],
  ["destroy-unattached", "off"],
  ["detach-on-destroy", "on"],
  ["mouse", "on"],
  ["prefix", "C-q"],
  ["prefix2", "None"],
  // Seconds. Only the end of the agent changes the status line by itself.
  ["status-interval", "2"],
  ["status-position", "bottom"],
  ["status-style", "bg=colour236,fg=colour252"],
  ["status-left", ` #{${titleOption}} `],
  ["status-left-length", "84"],
  ["status-left-style", "bold"],
  // Short, so that the name of the window fits beside it in 80 columns.
  ["status-right", "#{?pane_dead, The agent has ended., } F12 or Ctrl-Q d: leave "],
  ["status-right-length", "50"],
  ["window-status-format", windowFormat],
  ["window-status-current-format", windowFormat],
  ["window-status-current-style", "reverse"],
];

const deathHooks = ["pane-died", "pane-exited", "window-unlinked", "session-closed"] as const;

/** A person's terminal sizes a window that a watcher has sized. Clients with a terminal are named by its path. */
const attachHooks = ["client-attached", "session-window-changed"] as const;
const isAttached = "#{m:*/*,#{window_active_clients_list}}";
const returnSize = `if-shell -F "#{&&:#{${sizeOption}},${isAttached}}" "set-option -wu window-size ; set-option -wu ${sizeOption}"`;

const treeFormat = `#{?pane_format,#{pane_title},#{?window_format,#{${windowOption}},#{${titleOption}}}}`;

// Only the keys for reading and typing. Keys that split, rename, kill or paste would break our panes, and some tmux
// servers crash on a paste into a dead pane.
const keys: readonly (readonly string[])[] = [
  ["-n", "F12", "detach-client"],
  ["d", "detach-client"],
  ["C-d", "detach-client"],
  ["C-q", "send-prefix"],
  ["n", "next-window"],
  ["p", "previous-window"],
  ["l", "last-window"],
  ["s", "choose-tree", "-Zs", "-F", treeFormat],
  ["w", "choose-tree", "-Zw", "-F", treeFormat],
  ["[", "copy-mode"],
  ["PPage", "copy-mode", "-u"],
  ...Array.from({ length: 10 }, (_, index) => [`${index}`, "select-window", "-t", `:=${index}`]),
  ["-n", "MouseDown1Status", "select-window", "-t", "="],
  ["-n", "MouseDown1Pane", "select-pane", "-t", "=", "\\;", "send-keys", "-M"],
  ["-n", "MouseDrag1Pane", ...whereProgramLooks("copy-mode -M")],
  ["-n", "WheelUpPane", ...whereProgramLooks("copy-mode -e")],
];

/** The commands that configure our server; constant and idempotent. */
const commands: readonly (readonly string[])[] = [
  ...options.map(([name, value]) => ["set-option", "-gq", name, value]),
  ...deathHooks.map((hook) => ["set-hook", "-g", hook, `wait-for -S ${deathChannel}`]),
  ...attachHooks.map((hook) => ["set-hook", "-g", hook, returnSize]),
  ...["prefix", "root"].map((table) => ["unbind-key", "-aq", "-T", table]),
  ...keys.map((key) => ["bind-key", ...key]),
];

/** For a running server, which an earlier version may have started. */
export const settings: readonly string[] = commands.flatMap((command) => [...command, ";"]).slice(0, -1);

/** For a new server. As arguments, the settings would fill the whole line in the process list. */
export const configuration: string = commands.map((command) => `${command.map(quote).join(" ")}\n`).join("");

/** No word contains a quote. The semicolon between two commands of a key is escaped only in arguments. */
function quote(word: string): string {
  return word === "\\;" ? "';'" : `'${word}'`;
}

/** A program that uses the mouse gets the mouse event; otherwise the window scrolls. */
function whereProgramLooks(otherwise: string): readonly string[] {
  return ["if-shell", "-F", "#{||:#{alternate_on},#{||:#{pane_in_mode},#{mouse_any_flag}}}", "send-keys -M", otherwise];
}
