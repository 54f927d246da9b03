import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadWorkflow } from "../../src/engine/language/load.ts";
import { createRandom } from "../../src/engine/simulate/live.ts";
import type { Task } from "../../src/engine/task.ts";
import type { Workflow } from "../../src/engine/workflow.ts";
import type { PartialConfig } from "../../src/home/config-fields.ts";
import { packageRoot } from "../../src/home/places.ts";
import type { HarnessOrder } from "../../src/ports/harness.ts";
import type { Store } from "../../src/ports/store.ts";
import type { Clock } from "../../src/ports/system.ts";
import { createMemoryStore } from "../memory-store/memory-store.ts";
import { createScriptedTickets, type ScriptedTickets } from "../scripted-ports.ts";
import { createScriptedProcesses, type ScriptedProcesses } from "../scripted-processes.ts";
import { createScriptedTerminal, type ScriptedTerminal } from "../scripted-terminal.ts";
import { createMemoryTails, type MemoryTails } from "./memory-files.ts";
import type { MemoryForge } from "./memory-forge.ts";
import { createRepositories, type Repositories } from "./memory-repositories.ts";

/** The real author of a section: every simulated agent signs what it writes, also what it forges. */
export interface Handwriting {
  readonly task: string;
  readonly role: string;
  readonly run: string;
}

export function sign({ task, role, run }: Handwriting, number: number): string {
  return `(${number} by ${role} of ${task} in ${run})`;
}

export function authorOf(text: string): Handwriting | undefined {
  const [, role, task, run] = /\(\d+ by (\S+) of (\S+) in ([^)\s]+)\)/.exec(text) ?? [];
  return role === undefined || task === undefined || run === undefined ? undefined : { task, role, run };
}

/** Whether two values have the same JSON, including the order of keys, without serialising them. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [ours, theirs] = [Object.entries(one), Object.entries(other)];
  let at = 0;
  for (const [key, value] of ours) {
    // JSON omits undefined.
    if (value === undefined) continue;
    while (at < theirs.length && theirs[at]?.[1] === undefined) at++;
    const [name, present] = theirs[at++] ?? [];
    if (name !== key || !isSame(value, present)) return false;
  }
  return theirs.slice(at).every(([, value]) => value === undefined);
}

/** A random generator, deterministic for a seed. */
export interface Lots {
  /** True with this probability. */
  chance(probability: number): boolean;
  /** A whole number between both, inclusive. */
  between(min: number, max: number): number;
  pick<T>(from: readonly T[]): T | undefined;
}

/** Each subject has its own named generator, so that draws for one do not affect another. */
export function createLots(seed: number, name = ""): Lots {
  let mixed = seed >>> 0;
  for (const letter of name) mixed = (Math.imul(mixed ^ letter.charCodeAt(0), 0x01000193) + 0x9e3779b9) >>> 0;
  const random = createRandom(mixed);
  const between = (min: number, max: number) => min + Math.floor(random.next() * (max - min + 1));
  return {
    chance: (probability) => random.next() < probability,
    between,
    pick: (from) => from[between(0, from.length - 1)],
  };
}

export interface SimulatedWorkflow {
  readonly name: string;
  readonly workflow: Workflow;
  readonly text: string;
  /** The workflows of other tasks of the same life; missing if there are none. */
  readonly others?: readonly SimulatedWorkflow[];
}

/** The simulated built-in workflows; seeds alternate between them. */
export const simulated: readonly string[] = ["default", "classic", "minimal", "crew", "team", "pipeline"];

/** A life of `team` also has the parts of its plans, and ordinary tasks beside them. */
const companions: Readonly<Record<string, readonly string[]>> = { team: ["team-subtask", "default"] };

export function readSimulated(name: string): SimulatedWorkflow {
  const text = readFileSync(join(packageRoot(), "workflows", `${name}.yml`), "utf8");
  const { workflow, problems } = loadWorkflow(text, `${name}.yml`);
  if (workflow === undefined) throw new Error(`${name}.yml does not load: ${problems[0]?.message ?? ""}`);
  return { name, workflow, text, others: (companions[name] ?? []).map(readSimulated) };
}

/** A clock that advances only on demand. Timers for the same moment fire in the order in which they were set. */
export interface WorldClock extends Clock {
  /** Advances to the next timer and fires it; false if there is none. */
  step(): boolean;
  /** The time of the next timer. */
  next(): number | undefined;
}

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

