import { randomBytes, randomInt } from "node:crypto";
import { Fault } from "../fault.ts";
import type { Clock, Commands, Ids } from "../ports/system.ts";
import { exhaustedFault, spawnChild } from "./child.ts";

// Node's timers are limited to 31 bits of milliseconds; for later times the timer is set again.
const maxDelay = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, run) {
    let timer: NodeJS.Timeout;
    const wait = (rest: number) => {
      timer = setTimeout(
        () => (rest > maxDelay ? wait(rest - maxDelay) : run()),
        Math.max(0, Math.min(rest, maxDelay)),
      );
    };
    wait(milliseconds);
    return () => clearTimeout(timer);
  },
};

// Enough to see an error; a program that prints for hours must not fill the memory.
const maxOutput = 64 * 1024;
/** How long children of an ended program may hold its output open. */
const grace = 500;

export const spawnCommands: Commands = {
  run: ({ argv, cwd, env, timeout, signal, onOutput }) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(stopped(argv));
      const [program = "", ...rest] = argv;
      // In its own process group, so that the time limit applies to its children too.
      const stdio = ["ignore", "pipe", "pipe"] as const;
      const child = spawnChild(program, rest, { cwd, env: { ...env }, stdio: [...stdio], detached: true });
      let output = "";
      let timedOut = false;
      const take = (chunk: Buffer) => {
        output = (output + chunk.toString("utf8")).slice(-maxOutput);
        onOutput?.(chunk);
      };
      child.stdout.on("data", take);
      child.stderr.on("data", take);
      const stop = () => killGroup(child.pid);
      signal?.addEventListener("abort", stop);
      const timer = setTimeout(() => {
        timedOut = true;
        killGroup(child.pid);
      }, timeout);
      child.on("error", (error: NodeJS.ErrnoException) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", stop);
        reject(notStarted(program, cwd, error));
      });
      let release: NodeJS.Timeout | undefined;
      // Signals do not reach a child that has left the group, and it could hold the output open for ever.
      const letGo = () => {
        stop();
        child.stdout.destroy();
        child.stderr.destroy();
      };
      // Output that is already in the pipe is read before an immediate runs.
      child.on("exit", () => {
        release = setTimeout(() => setImmediate(letGo), grace);
      });
      child.on("close", (code) => {
        clearTimeout(timer);
        clearTimeout(release);
        signal?.removeEventListener("abort", stop);
        if (signal?.aborted) reject(stopped(argv));
        else resolve({ code: code ?? undefined, timedOut, output });
      });
    }),
};

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The program has ended by itself.
  }
}

function stopped(argv: readonly string[]): Fault {
  return new Fault("command.stopped", `${argv.join(" ")} was stopped.`, { retry: "later" });
}

function notStarted(program: string, cwd: string, error: NodeJS.ErrnoException): Fault {
  const exhausted = exhaustedFault(program, error);
  if (exhausted !== undefined) return exhausted;
  const isMissing = error.code === "ENOENT";
  return new Fault(
    "command.not-started",
    `"${program}" could not be started in ${cwd} (${error.code ?? error.message}).`,
    {
      hint: isMissing
        ? "Check that the program is installed and the folder exists."
        : "Check that the program is executable.",
      cause: error,
    },
  );
}

// Without vowels, so that no id is a word, and without letters that are easily misread.
const letters = "bcdfghjkmnpqrstvwxz";
const all = `${letters}23456789`;

export const randomIds: Ids = {
  task: () => pick(letters) + Array.from({ length: 4 }, () => pick(all)).join(""),
  secret: () => randomBytes(24).toString("hex"),
};

function pick(from: string): string {
  return from[randomInt(from.length)] ?? "";
}
