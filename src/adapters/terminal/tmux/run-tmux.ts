import { spawn } from "node:child_process";
import { Fault } from "../../../fault.ts";
import { environment } from "./environment.ts";

export interface TmuxCall {
  readonly program: string;
  readonly socket: string;
  /** Goes to tmux as it is; what comes from outside must have been through `asArgument`. */
  readonly args: readonly string[];
  readonly input?: string;
  /** Milliseconds. */
  readonly timeout: number;
  /** The process of our server, where it is known. */
  server?(): Promise<number | undefined>;
}

export interface TmuxEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

// The whole scrollback of a wide window, with colours, is a few megabytes.
const mostOutput = 64 * 1024 * 1024;

/** Asks tmux something, and fails only where it could not be started or did not answer. */
export function runTmux({ program, socket, args, input = "", timeout, server }: TmuxCall): Promise<TmuxEnd> {
  return new Promise((resolve, reject) => {
    // From the root folder: a server that is started here must not keep somebody's folder in use.
    const child = spawn(program, [...baseArguments(socket), ...args], { cwd: "/", env: environment(), stdio: "pipe" });
    const chunks: { readonly stdout: Buffer[]; readonly stderr: Buffer[] } = { stdout: [], stderr: [] };
    let size = 0;
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      // A server that hangs holds its ends of our pipes, so that they would never be closed.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      const fail = (pid?: number) => reject(late(args, timeout, pid));
      if (server === undefined) fail();
      else server().then(fail, () => fail());
    }, timeout);
    const take = (channel: "stdout" | "stderr") => (chunk: Buffer) => {
      size += chunk.length;
      if (size <= mostOutput) chunks[channel].push(chunk);
    };
    child.stdout.on("data", take("stdout"));
    child.stderr.on("data", take("stderr"));
    // It may end before it has read everything; how it ended says why.
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

/** What every call of tmux begins with: our server, our configuration, Unicode whatever the locale is. */
export function baseArguments(socket: string): readonly string[] {
  return ["-S", socket, "-f", configurationFile(socket), "-u"];
}

export function configurationFile(socket: string): string {
  return `${socket}.conf`;
}

/** Tmux takes an argument that ends in a semicolon for the end of a command. */
export function asArgument(text: string): string {
  return text.endsWith(";") ? `${text.slice(0, -1)}\\;` : text;
}

/** Whether tmux failed because nobody listens at the socket, or nobody does any more. */
export function hasNoServer({ code, stderr }: TmuxEnd): boolean {
  return code !== 0 && /no server running|error connecting|server exited|lost server/.test(stderr);
}

/** Whether what was asked about is not there. */
export function hasNoTarget({ code, stderr }: TmuxEnd): boolean {
  return code !== 0 && /can't find|no such|no sessions|no current/.test(stderr);
}

export function tmuxFault(what: string, { code, stderr }: TmuxEnd): Fault {
  const said = stderr.trim().slice(0, 500);
  return new Fault("terminal.failed", `tmux could not ${what}: ${said || `it ended with ${code}`}.`, {
    retry: "later",
    hint: "It is tried again. If it goes on, look whether the tmux server of Signalbox is well.",
  });
}

export function missing(program: string, cause: unknown): Fault {
  return new Fault("terminal.missing", `"${program}" could not be started, and sessions run in it.`, {
    hint: 'Install tmux 3.2 or newer ("apt-get install tmux", "brew install tmux"), and make sure that it is on the PATH of the daemon.',
    cause,
  });
}

function notStarted(program: string, error: NodeJS.ErrnoException): Fault {
  if (error.code === "ENOENT" || error.code === "EACCES") return missing(program, error);
  return new Fault("terminal.failed", `"${program}" could not be started (${error.code ?? error.message}).`, {
    retry: "later",
    hint: "It is tried again. Look whether the machine has too many processes.",
    cause: error,
  });
}

function late(args: readonly string[], timeout: number, server?: number): Fault {
  const end = server === undefined ? "." : `. To end it, so that its agents go on in their sessions: kill -9 ${server}`;
  return new Fault("terminal.timeout", `tmux did not answer "${args[0] ?? ""}" within ${timeout / 1000} s.`, {
    retry: "later",
    hint: `It is tried again. If it goes on, the tmux server of Signalbox hangs${end}`,
  });
}
