import { Fault } from "../../fault.ts";
import { oneLine } from "../../text.ts";
import { spawnChild } from "../child.ts";

// Tmux executes commands between "#(" and ")" in a session's name, and matches names by prefix:
// only ids go into names, and names are matched exactly.
const idForm = /^[a-z0-9-]+$/;
const maxIdLength = 200;
const windowPrefix = "run-";

export function checkId(id: string): string {
  if (idForm.test(id) && id.length <= maxIdLength) return id;
  throw new Fault("terminal.id", `${JSON.stringify(id.slice(0, 100))} is not an id of a run or a session.`, {
    hint: `Use lower-case letters, digits and hyphens, at most ${maxIdLength} of them.`,
  });
}

/** The name of a run's window. With the prefix, tmux does not take a number for a window's index. */
export function windowName(run: string): string {
  return `${windowPrefix}${checkId(run)}`;
}

/** Undefined if the window is not ours. */
export function runOf(window: string): string | undefined {
  const run = window.startsWith(windowPrefix) ? window.slice(windowPrefix.length) : "";
  return idForm.test(run) ? run : undefined;
}

export function sessionTarget(session: string): string {
  return `=${checkId(session)}:`;
}

export function windowTarget(session: string, run: string): string {
  return `${sessionTarget(session)}=${windowName(run)}`;
}

/** Sends a command to our tmux server. */
export type Ask = (args: readonly string[], input?: string) => Promise<TmuxEnd>;

/**
 * The part of the daemon's environment that tmux gets. The server passes its environment on to every program that it
 * starts, so it must not contain the daemon's other variables.
 */
export function environment(): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "/usr/local/bin:/usr/bin:/bin",
    LANG: "C.UTF-8",
    SHELL: "/bin/sh",
    TERM: "screen",
  };
}

interface TmuxCall {
  readonly program: string;
  readonly socket: string;
  /** Passed to tmux unchanged; texts from outside must have been through `asArgument`. */
  readonly args: readonly string[];
  readonly input?: string;
  /** Milliseconds. */
  readonly timeout: number;
  /** The pid of our server, if it is known. */
  server?(): Promise<number | undefined>;
}

export interface TmuxEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

// The whole scrollback of a wide window, with colours, is a few megabytes.
const maxOutput = 64 * 1024 * 1024;

/** Runs a tmux command. Fails only if tmux could not be started or did not answer. */
export function runTmux({ program, socket, args, input = "", timeout, server }: TmuxCall): Promise<TmuxEnd> {
  return new Promise((resolve, reject) => {
    // From the root folder: a server that this call starts must not keep another folder in use.
    const child = spawnChild(program, [...baseArguments(socket), ...args], {
      cwd: "/",
      env: environment(),
      stdio: "pipe",
    });
    const chunks: { readonly stdout: Buffer[]; readonly stderr: Buffer[] } = { stdout: [], stderr: [] };
    let size = 0;
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      // A hanging server holds its ends of the pipes, so they would never be closed.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      const fail = (pid?: number) => reject(late(args, timeout, pid));
      if (server === undefined) fail();
      else server().then(fail, () => fail());
    }, timeout);
    const take = (channel: "stdout" | "stderr") => (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxOutput) chunks[channel].push(chunk);
    };
    child.stdout.on("data", take("stdout"));
    child.stderr.on("data", take("stderr"));
    // Tmux may end before it has read everything; its exit code says why.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    child.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      reject(notStarted(program, error));
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      const [stdout, stderr] = [chunks.stdout, chunks.stderr].map((each) => Buffer.concat(each).toString("utf8"));
      resolve({ code: code ?? 1, stdout: stdout ?? "", stderr: stderr ?? "" });
    });
  });
}

/** The first arguments of every tmux call: our server, our configuration, and UTF-8 in every locale. */
export function baseArguments(socket: string): readonly string[] {
  return ["-S", socket, "-f", configurationFile(socket), "-u"];
}

export function configurationFile(socket: string): string {
  return `${socket}.conf`;
}

/** Escapes a text for tmux, which takes a final semicolon for the end of a command. */
export function asArgument(text: string): string {
  return text.endsWith(";") ? `${text.slice(0, -1)}\\;` : text;
}

