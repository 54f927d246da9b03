import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ProcessIdentity } from "../../ports/processes.ts";
import { markVariable } from "./process-mark.ts";
import { inputFile, orderFile } from "./run-records.ts";
import { startReason } from "./start-reason.ts";
import type { Supervision } from "./supervision.ts";
import { identifyChild } from "./system-process-table.ts";

export type StartedProgram =
  | { readonly kind: "failed"; readonly reason: string }
  | {
      readonly kind: "started";
      readonly identity: ProcessIdentity;
      readonly exit: Promise<{ readonly code: number | undefined; readonly signal: string }>;
      /** Its whole group, at once. */
      kill(): void;
    };

/** Starts the program and records who it is. */
export async function startProgram(run: Omit<Supervision, "end">): Promise<StartedProgram> {
  const { folder, order } = run;
  try {
    const child = spawnProgram(run);
    const { pid } = child;
    if (pid === undefined) return { kind: "failed", reason: startReason(order, await errorOf(child)) };
    const exit = exitOf(child);
    const kill = () => killGroup(pid);
    // Without a pause since the start: nobody has buried it yet, even if it is dead already.
    const identity = identifyChild(pid);
    const problem = record(run, identity);
    if (problem !== undefined) {
      // A program that nobody knows of must not go on.
      kill();
      await exit;
      return {
        kind: "failed",
        reason: `"${order.argv[0]}" was stopped at once: it could not be recorded (${problem}).`,
      };
    }
    return { kind: "started", identity, exit, kill };
  } catch (error) {
    return { kind: "failed", reason: startReason(order, error as NodeJS.ErrnoException) };
  } finally {
    rmSync(join(folder, orderFile), { force: true });
  }
}

function spawnProgram({ folder, order, printed }: Omit<Supervision, "end">): ChildProcess {
  const [program = "", ...rest] = order.argv;
  const input = join(folder, inputFile);
  // A file, not a pipe: whoever never reads it holds nobody up.
  const descriptor = openSync(existsSync(input) ? input : "/dev/null", "r");
  try {
    return spawn(program, rest, {
      cwd: order.cwd,
      env: { ...order.env, [markVariable]: order.mark },
      stdio: [descriptor, ...printed.descriptors],
      // A session and a group of its own.
      detached: true,
    });
  } finally {
    closeSync(descriptor);
  }
}

function record({ claim, record }: Omit<Supervision, "end">, identity: ProcessIdentity): string | undefined {
  try {
    record.publish({ ...claim, identity, at: Date.now() });
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

function errorOf(child: ChildProcess): Promise<NodeJS.ErrnoException> {
  return new Promise((resolve) => child.once("error", resolve));
}

function exitOf(child: ChildProcess): Promise<{ code: number | undefined; signal: string }> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve({ code: code ?? undefined, signal: signal ?? "" }));
    // A signal that could not be sent; whether it lives is seen otherwise.
    child.on("error", () => {});
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
