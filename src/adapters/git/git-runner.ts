import type { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { Fault } from "../../fault.ts";
import { type Configuration, gitEnvironment, gitFlags, type Protocol } from "./git-environment.ts";
import { gitFault } from "./git-fault.ts";
import { checkVersion } from "./git-version.ts";
import { type GitEnd, spawnGit } from "./spawn-git.ts";

/** Runs git, and throws a Fault where it ends with a code that is no answer. */
export type RunGit = (place: GitPlace, args: readonly string[], options?: RunOptions) => Promise<GitEnd>;

export interface GitPlace {
  /** Where git is started. */
  readonly folder: string;
  /** Undefined where git is to find it from the folder. */
  readonly gitDir?: string;
  readonly workTree?: string;
  readonly configuration: Configuration;
}

export interface RunOptions {
  /** Codes that are answers. */
  readonly accepts?: readonly number[];
  /** That git found a mistake of its own, and ended itself, is an answer too. */
  readonly mayGiveUp?: boolean;
  /** A stream is passed on as it comes. */
  readonly input?: Uint8Array | Readable;
  readonly inputFile?: string;
  /** Gets the output as it comes; then none is gathered. */
  readonly onOutput?: (chunk: Buffer) => void;
  /** Bytes of output. Beyond it the Fault is `git.too-much`, or the output `isCut`. */
  readonly most?: number;
  readonly cuts?: boolean;
  /** For what may take as long as the repository is large, or the network slow. */
  readonly isLong?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Goes on to its end also where the daemon stops. */
  readonly isUnstoppable?: boolean;
  readonly protocols?: readonly Protocol[];
  /** Whether somebody else's machine may have a say in it. */
  readonly isRemote?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether git may take locks only to be faster next time. */
  readonly writes?: boolean;
  readonly settings?: readonly string[];
  /** The repository that a refusal is about, where that is another one than git works in. */
  readonly about?: string;
}

export interface RunnerOptions {
  readonly program: string;
  /** Our own environment; git gets the little that it needs. */
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
      });
    let end = await start();
    for (let pause = 20; isDisturbed(end) && pause < 1_000; pause *= 2) {
      await setTimeout(pause);
      end = await start();
    }
    if (end.isCut) {
      if (cuts) return end;
      throw new Fault("git.too-much", `"git ${command}" prints more than ${most} bytes in ${folder}.`, {
        hint: "Look for files that do not belong into the repository.",
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

/** Git reads the records of all worktrees, also of one that another git has begun to write in that moment. */
function isDisturbed({ code, stderr }: GitEnd): boolean {
  return code === 128 && /failed to read \S*worktrees\/\S*: Success/.test(stderr);
}

function either(a: AbortSignal | undefined, b: AbortSignal | undefined): AbortSignal | undefined {
  return a === undefined || b === undefined ? (a ?? b) : AbortSignal.any([a, b]);
}
