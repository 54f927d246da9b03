import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { DatabaseSync } from "node:sqlite";
import { all, command, desktop, hasDesktop, terminal } from "./adapters/notifier/notifiers.ts";
import { webhook } from "./adapters/notifier/webhook.ts";
import { newestVersion } from "./adapters/sqlite/connection.ts";
import { copyDatabase, openSqliteStore } from "./adapters/sqlite/store.ts";
import { spawnCommands, systemClock } from "./adapters/system.ts";
import { telegram } from "./adapters/telegram.ts";
import type { OpenChat } from "./daemon/chat/chats.ts";
import { Fault } from "./fault.ts";
import { backupFile, pruneBackups, restoreHint, storeLoss } from "./home/backups.ts";
import type { ChatConfig } from "./home/chat-fields.ts";
import type { Config } from "./home/config-fields.ts";
import { lookAtDatabase } from "./home/database.ts";
import { makePrivateFolder } from "./home/make-folder.ts";
import type { Places } from "./home/places.ts";
import type { Store } from "./ports/store.ts";
import type { Channels, Log, Notifier } from "./ports/system.ts";
import { shellWord } from "./shell-quote.ts";

/**
 * Opens the daemon's store, after a backup if the schema is upgraded. Throws if data is missing or damaged: a person
 * must decide before the daemon writes to it. Undefined if another process has the database open: a daemon whose lock
 * file was deleted.
 */
export async function openStore(places: Places): Promise<Store | undefined> {
  const loss = storeLoss(places);
  if (loss?.code === "store.busy") return undefined;
  if (loss !== undefined) throw loss;
  try {
    await backUpBeforeUpgrade(places);
    const store = openSqliteStore(places.database, { isExclusive: true });
    const [damage] = await store.check();
    if (damage === undefined) return store;
    await store.close();
    throw new Fault("store.corrupt", `The store ${places.database} is damaged: ${damage}`);
  } catch (error) {
    if (error instanceof Fault && error.code === "store.busy") return undefined;
    if (!(error instanceof Fault) || error.code !== "store.corrupt") throw error;
    throw new Fault(error.code, error.message, { hint: restoreHint(places), cause: error });
  }
}

async function backUpBeforeUpgrade(places: Places): Promise<void> {
  const version = versionOf(places.database);
  if (version === 0 || version >= newestVersion) return;
  makePrivateFolder(places.backups);
  const database = new DatabaseSync(places.database, { readOnly: true, timeout: 5_000 });
  try {
    await copyDatabase(database, backupFile(places, Date.now(), "upgrade"));
  } finally {
    database.close();
  }
  pruneBackups(places, "upgrade");
}

/** 0 if there is no database, or SQLite cannot read it; opening it reports that error. */
function versionOf(database: string): number {
  try {
    return lookAtDatabase(database).version;
  } catch {
    return 0;
  }
}

interface NotifierPorts {
  readonly env: NodeJS.ProcessEnv;
  /** The part of the environment that commands get. */
  readonly inherited: Readonly<Record<string, string>>;
  /** Aborts running notifications. */
  readonly signal: AbortSignal;
  readonly home: string;
  /** Ends all processes with this entry, `NAME=value`, in their environment. */
  sweep(entry: string): Promise<void>;
  config(): Pick<Config, "notifyDesktop" | "notifyWebhook" | "notifyWebhookSecretEnv" | "notifyCommand">;
}

/** The channels in the current configuration. The desktop is one only in a desktop session. */
export function notifyChannels({ env, inherited, config, signal, home, sweep }: NotifierPorts): () => Channels {
  return () => {
    const { notifyDesktop, notifyWebhook: url, notifyWebhookSecretEnv, notifyCommand: argv } = config();
    const secret = notifyWebhookSecretEnv === "" ? undefined : env[notifyWebhookSecretEnv];
    const channels = new Map<string, Notifier>();
    const { platform } = process;
    if (notifyDesktop && hasDesktop(platform, env))
      channels.set("desktop", desktop({ commands: spawnCommands, platform, env, signal }));
    if (url !== "")
      channels.set(
        "webhook",
        webhook({ url, signal, now: systemClock.now, ...(secret === undefined ? {} : { secret }) }),
      );
    if (argv.length > 0)
      channels.set("command", command({ commands: spawnCommands, argv, env: inherited, signal, home, sweep }));
    if (process.stderr.isTTY)
      channels.set("terminal", terminal({ write: (text) => process.stderr.write(text), isTTY: true, env }));
    return channels;
  };
}

interface ChatPorts {
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  config(): ChatConfig;
}

