import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HarnessEvent, HarnessOrder, TurnEnd } from "../../src/ports/harness.ts";
import type { ProcessEnd } from "../../src/ports/processes.ts";
import { defaultTimeout, type Stage } from "./stage.ts";

export interface Turn extends TurnEnd {
  /** All events, including those at the end. */
  readonly all: readonly HarnessEvent[];
  readonly process: ProcessEnd;
  readonly output: string;
  readonly errors: string;
  /** The session's id, from the launch or from an event. */
  readonly session: string;
}

const timeLimit = defaultTimeout;
let turns = 0;

/** Runs a whole turn. */
export async function makeTurn(stage: Stage, change: Partial<HarnessOrder>): Promise<Turn> {
  const running = await startTurn(stage, change);
  const timer = setTimeout(() => running.kill("SIGKILL"), timeLimit);
  const end = await running.ended;
  clearTimeout(timer);
  return readTurn(stage, running, end);
}

export interface RunningTurn {
  readonly pid: number;
  readonly files: { readonly output: string; readonly errors: string };
  /** The session's id from the launch; may be empty. */
  readonly session: string;
  readonly ended: Promise<ProcessEnd>;
  kill(signal: NodeJS.Signals): void;
}

/** Starts a turn that prints to files, in its own process group, as the daemon's supervisors do. */
export async function startTurn(stage: Stage, change: Partial<HarnessOrder>): Promise<RunningTurn> {
  const order = stage.order({ mode: "turn", ...change });
  const { argv, env, input, session } = await stage.harness.prepare(order);
  const name = join(stage.root, `turn-${++turns}`);
  const files = { output: `${name}.out`, errors: `${name}.err` };
  writeFileSync(`${name}.in`, input);
  const stdio = [openSync(`${name}.in`, "r"), openSync(files.output, "w"), openSync(files.errors, "w")];
  const child = spawn(argv[0] ?? "", argv.slice(1), { cwd: order.folder, env: { ...env }, stdio, detached: true });
  for (const descriptor of stdio) closeSync(descriptor);
  return {
    pid: child.pid ?? 0,
    files,
    session,
    ended: endOf(child),
    kill: (signal) => killGroup(child.pid, signal),
  };
}

/** Reads the output files of a turn, in chunks of arbitrary length. */
export function readTurn(
  stage: Stage,
  { files, session }: Pick<RunningTurn, "files" | "session">,
  end: ProcessEnd,
): Turn {
  const reader = stage.harness.readOutput(stage.order({}));
  const output = readFileSync(files.output);
  const errors = readFileSync(files.errors, "utf8");
  const events: HarnessEvent[] = [];
  for (let at = 0; at < output.length; at += 1000) events.push(...reader.push(output.subarray(at, at + 1000)));
  const turn = reader.end(end, errors.slice(-4000));
  const all = [...events, ...turn.events];
  const told = all.flatMap((event) => (event.kind === "session" ? [event.id] : [])).at(-1);
  return { ...turn, all, process: end, output: output.toString("utf8"), errors, session: told ?? session };
}

/** A short summary of a turn, for messages. */
export function describeTurn({ text, error, process: end, errors, output }: Turn): string {
  return JSON.stringify({
    text,
    error,
    end: { code: end.code, signal: end.signal },
    errors: errors.slice(-600),
    output: output.slice(-600),
  });
}

function endOf(child: ChildProcess): Promise<ProcessEnd> {
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) =>
      resolve({
        kind: "ended",
        code: code ?? undefined,
        signal: signal ?? "",
        cause: "exit",
        reason: "",
        at: Date.now(),
      }),
    );
  });
}

export function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined && pid > 0) process.kill(-pid, signal);
  } catch {
    // The group has ended by itself.
  }
}

export function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
