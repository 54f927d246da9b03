import { Fault } from "../../fault.ts";
import { createLots } from "./lots.ts";

/** Something that goes wrong in a life. Each is by itself, so that a life can be lived again without some of them. */
export type PlannedFault =
  /** At a call of something outside, counted over the whole life: before it does anything, or before it is known that it did. */
  | { readonly kind: "crash" | "fail"; readonly call: number; readonly when: "before" | "after" }
  | { readonly kind: "slow"; readonly call: number; readonly milliseconds: number }
  /** The run that is started as the n-th of all. */
  | { readonly kind: "run"; readonly number: number; readonly how: Misbehaviour }
  /** The n-th request over the API. `unanswered`: it is carried out, but who asked does not hear of it, and asks again. */
  | { readonly kind: "request"; readonly number: number; readonly how: "lost" | "doubled" | "unanswered" }
  /** So many milliseconds after the beginning. */
  | { readonly kind: "event"; readonly at: number; readonly what: WorldEvent }
  /** When tests are run for the n-th time they fail, or agents commit meanwhile. */
  | { readonly kind: "tests" | "meddling"; readonly number: number }
  /** Every call of git takes up to so long. */
  | { readonly kind: "sluggish"; readonly milliseconds: number }
  /** The person commits to the default branch again and again, so many milliseconds apart. */
  | { readonly kind: "hurried"; readonly every: number }
  /** The disk takes nothing from then on, for so long. */
  | { readonly kind: "full"; readonly at: number; readonly milliseconds: number };

export const misbehaviours = ["die", "hang", "nonsense", "forge", "greedy", "impostor", "busybody", "idle"] as const;
/**
 * hang: it does nothing any more. forge: it writes sections that are not its own. greedy: it asks for everything. impostor:
 * it asks about another task. busybody: it goes on committing after it has handed over. idle: its turn ends with nothing.
 */
export type Misbehaviour = (typeof misbehaviours)[number];

export const worldEvents = [
  ...(["forwards", "backwards", "kill", "terminal", "reboot"] as const),
  ...(["main", "changes", "doubled", "cancel"] as const),
] as const;
/**
 * forwards, backwards: the clock jumps. kill: a program is killed. terminal: the server of all windows dies. reboot: every
 * program dies and nobody notes it. main: the person commits to the default branch. changes: the person has changes in the way.
 * doubled: everybody is told again what was told already. cancel: the person cancels a task.
 */
export type WorldEvent = (typeof worldEvents)[number];

/** How long faults come, in milliseconds; afterwards everything works. */
export const troubled = 4 * 60_000;
const calls = 1_200;
const mostFaults = 9;

export function planFaults(seed: number): readonly PlannedFault[] {
  const lots = createLots(seed, "faults");
  return Array.from({ length: lots.between(0, mostFaults) }, (): PlannedFault => {
    // Lives begin with the same calls and differ later: small numbers are as likely as large ones.
    const call = Math.ceil(calls ** (lots.between(300, 1000) / 1000));
    const when = lots.chance(0.5) ? "before" : "after";
    const at = lots.between(0, troubled);
    switch (lots.between(0, 12)) {
      case 0:
      case 1:
      case 2:
        return { kind: "crash", call, when };
      case 3:
      case 4:
        return { kind: "fail", call, when };
      case 5:
        return { kind: "slow", call, milliseconds: lots.between(10, 40_000) };
      case 6:
      case 7:
        return { kind: "run", number: lots.between(1, 6), how: lots.pick(misbehaviours) ?? "die" };
      case 8:
        return {
          kind: "request",
          number: lots.between(1, 12),
          how: lots.pick(["lost", "doubled", "unanswered"]) ?? "lost",
        };
      case 9:
        return { kind: lots.chance(0.5) ? "tests" : "meddling", number: lots.between(1, 4) };
      case 10:
        return lots.chance(0.3)
          ? { kind: "full", at, milliseconds: lots.between(1_000, 90_000) }
          : { kind: "event", at, what: lots.pick(worldEvents) ?? "kill" };
      case 11:
        return lots.chance(0.5)
          ? { kind: "sluggish", milliseconds: lots.between(20, 1_500) }
          : { kind: "hurried", every: lots.between(300, 4_000) };
      default:
        return { kind: "event", at, what: lots.pick(worldEvents) ?? "kill" };
    }
  });
}

export function describeFault(fault: PlannedFault): string {
  const { kind, ...rest } = fault;
  return `${kind} ${Object.values(rest).join(" ")}`;
}

/** What a port throws when it fails, in the words of those that are real. */
export function failureOf(port: string): Error {
  switch (port) {
    case "store":
      return new Fault("store.full", "The store failed: disk full.", { retry: "later", hint: "Make space." });
    case "git":
      return new Fault("git.timeout", "Git did not answer.", { retry: "later" });
    case "tickets":
      return new Fault("ticket.unwritable", "The ticket cannot be written.", { retry: "later" });
    case "terminal":
      return new Fault("terminal.failed", "tmux did not answer.", { retry: "later" });
    default:
      return new Error(`${port} failed.`);
  }
}
