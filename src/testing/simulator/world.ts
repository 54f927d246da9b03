import { createMemoryStore } from "../../adapters/store/memory.ts";
import type { Workflow } from "../../engine/workflow.ts";
import type { PartialConfig } from "../../home/config-fields.ts";
import type { HarnessOrder } from "../../ports/harness.ts";
import type { Store } from "../../ports/store.ts";
import { createScriptedProcesses, type ScriptedProcesses } from "../scripted-processes.ts";
import { createScriptedTerminal, type ScriptedTerminal } from "../scripted-terminal.ts";
import { createScriptedTickets, type ScriptedTickets } from "../scripted-tickets.ts";
import { createLots, type Lots } from "./lots.ts";
import { createMemoryTails, type MemoryTails } from "./memory-tails.ts";
import { createRepositories, type Repositories } from "./repositories.ts";
import { createWorldClock, type WorldClock } from "./world-clock.ts";

/** The program of a run, as it really is, whatever anybody believes about it. */
export interface Program {
  readonly name: string;
  readonly task: string;
  readonly role: string;
  readonly run: string;
  readonly order: HarnessOrder;
  isLive: boolean;
  /** It works at something, or hangs at it. */
  isBusy: boolean;
  /** What came into its conversation, its prompt first. */
  readonly heard: string[];
  /** What was typed into its window. */
  readonly told: string[];
}

/** Everything that outlives a daemon. */
export interface World {
  readonly seed: number;
  readonly workflow: Workflow;
  readonly text: string;
  readonly clock: WorldClock;
  /** The store itself: what the daemon writes comes here by way of the notary. */
  readonly store: Store;
  readonly repositories: Repositories;
  readonly terminal: ScriptedTerminal;
  readonly processes: ScriptedProcesses;
  readonly tails: MemoryTails;
  readonly tickets: ScriptedTickets;
  /** By the name of the run's process. */
  readonly programs: Map<string, Program>;
  readonly orders: Map<string, HarnessOrder>;
  readonly violations: string[];
  readonly trace: string[];
  /** Contents and commits that agents have made: none of them may ever be lost. */
  readonly made: { readonly contents: Set<string>; readonly commits: Set<string> };
  /** How many tasks were created, and which of them are not over. */
  readonly tasks: { made: number; readonly open: Set<string> };
  /** What the user configures; another object whenever it is something else. */
  config: PartialConfig;
  /** How far the daemon's clock is off. */
  skew: number;
  isDiskFull: boolean;
  /** The faults are over. */
  isCalm: boolean;
  /** Numbers that are never given twice. */
  next(): number;
  lots(name: string): Lots;
  note(line: string): void;
  violate(promise: string, what: string): void;
}

export const start = Date.UTC(2026, 0, 1);
export const mainBranch = "main";

export function createWorld(seed: number, workflow: Workflow, text: string): World {
  const clock = createWorldClock(start);
  const trace: string[] = [];
  const violations: string[] = [];
  let count = 0;
  const note = (line: string) => void trace.push(`${((clock.now() - start) / 1000).toFixed(1)}s ${line}`);
  return {
    ...{ seed, workflow, text, clock, trace, violations, note },
    store: createMemoryStore(),
    repositories: createRepositories(mainBranch),
    terminal: createScriptedTerminal({ now: clock.now }),
    processes: createScriptedProcesses({ clock, play: () => [{ hang: true }] }),
    tails: createMemoryTails(),
    tickets: createScriptedTickets(),
    programs: new Map(),
    orders: new Map(),
    made: { contents: new Set(), commits: new Set() },
    tasks: { made: 0, open: new Set() },
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
