import { setTimeout as delay } from "node:timers/promises";
import type { HarnessError, HarnessEvent } from "../../ports/harness.ts";
import type { Circumstances } from "./choose-turn.ts";
import type { StepKind, StepValues } from "./script.ts";

/** What a turn can reach: its workspace, its task file, and whoever listens. */
export interface Scene {
  readonly folder: string;
  /** Empty where the run has none. */
  readonly taskFile: string;
  /** How our command line is called. */
  readonly cli: string;
  readonly env: Readonly<Record<string, string>>;
  readonly permissions: "full" | "reduced";
  /** Classes or names of steps; undefined for all. */
  readonly tools: readonly string[] | undefined;
  readonly testCommand: readonly string[];
  readonly model: string;
  /** Twice as fast at 2. */
  readonly speed: number;
  /** Fires when a person interrupts the turn. */
  readonly signal: AbortSignal;
  readonly at: Circumstances;
  /** What `{name}` stands for in the texts of the script. */
  readonly variables: Readonly<Record<string, string>>;
  tell(event: HarnessEvent): void;
  /** Shows what a program printed. */
  show(output: string): void;
  ask(about: string): Promise<boolean>;
  /** Puts bytes out as they are, past everything that keeps order. */
  print(bytes: Uint8Array): Promise<void>;
  increment(counter: string): void;
  /** The program ends by itself, now. */
  quit(code: number): Promise<never>;
}

/** What ends a turn early; undefined where it goes on. */
export type StepEnd = HarnessError | undefined;
export type StepPlayers = {
  readonly [Kind in StepKind]?: (value: StepValues[Kind], scene: Scene) => Promise<StepEnd> | StepEnd;
};

/** The longest that a timer can wait: a little more would be no time at all. */
const longest = 2 ** 31 - 1;

/** Waits, as fast as the scene goes. Fails when the turn is interrupted. */
export async function wait(milliseconds: number, { speed, signal }: Pick<Scene, "speed" | "signal">): Promise<void> {
  for (let left = milliseconds / speed; left > 0; left -= longest)
    await delay(Math.min(left, longest), undefined, { signal });
}
