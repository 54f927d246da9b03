import type { ChildProcess } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "../../fault.ts";
import { exhaustedFault, spawnChild } from "../child.ts";
import { gitFault } from "./faults.ts";
import { blocked, findPipe, readBy } from "./pipes.ts";
import { type Configuration, gitEnvironment, gitFlags, type Protocol } from "./settings.ts";

/** Runs git, and throws a Fault if its exit code is not accepted. */
export type RunGit = (place: GitPlace, args: readonly string[], options?: RunOptions) => Promise<GitEnd>;

export interface GitPlace {
  /** The working directory of git. */
  readonly folder: string;
  /** Undefined if git has to find it from the folder. */
  readonly gitDir?: string;
  readonly workTree?: string;
  readonly configuration: Configuration;
}

export interface RunOptions {
  /** Exit codes that are not errors; 0 alone by default. */
  readonly accepts?: readonly number[];
  /** Accepts that git aborts on a failed assertion. */
  readonly mayGiveUp?: boolean;
  /** A stream is piped to git. */
  readonly input?: Uint8Array | Readable;
  readonly inputFile?: string;
  /** Gets the output in chunks; then `stdout` stays empty. */
  readonly onOutput?: (chunk: Buffer) => void;
  /** Limit for the output, in bytes. Beyond it git is stopped: `isCut` with `cuts`, otherwise `git.too-much`. */
  readonly most?: number;
  readonly cuts?: boolean;
  /** Uses the long timeout, for commands whose time depends on the size of the repository or on the network. */
  readonly isLong?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Git runs to its end even if the daemon stops. */
  readonly isUnstoppable?: boolean;
  readonly protocols?: readonly Protocol[];
  /** Whether another machine may cause a refusal. */
  readonly isRemote?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether git may take optional locks, for example to refresh its index. */
  readonly writes?: boolean;
  readonly settings?: readonly string[];
  /** The repository that a refusal is about, if it is not the one that git runs in. */
  readonly about?: string;
}

interface RunnerOptions {
  readonly program: string;
  /** The daemon's environment; git gets only the variables that it needs. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Fires when the daemon stops. */
  readonly signal: AbortSignal | undefined;
  /** Milliseconds. */
  readonly limits: { readonly short: number; readonly long: number };
}

export const defaultLimits: RunnerOptions["limits"] = { short: 2 * 60_000, long: 30 * 60_000 };

const mostOutput = 64 * 1024 * 1024;

export function createRunner({ program, env, signal, limits }: RunnerOptions): RunGit {
  let version: Promise<void> | undefined;
  const checkOnce = () => {
    version ??= checkVersion(program, gitEnvironment(env, "ours", [])).catch((error) => {
      version = undefined;
      throw error;
    });
    return version;
  };
  return async (place, args, options = {}) => {
    await checkOnce();
    const { accepts = [0], protocols = [], most = mostOutput, cuts = false } = options;
    const [command = ""] = args;
    const { folder, gitDir, workTree, configuration } = place;
    const start = () =>
      spawnGit({
        program,
        command,
        args: [
          ...gitFlags(configuration, protocols),
          ...(options.settings ?? []).flatMap((setting) => ["-c", setting]),
          ...(gitDir === undefined ? [] : [`--git-dir=${gitDir}`]),
          ...(workTree === undefined ? [] : [`--work-tree=${workTree}`]),
          ...args,
        ],
        cwd: folder,
        env: {
          ...gitEnvironment(env, configuration, protocols),
          ...(options.writes ? {} : { GIT_OPTIONAL_LOCKS: "0" }),
          ...options.env,
        },
        input: options.input,
        inputFile: options.inputFile,
        onOutput: options.onOutput,
        most,
        timeout: options.isLong ? limits.long : limits.short,
        signal: options.isUnstoppable ? undefined : either(signal, options.signal),
        ...(options.isUnstoppable ? {} : { mayWaitIn: readBy(place, args, options) }),
      });
    let end = await start();
    for (let pause = 20; isDisturbed(end) && pause < 1_000; pause *= 2) {
      await sleep(pause);
      end = await start();
    }
    if (end.isCut) {
      if (cuts) return end;
      throw new Fault("git.too-much", `"git ${command}" prints more than ${most} bytes in ${folder}.`, {
        hint: "Check for files that do not belong in the repository.",
      });
    }
    if (end.code !== undefined ? accepts.includes(end.code) : end.hasGivenUp && options.mayGiveUp) return end;
    throw gitFault({
      command,
      cwd: folder,
      about: options.about ?? folder,
      code: end.code,
      stderr: end.stderr,
      isRemote: options.isRemote ?? false,
    });
  };
}

/** Git reads the records of all worktrees, including one that another git process is writing at that moment. */
function isDisturbed({ code, stderr }: GitEnd): boolean {
  return code === 128 && /failed to read \S*worktrees\/\S*: Success/.test(stderr);
}

function either(a: AbortSignal | undefined, b: AbortSignal | undefined): AbortSignal | undefined {
  return a === undefined || b === undefined ? (a ?? b) : AbortSignal.any([a, b]);
}

/** The first version with `merge-tree --write-tree`. */
const oldest = [2, 38] as const;

