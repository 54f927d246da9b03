import { Fault } from "../src/fault.ts";
import type { ProcessEnd, Processes, ProcessIdentity, ProcessOrder } from "../src/ports/processes.ts";
import type { Clock } from "../src/ports/system.ts";

/** The steps of a scripted program; after the last it exits with 0. */
export type ScriptedStep =
  | { readonly print: string; readonly on?: "output" | "errors" }
  /** Prints its input. */
  | { readonly echo: true }
  /** From now on it ignores SIGTERM. */
  | { readonly ignore: true }
  /** Milliseconds. */
  | { readonly wait: number }
  /** Never continues. */
  | { readonly hang: true }
  | { readonly exit: number }
  | { readonly signal: string };

export interface ScriptedProcesses extends Processes {
  /** The started programs, in order. */
  readonly started: readonly ProcessOrder[];
  /** Makes a running program print something. */
  print(id: string, text: string, on?: "output" | "errors"): void;
  /** Ends a running program: by itself with a code, or by a signal from outside. */
  end(id: string, how: { readonly code: number } | { readonly signal: string }): void;
  /** As if program and supervisor had died without a record. */
  lose(id: string): void;
}

interface Program {
  readonly order: ProcessOrder;
  readonly identity: ProcessIdentity;
  readonly startedAt: number;
  readonly printed: { output: Uint8Array; errors: Uint8Array };
  ignores: boolean;
  end: ProcessEnd | "lost" | undefined;
  stop: readonly (() => void)[];
}

/** Scripted programs in memory. `play` returns the steps of an order; undefined: there is no such program. */
export function createScriptedProcesses({
  clock,
  play,
}: {
  readonly clock: Clock;
  readonly play: (order: ProcessOrder) => readonly ScriptedStep[] | undefined;
}): ScriptedProcesses {
  const programs = new Map<string, Program>();
  const started: ProcessOrder[] = [];
  const listeners = new Set<(id: string) => void>();

  const tell = (id: string) => {
    for (const listener of listeners) listener(id);
  };
  const finish = (program: Program, end: Partial<ProcessEnd> | "lost") => {
    if (program.end !== undefined) return;
    for (const stop of program.stop) stop();
    const how = { kind: "ended", code: undefined, signal: "", cause: "exit", reason: "", at: clock.now() } as const;
    program.end = end === "lost" ? end : { ...how, ...end };
    tell(program.order.id);
  };
  const print = (program: Program, text: string, on: "output" | "errors") => {
    const { output, errors } = program.printed;
    const room = program.order.outputLimit - output.length - errors.length;
    const bytes = Buffer.from(text);
    program.printed[on] = Buffer.concat([program.printed[on], bytes.subarray(0, room)]);
    tell(program.order.id);
    if (bytes.length > room) finish(program, { signal: "SIGKILL", cause: "output" });
  };
  const signalFor = (program: Program) => (program.ignores ? "SIGKILL" : "SIGTERM");
  const run = (program: Program, steps: readonly ScriptedStep[]) => {
    for (const [at, step] of steps.entries()) {
      if (program.end !== undefined || "hang" in step) return;
      if ("print" in step) print(program, step.print, step.on ?? "output");
      if ("echo" in step) print(program, program.order.input, "output");
      if ("ignore" in step) program.ignores = true;
      if ("exit" in step) finish(program, { code: step.exit });
      if ("signal" in step) finish(program, { signal: step.signal });
      if (!("wait" in step)) continue;
      const stop = clock.after(step.wait, () => run(program, steps.slice(at + 1)));
      program.stop = [...program.stop, stop];
      return;
    }
    finish(program, { code: 0 });
  };
  const running = (id: string) => {
    const program = programs.get(id);
    if (program === undefined || program.end !== undefined) throw new Error(`No program "${id}" is running.`);
    return program;
  };

  return {
    started,
    async start(order) {
      checkId(order.id);
      if (programs.has(order.id)) return;
      const pid = 1_000 + programs.size;
      const program: Program = {
        order,
        identity: { boot: "scripted", pid, start: String(clock.now()) },
        startedAt: clock.now(),
        printed: { output: new Uint8Array(), errors: new Uint8Array() },
        ignores: false,
        end: undefined,
        stop: [],
      };
      programs.set(order.id, program);
      started.push(order);
      const steps = play(order);
      const reason = `"${order.argv[0]}" could not be started: there is no such program. Install it.`;
      if (steps === undefined) return finish(program, { cause: "start", reason });
      const late = () => finish(program, { signal: signalFor(program), cause: "time" });
      program.stop = [clock.after(order.timeLimit, late)];
      run(program, steps);
    },
    async look(id) {
      checkId(id);
      const program = programs.get(id);
      if (program === undefined) return { kind: "absent" };
      if (program.end === "lost") return { kind: "lost" };
      return program.end ?? { kind: "running", identity: program.identity, startedAt: program.startedAt };
    },
    async kill(id) {
      checkId(id);
      const program = programs.get(id);
      if (program !== undefined) finish(program, { signal: signalFor(program), cause: "killed" });
    },
    // Programs in memory have neither children nor an environment.
    sweep: async () => false,
    sweepFolder: async () => {},
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async read(id, channel, from, limit) {
      checkId(id);
      return (programs.get(id)?.printed[channel] ?? new Uint8Array()).subarray(from, from + limit);
    },
    print: (id, text, on = "output") => print(running(id), text, on),
    end: (id, how) => finish(running(id), how),
    lose: (id) => finish(running(id), "lost"),
  };
}

function checkId(id: string): void {
  if (/^[a-z0-9-]+$/.test(id)) return;
  throw new Fault("processes.bad-id", `"${id}" is not a valid run id: it may contain only a-z, 0-9 and "-".`);
}