/** The chat service in the current configuration. Throws a Fault if its token cannot be read. */
export function openChatOf({ env, signal, config }: ChatPorts): () => OpenChat | undefined {
  return () => {
    const { chatTelegramChats, chatTelegramTokenFile, chatTelegramTokenEnv, chatTelegramAddress } = config();
    if (chatTelegramChats.length === 0) return undefined;
    const token =
      chatTelegramTokenFile === "" ? (env[chatTelegramTokenEnv] ?? "").trim() : tokenIn(chatTelegramTokenFile);
    if (!/^\d+:[\w-]{20,}$/.test(token))
      throw new Fault("chat.token", "There is no valid token of a Telegram bot.", {
        hint: "Put it into a file that only you can read: signalbox config set chat.telegram.token_file ~/.telegram-token",
      });
    const chat = telegram({ token, address: chatTelegramAddress, signal, now: systemClock.now });
    return { chat, allowed: chatTelegramChats.map(String) };
  };
}

function tokenIn(path: string): string {
  const file = path.replace(/^~(?=\/|$)/, () => homedir());
  try {
    if ((statSync(file).mode & 0o077) !== 0)
      throw new Fault("chat.token", `Others can read ${file}.`, { hint: `Restrict it: chmod 600 ${shellWord(file)}` });
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    if (error instanceof Fault) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new Fault("chat.token", `The token file ${file} cannot be read (${code}).`);
  }
}

/** All channels as one notifier, for the `notify` action. */
export function notifierOf(channels: () => Channels, log: Log): Notifier {
  return {
    notify: (note) =>
      all([...channels().values()], (error) => log.warn("A notification channel failed", { error })).notify(note),
  };
}

export interface Watchdog {
  /** Called at an orderly stop, so that the watchdog does not start the daemon again. */
  stop(): void;
}

/** How often in a row the watchdog restarts a daemon that dies soon after its start. */
const maxRevivals = 3;
/** A daemon that has lived this long did not die because of its start. */
const soundAfter = 10 * 60 * 1000;

/** The argument that tells a daemon how often it was revived. */
const argument = "--revived=";

/**
 * Starts a process that waits for the daemon's end, and restarts the daemon if it was killed or crashed. Agents in a
 * sandbox cannot start it, and a person might not for hours. The watchdog is a shell that reads from a pipe: it costs
 * almost nothing, and the system closes the pipe however the daemon ends. `call` reaches the person: when the daemon is
 * restarted for the last time, and once more when it died after that and is started again.
 */
export function startWatchdog(
  home: string,
  places: Places,
  argv: readonly string[],
  log: Log,
  call: (text: string) => void,
): Watchdog {
  const isUnwatched = existsSync(places.unwatched) && !existsSync(places.stopped);
  const forget = () => rmSync(places.unwatched, { force: true });
  const tell = (text: string) => {
    log.error(text);
    call(`${text} Read ${places.log}`);
  };
  rmSync(places.stopped, { force: true });
  forget();
  if (isUnwatched) tell(`The daemon died, and was not restarted, because it had died ${maxRevivals} times before.`);
  const given = argv.find((each) => each.startsWith(argument));
  if (given === undefined) return { stop() {} };
  const revived = Number(given.slice(argument.length)) || 0;
  if (revived > 0) log.warn("The daemon died and was restarted", { times: revived });
  if (revived >= maxRevivals) {
    tell(`The daemon died ${revived} times in a row. If it dies again soon, it is not restarted: signalbox up`);
    markUnwatched(places);
  }
  let watching = revived < maxRevivals ? watch(home, places, argv, revived + 1) : undefined;
  const dismiss = () => {
    watching?.stdin?.on("error", () => {});
    watching?.stdin?.end("stop\n");
  };
  const timer = setTimeout(() => {
    if (revived === 0) return;
    dismiss();
    forget();
    watching = watch(home, places, argv, 1);
  }, soundAfter);
  timer.unref();
  return {
    stop() {
      clearTimeout(timer);
      dismiss();
      forget();
    },
  };
}

function markUnwatched({ unwatched }: Places): void {
  try {
    writeFileSync(unwatched, "", { mode: 0o600 });
  } catch {
    // The person was called already; a full disk must not end the daemon.
  }
}

function watch(home: string, places: Places, argv: readonly string[], times: number): ChildProcess {
  const [, file = ""] = argv;
  const report = openReport(places.startReport);
  const daemon = [process.execPath, ...process.execArgv, file, `${argument}${times}`];
  const child = spawn("/bin/sh", ["-c", script, "signalbox-watchdog", home, places.stopped, ...daemon], {
    ...{ cwd: "/", detached: true, stdio: ["pipe", report, report] },
  });
  if (report !== "ignore") closeSync(report);
  // Without a shell the daemon runs without a watchdog.
  child.on("error", () => {});
  child.unref();
  (child.stdin as unknown as { unref?(): void } | null)?.unref?.();
  return child;
}

function openReport(file: string): number | "ignore" {
  try {
    return openSync(file, "a", 0o600);
  } catch {
    return "ignore";
  }
}

// A line on the pipe: an orderly stop. No line: the daemon died, unless it was killed on purpose or its home is gone.
const script = `
read -r word && exit 0
sleep 1
[ -d "$1" ] && [ ! -e "$2" ] || exit 0
shift 2
exec "$@" </dev/null
`;