export function createWorldClock(start: number): WorldClock {
  let now = start;
  let count = 0;
  const timers = new Set<Timer>();
  const first = () => {
    let found: Timer | undefined;
    for (const timer of timers) {
      if (found === undefined || timer.at < found.at || (timer.at === found.at && timer.order < found.order))
        found = timer;
    }
    return found;
  };
  return {
    now: () => now,
    after(milliseconds, run) {
      const timer = { at: now + Math.max(0, milliseconds), order: count++, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    next: () => first()?.at,
    step() {
      const timer = first();
      if (timer === undefined) return false;
      timers.delete(timer);
      now = timer.at;
      timer.run();
      return true;
    },
  };
}

/** The program of a run, as it really is, whatever the daemon believes. */
export interface Program {
  readonly name: string;
  readonly task: string;
  readonly role: string;
  readonly run: string;
  readonly order: HarnessOrder;
  isLive: boolean;
  /** It is working or hanging. */
  isBusy: boolean;
  /** It has worked through its prompt and reported a result that can be used. */
  hasAnswered: boolean;
  /** The messages of its conversation, its prompt first. */
  readonly heard: string[];
  /** The text that was typed into its window. */
  readonly told: string[];
  /** The stay in which it has said that its work is complete, with everything that its state asks for. */
  completed?: number;
}

/** Everything that outlives a daemon. */
export interface World {
  readonly seed: number;
  readonly workflow: Workflow;
  readonly text: string;
  /** The other workflows of the life. */
  readonly others: readonly SimulatedWorkflow[];
  workflowOf(task: Pick<Task, "workflow">): Workflow;
  readonly clock: WorldClock;
  /** The store itself; the daemon writes to it through the notary. */
  readonly store: Store;
  readonly repositories: Repositories;
  readonly terminal: ScriptedTerminal;
  readonly processes: ScriptedProcesses;
  readonly tails: MemoryTails;
  readonly tickets: ScriptedTickets;
  /** Undefined where the project has no forge. */
  forge: MemoryForge | undefined;
  /** How tests have really ended, by the commit that they ran on. */
  readonly tests: Map<string, Set<boolean>>;
  /** How many comments the forge has about each round of each task, and the rounds whose comment counts as made. */
  readonly commented: Map<string, number>;
  readonly rounds: Set<string>;
  /** By the name of the run's process. */
  readonly programs: Map<string, Program>;
  readonly orders: Map<string, HarnessOrder>;
  readonly violations: string[];
  readonly trace: string[];
  /** Contents and commits of agents, none of which may ever be lost. */
  readonly made: { readonly contents: Set<string>; readonly commits: Set<string> };
  /** How many tasks the person has created, and which of them have not ended. */
  readonly tasks: { made: number; readonly open: Set<string> };
  /** Tasks that the person has asked to cancel, and those of whole trees for which that was granted. */
  readonly cancelled: Set<string>;
  readonly trees: Set<string>;
  /** The user's configuration; replaced by a new object when it changes. */
  config: PartialConfig;
  /** The offset of the daemon's clock. */
  skew: number;
  isDiskFull: boolean;
  /** The faults are over. */
  isCalm: boolean;
  /** A counter for unique numbers. */
  next(): number;
  lots(name: string): Lots;
  note(line: string): void;
  violate(promise: string, what: string): void;
}

export const start = Date.UTC(2026, 0, 1);
export const mainBranch = "main";

export function createWorld(seed: number, { workflow, text, others = [] }: Omit<SimulatedWorkflow, "name">): World {
  const clock = createWorldClock(start);
  const trace: string[] = [];
  const violations: string[] = [];
  let count = 0;
  const note = (line: string) => void trace.push(`${((clock.now() - start) / 1000).toFixed(1)}s ${line}`);
  return {
    ...{ seed, workflow, text, others, clock, trace, violations, note },
    workflowOf: (task) => others.find(({ name }) => name === task.workflow)?.workflow ?? workflow,
    store: createMemoryStore(),
    repositories: createRepositories(mainBranch),
    terminal: createScriptedTerminal({ now: clock.now }),
    processes: createScriptedProcesses({ clock, play: () => [{ hang: true }] }),
    tails: createMemoryTails(),
    tickets: createScriptedTickets(),
    forge: undefined,
    tests: new Map(),
    commented: new Map(),
    rounds: new Set(),
    programs: new Map(),
    orders: new Map(),
    made: { contents: new Set(), commits: new Set() },
    tasks: { made: 0, open: new Set() },
    cancelled: new Set(),
    trees: new Set(),
    config: { testCommand: ["tests"], testMerges: true },
    skew: 0,
    isDiskFull: false,
    isCalm: false,
    next: () => ++count,
    lots: (name) => createLots(seed, name),
    violate(promise, what) {
      violations.push(`${promise}: ${what}`);
      note(`VIOLATION ${promise}: ${what}`);
    },
  };
}