/** Whether tmux failed because no server listens at the socket, or because the server has ended. */
export function hasNoServer({ code, stderr }: TmuxEnd): boolean {
  return code !== 0 && /no server running|error connecting|server exited|lost server/.test(stderr);
}

/** Whether tmux failed because the target does not exist. */
export function hasNoTarget({ code, stderr }: TmuxEnd): boolean {
  return code !== 0 && /can't find|no such|no sessions|no current/.test(stderr);
}

export function tmuxFault(what: string, { code, stderr }: TmuxEnd): Fault {
  const said = stderr.trim().slice(0, 500);
  return new Fault("terminal.failed", `tmux could not ${what}: ${said || `it ended with ${code}`}.`, {
    retry: "later",
    hint: "Signalbox retries. If it keeps failing, check that tmux works: signalbox doctor",
  });
}

function missing(program: string, cause: unknown): Fault {
  return new Fault("terminal.missing", `"${program}" could not be started, but agents with a terminal need it.`, {
    hint: 'Install tmux 3.2 or newer ("apt-get install tmux", "brew install tmux"), and make sure that it is on the PATH of the daemon.',
    cause,
  });
}

function notStarted(program: string, error: NodeJS.ErrnoException): Fault {
  if (error.code === "ENOENT" || error.code === "EACCES") return missing(program, error);
  return new Fault("terminal.failed", `"${program}" could not be started (${error.code ?? error.message}).`, {
    retry: "later",
    hint: "Signalbox retries. Check whether the machine has too many processes.",
    cause: error,
  });
}

function late(args: readonly string[], timeout: number, server?: number): Fault {
  const end =
    server === undefined
      ? "."
      : `. To end it, so that its agents are started again and resume their sessions: kill -9 ${server}`;
  return new Fault("terminal.timeout", `tmux did not answer "${args[0] ?? ""}" within ${timeout / 1000} s.`, {
    retry: "later",
    hint: `Signalbox retries. If it keeps failing, the tmux server of Signalbox hangs${end}`,
  });
}

const maxShown = 80;

/**
 * Makes a text from outside safe for a status line: one line, no control characters, and every "#" doubled, because
 * tmux would take "#[" for a style. Tmux never executes commands in the value of an option.
 */
export function shownText(text: string): string {
  // Tmux and terminals disagree about the width of other invisible characters.
  return oneLine(text.replace(/\p{Cf}+/gu, " "), maxShown).replaceAll("#", "##");
}

/** Checks the length of a socket's path, which systems limit strictly. */
export function checkSocket(path: string): void {
  const maxPath = process.platform === "darwin" ? 103 : 107;
  const size = Buffer.byteLength(path);
  if (size <= maxPath) return;
  throw new Fault(
    "terminal.socket",
    `The path of the tmux socket has ${size} bytes, but at most ${maxPath} are allowed: ${path}`,
    {
      hint: "Set SIGNALBOX_HOME to a shorter path.",
    },
  );
}

const needed = [3, 2] as const;
const timeout = 10_000;

/** Checks that tmux is installed and new enough. */
export async function checkVersion(program: string): Promise<void> {
  const said = await askVersion(program);
  const [, major, minor] = /(\d+)\.(\d+)/.exec(said) ?? [];
  // Development versions have no number.
  if (major === undefined || minor === undefined) return;
  const isOld = Number(major) < needed[0] || (Number(major) === needed[0] && Number(minor) < needed[1]);
  if (!isOld) return;
  throw new Fault("terminal.old", `${said.trim()} is too old: Signalbox needs tmux ${needed.join(".")} or newer.`, {
    hint: "Install a newer tmux, and make sure that it is the first on the daemon's PATH.",
  });
}

function askVersion(program: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawnChild(program, ["-V"], {
      cwd: "/",
      env: environment(),
      stdio: ["ignore", "pipe", "ignore"],
      timeout,
    });
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString("utf8");
    });
    child.on("error", (error) => reject(notStarted(program, error)));
    child.on("close", () => resolve(said));
  });
}
