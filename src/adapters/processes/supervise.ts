import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, openSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProcessEnd, ProcessIdentity, ProcessOrder } from "../../ports/processes.ts";
import { endFamily, sleep } from "./end-family.ts";
import { identifyChild, markEntry, markVariable, systemProcessTable } from "./process-table.ts";
import type { Supervision } from "./processes.ts";
import { inputFile, killFile, newsOf, type OrderRecord, orderFile, type Printed } from "./run-records.ts";

/**
 * Starts the program of a claimed run. Resolves when the program has ended, its end is recorded, and no process that it
 * left behind is alive: such a process could print for ever, and the limit would not be enforced.
 */
export async function supervise(run: Supervision): Promise<void> {
  const { folder, order, printed } = run;
  const news = newsOf(folder);
  touch(news);
  const program = await startProgram(run);
  if (program.kind === "failed") {
    await note(run, { code: undefined, signal: "", cause: "start", reason: program.reason });
    return rmSync(news, { force: true });
  }
  touch(news);
  let broken: "time" | "output" | "gone" | undefined;
  let hasExited = false;
  let ended: Promise<unknown> = Promise.resolve();
  const family = { head: program.identity, entries: [markEntry(order.mark)], keepsGroup: true };
  const table = systemProcessTable();
  // A process that cannot be ended, because it now belongs to another user, is ignored.
  const end = (grace: number) => endFamily(table, family, grace).catch(() => {});
  const stop = keepLimits(order, printed, {
    onGrowth: () => touch(news),
    onBroken(limit) {
      broken ??= limit;
      // A program that exceeds its output limit gets no grace.
      if (limit !== "time" && !hasExited) program.kill();
      ended = Promise.all([ended, end(limit === "time" ? order.grace : 0)]);
    },
  });
  const { code, signal } = await program.exit;
  hasExited = true;
  await ended;
  const isOver = printed.size() > order.outputLimit;
  if (isOver) printed.trim(order.outputLimit);
  await note(run, { code, signal, cause: causeOf(folder, isOver ? "output" : broken), reason: "" });
  rmSync(news, { force: true });
  await end(order.grace);
  await ended;
  stop();
  printed.trim(order.outputLimit);
}

function causeOf(folder: string, broken: "time" | "output" | "gone" | undefined): ProcessEnd["cause"] {
  if (existsSync(join(folder, killFile))) return "killed";
  return broken === "time" || broken === "output" ? broken : "exit";
}

/** Retries until the record is written: its space is reserved, but a disk can fail temporarily in other ways. */
async function note({ folder, printed, end }: Supervision, how: Omit<ProcessEnd, "kind" | "at">): Promise<void> {
  const at = Date.now();
  for (;;) {
    try {
      printed.sync();
      end.publish({ kind: "ended", ...how, at });
      return;
    } catch {
      if (!existsSync(folder)) return;
      await sleep(1_000);
    }
  }
}

/** Notifies watchers. Errors are ignored: watchers also poll. */
function touch(news: string): void {
  const now = new Date();
  try {
    utimesSync(news, now, now);
  } catch {
    try {
      writeFileSync(news, "", { mode: 0o600 });
    } catch {}
  }
}

/**
 * How often the output's size is polled, in milliseconds: often while the program prints, so that a flood is stopped
 * early, and ever less often while it is silent, so that a hundred silent programs cost almost nothing. After a long
 * silence a flood can last a second. A file watcher would use up one of the few that the system allows each user.
 */
const busyInterval = 20;
const idleInterval = 1_000;
const slowing = 1.1;

interface LimitListener {
  onGrowth(): void;
  /** Called once for each limit. `gone`: the files were deleted, so the run's end can no longer be recorded. */
  onBroken(limit: "time" | "output" | "gone"): void;
}

/** Enforces a program's limits. Returns a function that stops the watch. */
function keepLimits(
  { timeLimit, outputLimit }: Pick<OrderRecord, "timeLimit" | "outputLimit">,
  printed: Printed,
  listener: LimitListener,
): () => void {
  const began = performance.now();
  let size = 0;
  let pace = busyInterval;
  let isLate = false;
  let timer: NodeJS.Timeout;
  const look = () => {
    const before = size;
    size = printed.size();
    if (size !== before) listener.onGrowth();
    if (size > outputLimit) return listener.onBroken("output");
    if (printed.isGone()) return listener.onBroken("gone");
    pace = size === before ? Math.min(idleInterval, pace * slowing) : busyInterval;
    if (!isLate && left() <= 0) {
      isLate = true;
      listener.onBroken("time");
    }
    wait();
  };
  const left = () => timeLimit - (performance.now() - began);
  const wait = () => {
    timer = setTimeout(look, isLate ? pace : Math.max(1, Math.min(pace, left())));
  };
  wait();
  return () => clearTimeout(timer);
}

type StartedProgram =
  | { readonly kind: "failed"; readonly reason: string }
  | {
      readonly kind: "started";
      readonly identity: ProcessIdentity;
      readonly exit: Promise<{ readonly code: number | undefined; readonly signal: string }>;
      /** Kills its whole group immediately. */
      kill(): void;
    };

/** Starts the program and records its identity. */
export async function startProgram(run: Omit<Supervision, "end">): Promise<StartedProgram> {
  const { folder, order } = run;
  try {
    const child = spawnProgram(run);
    const { pid } = child;
    if (pid === undefined) return { kind: "failed", reason: startReason(order, await errorOf(child)) };
    const exit = exitOf(child);
    const kill = () => killGroup(pid);
    // Synchronously after the start: the child is not reaped yet, even if it is dead already.
    const identity = identifyChild(pid);
    const problem = record(run, identity);
    if (problem !== undefined) {
      // An unrecorded program must not keep running.
      kill();
      await exit;
      return {
        kind: "failed",
        reason: `"${order.argv[0]}" was stopped immediately: its start could not be recorded (${problem}).`,
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
  // A file, not a pipe: a program that never reads it blocks no writer.
  const descriptor = openSync(existsSync(input) ? input : "/dev/null", "r");
  try {
    return spawn(program, rest, {
      cwd: order.cwd,
      env: { ...order.env, [markVariable]: order.mark },
      stdio: [descriptor, ...printed.descriptors],
      // In its own session and process group.
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
    // A signal could not be sent; the exit event says whether the program lives.
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

/** The reason why a program could not be started, for people. */
function startReason({ argv, cwd }: Pick<ProcessOrder, "argv" | "cwd">, error: NodeJS.ErrnoException): string {
  const program = JSON.stringify((argv[0] ?? "").slice(0, 200));
  const folder = statSync(cwd, { throwIfNoEntry: false });
  const place = JSON.stringify(cwd.slice(0, 200));
  if (folder === undefined) return `${program} could not be started: there is no folder ${place}.`;
  if (!folder.isDirectory()) return `${program} could not be started: ${place} is not a folder.`;
  if (error.code === "ENOENT") return `${program} could not be started: there is no such program. Install it.`;
  if (error.code === "EACCES")
    return `${program} could not be started: it is not executable, or its folder ${place} cannot be entered. Check the permissions of both.`;
  if (error.code === "E2BIG")
    return `${program} could not be started: its arguments and its environment are too long. Shorten the prompt.`;
  return `${program} could not be started (${(error.code ?? error.message).slice(0, 200)}).`;
}
