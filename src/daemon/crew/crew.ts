import type { CrewOrder } from "./crew-state.ts";

/** Gives ready tickets to idle agents. What becomes of them then is their workflow's business. */
export interface CrewRunner {
  start(project: string, order: CrewOrder): void;
  stop(project: string): void;
  /** Undefined where it does not run for that project. */
  of(project: string): CrewOrder | undefined;
  /** Why tickets could not be given out when it last tried; the key is empty where that holds for all of them. */
  problems(project: string): ReadonlyMap<string, string>;
  /** An agent may be idle now, or a ticket ready. */
  wake(): void;
  /** After a start: finds out which tasks were being made for whom, and goes on. */
  recover(): Promise<void>;
  close(): Promise<void>;
}
