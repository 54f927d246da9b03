import type { Daemon } from "./daemon.ts";
import { createLots } from "./lots.ts";
import { start, type World } from "./world.ts";

/** A life with more tasks than seats and workspaces. */
export interface Crowd {
  readonly tasks: number;
  readonly pool: number;
  /** `agents.most` and `agents.live`. */
  readonly seats: number;
  readonly live: number;
  /** When `agents.most` is raised, and to what; undefined where it stays as it is. */
  readonly raised: { readonly at: number; readonly seats: number } | undefined;
}

/** For so many milliseconds a seat may be free while somebody waits for one: a program takes a while to start. */
const patience = 60_000;
const interval = 5_000;
/** What is under way when the faults are over has ended by then. */
const settling = 120_000;

export function drawCrowd(seed: number): Crowd {
  const lots = createLots(seed, "crowd");
  const tasks = lots.between(4, 7);
  const seats = lots.between(1, 2);
  const isRaised = lots.chance(0.3);
  return {
    ...{ tasks, seats, pool: lots.between(1, tasks - 1), live: lots.between(0, 2) },
    raised: isRaised ? { at: lots.between(10_000, 200_000), seats: seats + lots.between(1, 2) } : undefined,
  };
}

/**
 * Looks from outside whether seats are given to those who wait for one, and to no more than there are. What counts is what
 * the programs really do, not what the daemon believes.
 */
export function watchSeats(world: World, crowd: Crowd, daemonNow: () => Daemon | undefined): void {
  let { seats } = crowd;
  let freeSince: number | undefined;
  const limit = () => {
    world.config = { ...world.config, agentsMost: seats, agentsLive: crowd.live };
  };
  limit();
  const { clock } = world;
  const wanting = () => {
    const daemon = daemonNow();
    return daemon?.core.agents?.dispatch.waiting().map(({ run }) => run) ?? [];
  };
  if (crowd.raised !== undefined) {
    const { at, seats: more } = crowd.raised;
    clock.after(at, () => {
      seats = more;
      limit();
      world.note(`agents.most is ${seats} now`);
      const told = daemonNow();
      told?.core.configured();
      clock.after(100, () => {
        const atWork = told?.core.agents?.dispatch.atWork() ?? 0;
        const [first] = told === daemonNow() ? wanting() : [];
        if (first !== undefined && atWork < seats)
          world.violate("a raised limit wakes the queue", `${first} waits, and ${atWork} of ${seats} seats are taken.`);
      });
    });
  }
  let calmSince: number | undefined;
  const look = () => {
    clock.after(interval, look);
    const now = clock.now();
    if (!world.isCalm || daemonNow() === undefined) return;
    calmSince ??= now;
    const atWork = [...world.programs.values()].filter(({ isLive, isBusy }) => isLive && isBusy).length;
    if (atWork > seats && now - calmSince > settling)
      world.violate("a seat is held by a run that works", `${atWork} work, and there are ${seats} seats.`);
    const [first] = wanting();
    if (first === undefined || atWork >= seats) freeSince = undefined;
    else freeSince ??= now;
    if (freeSince !== undefined && now - freeSince > patience)
      world.violate(
        "nobody waits for a seat that is free",
        `${first} waits since ${((freeSince - start) / 1000).toFixed(0)}s, and ${atWork} of ${seats} work.`,
      );
  };
  look();
}
