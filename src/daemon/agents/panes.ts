import { sentence } from "../../engine/sentence.ts";
import { Fault } from "../../fault.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Pane, Terminal } from "../../ports/terminal.ts";
import { shownTime } from "./shown-time.ts";

/** What one look at all panes gave. `hasServer`: the terminal is there at all. */
export interface Seen {
  /** Which look it was: one that began before a run was there says nothing about it. */
  readonly number: number;
  readonly panes: ReadonlyMap<string, Pane>;
  readonly hasServer: boolean;
}

/** All panes as they were last seen, and whether the terminal answers. */
export interface Panes {
  readonly seen: Seen;
  /** How many looks have begun. */
  readonly looks: number;
  look(): Promise<void>;
  /** The same, where a terminal that does not answer is no reason to stop: what was last seen holds. Whether it answered. */
  tryToLook(): Promise<boolean>;
  /** Since when the terminal has not answered, and what to do; undefined where it does, or has not for a moment only. */
  trouble(): TerminalTrouble | undefined;
}

export interface TerminalTrouble {
  readonly reason: string;
  readonly fix: string;
}

/** How long the terminal may not answer before people are told, in milliseconds. */
const patience = 60_000;

export function createPanes(ports: {
  readonly terminal: Terminal;
  readonly clock: Clock;
  onError(error: unknown): void;
}): Panes {
  const { terminal, clock } = ports;
  let looks = 0;
  let seen: Seen = { number: 0, panes: new Map(), hasServer: false };
  let mute: { readonly since: number; readonly fault: Fault } | undefined;

  const list = async () => {
    const since = clock.now();
    try {
      const panes = await terminal.list();
      mute = undefined;
      return panes;
    } catch (error) {
      if (isOutOfReach(error)) mute = { since: Math.min(mute?.since ?? since, since), fault: error };
      throw error;
    }
  };
  const look = async () => {
    const number = ++looks;
    const panes = await list();
    if (number < seen.number) return;
    seen = { number, panes: new Map(panes.map((pane) => [pane.run, pane])), hasServer: panes.length > 0 };
  };
  return {
    get seen() {
      return seen;
    },
    get looks() {
      return looks;
    },
    look,
    async tryToLook() {
      try {
        await look();
        return true;
      } catch (error) {
        if (!isOutOfReach(error)) throw error;
        ports.onError(error);
        return false;
      }
    },
    trouble() {
      if (mute === undefined || clock.now() - mute.since < patience) return undefined;
      const { message, hint = "" } = mute.fault;
      const reason = `The terminal server has not answered since ${shownTime(mute.since)}: ${sentence(message)}`;
      return { reason, fix: hint };
    },
  };
}

/** The terminal server fails as a whole: the error says nothing about a single run. */
export function isOutOfReach(error: unknown): error is Fault {
  return error instanceof Fault && ["terminal.timeout", "terminal.unreachable", "terminal.failed"].includes(error.code);
}
