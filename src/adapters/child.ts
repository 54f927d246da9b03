import { spawn } from "node:child_process";
import { Fault } from "../fault.ts";

/**
 * Starts a program as Node's `spawn` does, but throws a Fault where the process has no file descriptor left. Node would return a
 * child without streams, whose first use throws before the caller listens to "error"; that event then ends the daemon.
 */
export const spawnChild = ((...order: Parameters<typeof spawn>) => {
  const child = spawn(...order);
  if ((child.stdio as unknown) !== undefined) return child;
  child.on("error", () => {});
  throw exhausted(String(order[0]), "EMFILE");
}) as typeof spawn;

/** The Fault for a program that could not be started because the machine lacks something for now; undefined for other errors. */
export function exhaustedFault(program: string, error: NodeJS.ErrnoException): Fault | undefined {
  const { code = "" } = error;
  return lacking.has(code) ? exhausted(program, code, error) : undefined;
}

const lacking = new Set(["EMFILE", "ENFILE", "EAGAIN", "ENOMEM"]);

function exhausted(program: string, code: string, cause?: unknown): Fault {
  return new Fault(
    "system.exhausted",
    `"${program}" could not be started: the machine has run out of something (${code}).`,
    {
      retry: "later",
      hint: "Signalbox retries. Check the limits of open files and processes (ulimit -n, ulimit -u), and the free memory.",
      cause,
    },
  );
}
