import { Fault } from "../../fault.ts";
import type { CommandResult, Commands, Note, Notifier } from "../../ports/system.ts";
import { oneLine } from "../../text.ts";

/**
 * Notifies all channels concurrently. It fails only if all fail, because a retry would notify the successful channels
 * again. Other failures are reported to `onFailure`.
 */
export function all(notifiers: readonly Notifier[], onFailure: (error: unknown) => void): Notifier {
  return {
    async notify(note) {
      const results = await Promise.allSettled(notifiers.map(async (each) => each.notify(note)));
      const errors = results.flatMap((each) => (each.status === "rejected" ? [each.reason as unknown] : []));
      if (errors.length > 0 && errors.length === notifiers.length) throw together(errors);
      for (const error of errors) onFailure(error);
    },
  };
}

function together(errors: readonly unknown[]): unknown {
  if (errors.length === 1) return errors[0];
  const reasons = errors.map((error) => (error instanceof Error ? error.message : String(error)));
  const isHopeful = errors.some((error) => error instanceof Fault && error.retry === "later");
  return new Fault("notifier.failed", `No notification could be delivered.\n${reasons.join("\n")}`, {
    retry: isHopeful ? "later" : "never",
    cause: new AggregateError(errors),
  });
}

interface DesktopOptions {
  readonly commands: Commands;
  /** As in `process.platform`. */
  readonly platform: string;
  /** The daemon's environment; the program gets only the variables that it needs. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** When it fires, what is under way is ended. */
  readonly signal?: AbortSignal;
}

const timeout = 10_000;

