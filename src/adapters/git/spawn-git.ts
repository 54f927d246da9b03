import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { Readable } from "node:stream";
import { Fault } from "../../fault.ts";

export interface GitProcess {
  readonly program: string;
  /** What git is asked, for messages. */
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** A stream is passed on as it comes. */
  readonly input: Uint8Array | Readable | undefined;
  /** A file that is read instead of `input`. */
  readonly inputFile: string | undefined;
  /** Gets the output as it comes; then none is gathered. */
  readonly onOutput?: ((chunk: Buffer) => void) | undefined;
  /** How many bytes of output are taken; then git is stopped. */
  readonly most: number;
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
}

export interface GitEnd {
  /** It found itself in a state that must not be, and ended itself. */
  readonly hasGivenUp: boolean;
  /** Undefined where a signal ended it. */
  readonly code: number | undefined;
  readonly stdout: Buffer;
  /** Its last part. */
  readonly stderr: string;
  readonly isCut: boolean;
}

const mostErrors = 64 * 1024;
// Asked politely, git removes its locks and half-written files. It does so at once.
const grace = 2_000;

/** Runs git, and fails only where it could not be started, took too long or was stopped. */
export function spawnGit(order: GitProcess): Promise<GitEnd> {
  const { program, command, args, cwd, env, input, inputFile, onOutput, most, timeout, signal } = order;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(stopped(command));
    const source = inputFile === undefined ? "pipe" : openSync(inputFile, "r");
    // A group of its own, so that what git starts is stopped with it, and no terminal that could ask for a password.
    const child = spawn(program, [...args], { cwd, env: { ...env }, stdio: [source, "pipe", "pipe"], detached: true });
    if (typeof source === "number") closeSync(source);
    const chunks: Buffer[] = [];
    let size = 0;
    let stderr = "";
    let isCut = false;
    let isLate = false;
    const timers: NodeJS.Timeout[] = [];
    const stop = () => {
      signalGroup(child, "SIGTERM");
      timers.push(setTimeout(() => signalGroup(child, "SIGKILL"), grace));
    };
    timers.push(
      setTimeout(() => {
        isLate = true;
        stop();
      }, timeout),
    );
    signal?.addEventListener("abort", stop);
    const clear = () => {
      for (const timer of timers) clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    };

    child.stdout?.on("data", (chunk: Buffer) => {
      if (onOutput !== undefined) return onOutput(chunk);
      if (isCut) return;
      chunks.push(chunk.subarray(0, most - size));
      size += chunk.length;
      if (size <= most) return;
      isCut = true;
      stop();
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      stderr = (stderr + chunk.toString("utf8")).slice(-mostErrors);
    });
    // Git may end before it has read everything; how it ended says why.
    child.stdin?.on("error", () => {});
    if (!(input instanceof Readable)) child.stdin?.end(input);
    else if (child.stdin) input.pipe(child.stdin);
    child.on("error", (error) => {
      clear();
      reject(notStarted(program, cwd, error));
    });
    child.on("exit", () => {
      // Something that git has left running must not keep us waiting for the end of its output.
      timers.push(setTimeout(() => [child.stdout, child.stderr].map((stream) => stream?.destroy()), grace));
    });
    child.on("close", (code, endedBy) => {
      clear();
      if (signal?.aborted) reject(stopped(command));
      else if (isLate) reject(late(command, timeout));
      else
        resolve({
          code: code ?? undefined,
          hasGivenUp: endedBy === "SIGABRT",
          stdout: Buffer.concat(chunks),
          stderr,
          isCut,
        });
    });
  });
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // It ended by itself in the meantime.
  }
}

function stopped(command: string): Fault {
  return new Fault("git.stopped", `"git ${command}" was stopped.`, {
    retry: "later",
    hint: "It is done again when the task goes on.",
  });
}

function late(command: string, timeout: number): Fault {
  return new Fault("git.timeout", `"git ${command}" did not end within ${timeout / 1000} s and was stopped.`, {
    retry: "later",
    hint: "Look whether the disk or the remote is slow, or whether something in the folder cannot be read.",
  });
}

function notStarted(program: string, cwd: string, error: NodeJS.ErrnoException): Fault {
  if (error.code === "ENOENT" && !existsSync(cwd)) {
    return new Fault("git.not-a-repository", `There is no folder ${cwd}.`, {
      hint: "Look where the repository is now, and update the project.",
      cause: error,
    });
  }
  return new Fault("git.missing", `"${program}" could not be started (${error.code ?? error.message}).`, {
    hint: "Install git 2.38 or newer, and make sure that it is on the PATH of the daemon.",
    cause: error,
  });
}
