import { spawn } from "node:child_process";
import { Fault } from "../../fault.ts";
import type { Commands } from "../../ports/commands.ts";

// Enough to see what went wrong; a program that prints for hours must not fill the memory.
const mostOutput = 64 * 1024;
/** How long the output of a program that has ended may be held open by children that it left behind. */
const grace = 500;

export const spawnCommands: Commands = {
  run: ({ argv, cwd, env, timeout, signal, onOutput }) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(stopped(argv));
      const [program = "", ...rest] = argv;
      // A group of its own, so that the time limit reaches its children too.
      const child = spawn(program, rest, { cwd, env: { ...env }, stdio: ["ignore", "pipe", "pipe"], detached: true });
      let output = "";
      let timedOut = false;
      const take = (chunk: Buffer) => {
        output = (output + chunk.toString("utf8")).slice(-mostOutput);
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
      // A child that has left the group is not reached by any signal of ours, and could hold the output open for ever.
      const letGo = () => {
        stop();
        child.stdout.destroy();
        child.stderr.destroy();
      };
      // What has been printed already is read before anything that is immediate.
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
    // It ended by itself in the meantime.
  }
}

function stopped(argv: readonly string[]): Fault {
  return new Fault("command.stopped", `${argv.join(" ")} was stopped.`, { retry: "later" });
}

function notStarted(program: string, cwd: string, error: NodeJS.ErrnoException): Fault {
  const isMissing = error.code === "ENOENT";
  return new Fault(
    "command.not-started",
    `"${program}" could not be started in ${cwd} (${error.code ?? error.message}).`,
    {
      hint: isMissing
        ? "Check that the program is installed and the folder exists."
        : "Check that the program may be run.",
      cause: error,
    },
  );
}