/** The variables for reaching the user's desktop; no others are passed on. */
const needed = ["PATH", "HOME", "LANG", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"];

/** Whether this process belongs to a desktop session; a remote login has none. */
export function hasDesktop(platform: string, env: DesktopOptions["env"]): boolean {
  if (platform === "darwin") return (env.SSH_CONNECTION ?? "") === "";
  return platform === "linux" && ((env.DISPLAY ?? "") !== "" || (env.WAYLAND_DISPLAY ?? "") !== "");
}

/** Shows notes on the desktop: `notify-send` on Linux, `osascript` on macOS. */
export function desktop({ commands, platform, env, signal }: DesktopOptions): Notifier {
  const stopping = signal === undefined ? {} : { signal };
  return {
    async notify(note) {
      const argv = argvOf(platform, note);
      const [program = ""] = argv;
      const seen = Object.fromEntries(needed.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
      const { code, timedOut, output } = await run(commands, { argv, cwd: "/", env: seen, timeout, ...stopping });
      if (code === 0) return;
      const how = timedOut ? `did not end within ${timeout / 1000} s` : `ended with ${code ?? "a signal"}`;
      const said = oneLine(output, 300);
      throw new Fault("notifier.failed", `"${program}" ${how}${said === "" ? "." : `: ${said}`}`, {
        retry: timedOut ? "later" : "never",
        hint: "Check that a desktop is running for this user, or use a webhook.",
      });
    },
  };
}

function argvOf(platform: string, { title, text }: Note): readonly string[] {
  const head = oneLine(title, 200) || "Signalbox";
  const body = oneLine(text, 1_000);
  if (platform === "linux") return ["notify-send", "--app-name=Signalbox", "--", head, literal(body)];
  if (platform === "darwin") return ["osascript", ...script.flatMap((line) => ["-e", line]), "--", head, body];
  throw new Fault("notifier.missing", `Signalbox cannot show desktop notifications on "${platform}".`, {
    hint: "Use a webhook.",
  });
}

/** The texts are arguments of the script, never part of it. */
const script = ["on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run"];

/** Escapes the body: notify-send interprets backslashes, and desktops interpret markup. */
function literal(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

async function run(commands: Commands, command: Parameters<Commands["run"]>[0]): Promise<CommandResult> {
  try {
    return await commands.run(command);
  } catch (error) {
    if (!(error instanceof Fault) || (error.cause as NodeJS.ErrnoException | undefined)?.code !== "ENOENT") throw error;
    const [program = ""] = command.argv;
    const where = program === "notify-send" ? ` Install the package ${packages}.` : " It is part of macOS.";
    throw new Fault("notifier.missing", `The program "${program}" is missing.${where}`, { cause: error });
  }
}

const packages = '"libnotify-bin" (Debian, Ubuntu), "libnotify" (Fedora, Arch) or "libnotify-tools" (openSUSE)';

/** Removes the secret parts of an address from a text: servers often repeat what they were sent. */
export function createMask(url: string, secret: string | undefined): (text: string) => string {
  const { username, password, pathname, search, searchParams } = new URL(url);
  const pair = `${decoded(username)}:${decoded(password)}`;
  const parts = [secret ?? "", password, username, pathname, search.slice(1), ...searchParams.values()];
  const encoded = [...parts.flatMap((part) => [part, decoded(part)]), Buffer.from(pair).toString("base64")];
  // The longest first, so that no part breaks up a longer one. Very short parts are not secrets.
  const hidden = [...new Set(encoded)].filter((part) => part.length > 2).sort((a, b) => b.length - a.length);
  return (text) => hidden.reduce((rest, part) => rest.replaceAll(part, "…"), text);
}

/** A part of an address, decoded if possible. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

interface TerminalOptions {
  write(text: string): void;
  readonly isTTY: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const esc = "\u001b";
const bell = "\u0007";

/**
 * Asks the terminal to show notes, with both known sequences (OSC 9 and OSC 777), and rings its bell. Does nothing
 * without a terminal. tmux passes the sequences on only with `allow-passthrough on`.
 */
export function terminal({ write, isTTY, env }: TerminalOptions): Notifier {
  return {
    async notify({ title, text }) {
      if (!isTTY) return;
      const head = partOf(title, 200);
      const body = partOf(text, 500);
      const sequences = [`9;${[head, body].filter(Boolean).join(": ")}`, `777;notify;${head};${body}`];
      const wrap = env.TMUX ? throughTmux : (sequence: string) => sequence;
      // The bell also makes tmux mark the window.
      write(sequences.map((each) => wrap(`${esc}]${each}${bell}`)).join("") + bell);
    },
  };
}

/** A semicolon would end the part; after a leading number in OSC 9 it would even be a command. */
function partOf(text: string, max: number): string {
  return oneLine(text, max).replaceAll(";", ",");
}

function throughTmux(sequence: string): string {
  return `${esc}Ptmux;${sequence.replaceAll(esc, esc + esc)}${esc}\\`;
}

interface CommandOptions {
  readonly commands: Commands;
  /** The command, run without a shell; the title and the text are its last two arguments. */
  readonly argv: readonly string[];
  /** The part of the daemon's environment that the command gets. */
  readonly env: Readonly<Record<string, string>>;
  /** Milliseconds. */
  readonly timeout?: number;
  /** When it fires, what is under way is ended. */
  readonly signal?: AbortSignal;
  /** The daemon's home, which distinguishes its commands' marks from other daemons'. */
  readonly home?: string;
  /** Ends all processes with this entry, `NAME=value`, in their environment. */
  sweep?(entry: string): Promise<void>;
}

/**
 * Runs the user's command for each note. Texts are one line each, and never interpreted. A command that does not end in
 * time, or still runs when the daemon stops, is killed with everything that it started. It has received the note, so it
 * is not retried.
 */
export function command({ commands, argv, env, timeout = 30_000, signal, home = "", sweep }: CommandOptions): Notifier {
  const [program = ""] = argv;
  const stopped = new Fault("notifier.stopped", `The command "${program}" was not started: the daemon is stopping.`, {
    retry: "later",
  });
  return {
    async notify(note) {
      const variables = variablesOf(note);
      const own = [variables.SIGNALBOX_NOTE_TITLE, variables.SIGNALBOX_NOTE_TEXT].map(asArgument);
      if (signal?.aborted) throw stopped;
      const mark = `${home}:${note.key}`;
      const endAll = async () => sweep?.(`SIGNALBOX_NOTE_OF=${mark}`);
      const ended = await commands
        .run({
          argv: [...argv, ...own],
          cwd: env.HOME ?? "/",
          env: { ...env, ...variables, SIGNALBOX_NOTE_OF: mark },
          timeout,
          ...(signal === undefined ? {} : { signal }),
        })
        .catch((error: unknown) => {
          if (signal?.aborted) return undefined;
          throw error;
        });
      if (ended === undefined) return endAll();
      const { code, timedOut, output } = ended;
      if (timedOut) {
        await endAll();
        throw new Fault(
          "notifier.slow",
          `The command "${program}" did not end within ${timeout / 1000} s, and was killed. The call counts as made.`,
          { hint: "Make the command end by itself; see notify.command in your configuration." },
        );
      }
      if (code === 0) return;
      const how = `ended with ${code ?? "a signal"}`;
      const said = oneLine(output, 300);
      throw new Fault("notifier.failed", `The command "${program}" ${how}${said === "" ? "." : `: ${said}`}`, {
        // The command may depend on a service that is down at the moment.
        retry: "later",
        hint: "Check notify.command in your configuration.",
      });
    },
  };
}

function variablesOf({ title, text, task, project, key, needs = [] }: Note) {
  const [first] = needs;
  return {
    SIGNALBOX_NOTE_TITLE: oneLine(title, 200),
    SIGNALBOX_NOTE_TEXT: oneLine(text, 1_000),
    SIGNALBOX_NOTE_TASK: task,
    SIGNALBOX_NOTE_PROJECT: project,
    SIGNALBOX_NOTE_KEY: key,
    SIGNALBOX_NOTE_REASON: needs.length === 1 && first !== undefined ? first.reason : "",
    SIGNALBOX_NOTE_COMMAND: needs.length === 1 && first !== undefined ? oneLine(first.command, 500) : "",
    SIGNALBOX_NOTE_TASKS: needs.map(({ name }) => name).join(" "),
  };
}

/** A text must not be taken for an option of the command. */
function asArgument(text: string): string {
  return text.startsWith("-") ? ` ${text}` : text;
}