async function checkVersion(program: string, env: Readonly<Record<string, string>>): Promise<void> {
  const { stdout } = await spawnGit({
    program,
    command: "version",
    args: ["version"],
    cwd: "/",
    env,
    input: undefined,
    inputFile: undefined,
    most: 1000,
    timeout: 30_000,
    signal: undefined,
  });
  const text = stdout.toString("utf8").trim();
  const [, major = 0, minor = 0] = /^git version (\d+)\.(\d+)/.exec(text)?.map(Number) ?? [];
  if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return;
  throw new Fault("git.too-old", `git must be ${oldest.join(".")} or newer; "${program}" says "${text}".`, {
    hint: "Install a newer git, and make sure that it comes first on the PATH of the daemon.",
  });
}

interface GitProcess {
  readonly program: string;
  /** The git command, for messages. */
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** A stream is piped to git. */
  readonly input: Uint8Array | Readable | undefined;
  /** A file that git reads instead of `input`. */
  readonly inputFile: string | undefined;
  /** Gets the output in chunks; then `stdout` stays empty. */
  readonly onOutput?: ((chunk: Buffer) => void) | undefined;
  /** Limit for the output, in bytes; beyond it git is stopped. */
  readonly most: number;
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
  /** The folders to search for a pipe once git is slow. */
  readonly mayWaitIn?: readonly string[];
}

export interface GitEnd {
  /** Git aborted on a failed assertion. */
  readonly hasGivenUp: boolean;
  /** Undefined if a signal ended git. */
  readonly code: number | undefined;
  readonly stdout: Buffer;
  /** The last part only. */
  readonly stderr: string;
  readonly isCut: boolean;
}

const mostErrors = 64 * 1024;
// On SIGTERM git removes its locks and half-written files, which takes it milliseconds. Then it gets SIGKILL.
const grace = 2_000;
/** After this time git may be waiting for a named pipe. The search for one is repeated after twice the time. */
const slowAfter = 2_000;

/** Runs git. Rejects only if git could not be started, took too long, waits for a pipe or was stopped. */
function spawnGit(order: GitProcess): Promise<GitEnd> {
  const { program, command, args, cwd, env, input, inputFile, onOutput, most, timeout, signal, mayWaitIn } = order;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(stopped(command));
    const source = inputFile === undefined ? "pipe" : openSync(inputFile, "r");
    // A process group of its own, so that git's children are stopped with it, and no terminal to ask for a password.
    let child: ChildProcess;
    try {
      child = spawnChild(program, [...args], { cwd, env: { ...env }, stdio: [source, "pipe", "pipe"], detached: true });
    } finally {
      if (typeof source === "number") closeSync(source);
    }
    const chunks: Buffer[] = [];
    let size = 0;
    let stderr = "";
    let isCut = false;
    let isLate = false;
    let hasEnded = false;
    let pipe: string | undefined;
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
    const searchAfter = (pause: number) =>
      timers.push(
        setTimeout(async () => {
          pipe = await findPipe(mayWaitIn ?? [], () => hasEnded);
          if (hasEnded) return;
          if (pipe !== undefined) stop();
          else searchAfter(pause * 2);
        }, pause),
      );
    if (mayWaitIn !== undefined) searchAfter(slowAfter);
    signal?.addEventListener("abort", stop);
    const clear = () => {
      hasEnded = true;
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
    // Git may end before it has read all input; its exit code says why.
    child.stdin?.on("error", () => {});
    if (!(input instanceof Readable)) child.stdin?.end(input);
    else if (child.stdin) input.pipe(child.stdin);
    child.on("error", (error) => {
      clear();
      reject(notStarted(program, cwd, error));
    });
    child.on("exit", () => {
      // A process that git left running may keep the pipes open; do not wait for it.
      timers.push(setTimeout(() => [child.stdout, child.stderr].map((stream) => stream?.destroy()), grace));
    });
    child.on("close", (code, endedBy) => {
      clear();
      if (signal?.aborted) reject(stopped(command));
      else if (isLate) reject(late(command, timeout));
      else if (pipe !== undefined && endedBy !== null) reject(blocked(pipe));
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
    // The process has ended meanwhile.
  }
}

function stopped(command: string): Fault {
  return new Fault("git.stopped", `"git ${command}" was stopped.`, {
    retry: "later",
    hint: "The daemon runs it again when the task continues.",
  });
}

function late(command: string, timeout: number): Fault {
  return new Fault("git.timeout", `"git ${command}" did not end within ${timeout / 1000} s and was stopped.`, {
    retry: "later",
    hint: "Check whether the disk or the remote is slow, or whether something in the folder cannot be read.",
  });
}

function notStarted(program: string, cwd: string, error: NodeJS.ErrnoException): Fault {
  if (error.code === "ENOENT" && !existsSync(cwd)) {
    return new Fault("git.not-a-repository", `There is no folder ${cwd}.`, {
      hint: "Find out where the repository is now, and update the project.",
      cause: error,
    });
  }
  const exhausted = exhaustedFault(program, error);
  if (exhausted !== undefined) return exhausted;
  return new Fault("git.missing", `"${program}" could not be started (${error.code ?? error.message}).`, {
    hint: "Install git 2.38 or newer, and make sure that it is on the PATH of the daemon.",
    cause: error,
  });
}
