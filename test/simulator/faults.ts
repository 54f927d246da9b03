import { Fault } from "../../src/fault.ts";
import type { Daemon } from "./daemon.ts";
import { createLots, start, type World } from "./world.ts";

/** Injects planned faults into the daemon's calls of the outside. */
export interface FaultInjector {
  /** The number of calls of the outside, over the whole life. */
  calls(): number;
  /** Wraps a port with faults for the lifetime of one daemon. Methods in `plain` answer immediately, and never fail. */
  around<T extends object>(name: string, port: T, life: DaemonLife, plain?: readonly string[]): T;
}

/** One daemon, from its start to its death. */
export interface DaemonLife {
  isDead: boolean;
  die(why: string): void;
}

/** A new promise each time: a shared one would keep all its waiters in memory. */
const never = () => new Promise<never>(() => undefined);
/** Ten times more than any life needs; beyond this the daemon is looping. */
const maxCalls = 200_000;
const writes = /^(add|update|remove|create|save|delete|finish|fail|retry|put)/;

export function createFaultInjector(world: World, planned: readonly PlannedFault[]): FaultInjector {
  const byCall = new Map<number, PlannedFault>();
  for (const fault of planned)
    if (fault.kind === "crash" || fault.kind === "fail" || fault.kind === "slow") byCall.set(fault.call, fault);
  const strikes = planned.filter((each) => each.kind === "strike");
  const called = new Map<string, number>();
  /** The fault that is planned for this call. A call of a collection has two names: store.runs.put is also a store.put. */
  const faultOf = (what: string, port: string, method: string): PlannedFault | undefined => {
    const planned = byCall.get(++calls);
    if (strikes.length === 0) return planned;
    let fault = planned;
    for (const name of new Set([what, `${port}.${method}`])) {
      const number = (called.get(name) ?? 0) + 1;
      called.set(name, number);
      const strike = strikes.find((each) => each.what === name && each.number === number);
      if (strike !== undefined) fault = { kind: "crash", call: calls, when: strike.when };
    }
    return fault;
  };
  const sluggish = planned.find((each) => each.kind === "sluggish");
  const lots = world.lots("sluggish");
  let calls = 0;

  async function call(
    port: string,
    path: string,
    method: string,
    isWrite: boolean,
    life: DaemonLife,
    run: (...args: unknown[]) => unknown,
    args: unknown[],
  ): Promise<unknown> {
    if (life.isDead || calls >= maxCalls) return never();
    const what = `${path}.${method}`;
    const fault = faultOf(what, port, method);
    if (calls === maxCalls) world.violate("every life ends", `After ${maxCalls} calls the daemon was still busy.`);
    if (world.isDiskFull && isWrite) throw failureOf(port);
    if (port === "git" && sluggish !== undefined && !world.isCalm) {
      await new Promise<void>((done) => void world.clock.after(lots.between(0, sluggish.milliseconds), done));
      if (life.isDead) return never();
    }
    if (fault === undefined) {
      const result = await run(...args);
      // A dead daemon gets no answer.
      return life.isDead ? never() : result;
    }
    if (fault.kind === "slow") {
      world.note(`${what} takes ${fault.milliseconds} ms`);
      await new Promise<void>((done) => void world.clock.after(fault.milliseconds, done));
      if (life.isDead) return never();
      return run(...args);
    }
    if (fault.kind === "crash" && fault.when === "before") {
      life.die(`before ${what}`);
      return never();
    }
    // A transaction either succeeded or failed.
    const isBefore = port === "store" || ("when" in fault && fault.when === "before");
    if (fault.kind === "fail" && isBefore) {
      world.note(`${what} fails`);
      throw failureOf(port);
    }
    await run(...args);
    if (fault.kind === "crash") {
      life.die(`after ${what}`);
      return never();
    }
    world.note(`${what} fails after it was done`);
    throw failureOf(port);
  }

  const around = <T extends object>(
    name: string,
    port: T,
    life: DaemonLife,
    plain: readonly string[] = [],
    path = name,
  ): T => {
    const wrapped: Record<string, unknown> = Object.create(null);
    for (const key of Object.keys(port)) {
      const value: unknown = Reflect.get(port, key);
      if (typeof value === "function" && !plain.includes(key)) {
        const isWrite = name === "store" && writes.test(key);
        const run = value.bind(port);
        wrapped[key] = (...args: unknown[]) => call(name, path, key, isWrite, life, run, args);
      } else if (typeof value === "object" && value !== null && name === "store")
        wrapped[key] = around(name, value, life, [], `${name}.${key}`);
      else wrapped[key] = value;
    }
    return wrapped as T;
  };
  return { calls: () => calls, around: (name, port, life, plain) => around(name, port, life, plain) };
}

/** A planned fault. Faults are independent, so that a life can be repeated without some of them. */
export type PlannedFault =
  /** At the n-th call of the outside: before it has its effect, or after that but before its result arrives. */
  | { readonly kind: "crash" | "fail"; readonly call: number; readonly when: "before" | "after" }
  | { readonly kind: "slow"; readonly call: number; readonly milliseconds: number }
  /** The daemon dies at the n-th call of one method. */
  | { readonly kind: "strike"; readonly what: string; readonly number: number; readonly when: "before" | "after" }
  /** The n-th run that is started. */
  | { readonly kind: "run"; readonly number: number; readonly how: Misbehaviour }
  /** The n-th request over the API. `unanswered`: it is performed, but its answer is lost, and the caller asks again. */
  | { readonly kind: "request"; readonly number: number; readonly how: "lost" | "doubled" | "unanswered" }
  /** This many milliseconds after the beginning. */
  | { readonly kind: "event"; readonly at: number; readonly what: WorldEvent }
  /** The n-th run of tests fails, or agents commit during it. */
  | { readonly kind: "tests" | "meddling"; readonly number: number }
  /** Every call of git takes up to this long. */
  | { readonly kind: "sluggish"; readonly milliseconds: number }
  /** The person commits to the default branch repeatedly, at this interval in milliseconds. */
  | { readonly kind: "hurried"; readonly every: number }
  /** The disk is full from then on, for this long. */
  | { readonly kind: "full"; readonly at: number; readonly milliseconds: number };

/** The calls with which the children of a plan are made, moved, merged and ended; they are few among all calls. */
const struckInPlans = [
  ...["store.createTask", "store.saveDecision", "store.finishEffect", "store.put"],
  ...["git.moveRef", "git.mergeAll", "git.collect", "git.prepare"],
];

/** The calls between which a comment, a pull request, tests and a merge become known to the daemon. */
const struckInStages = [
  ...["forge.comment", "forge.openPullRequest", "forge.merge", "git.pushBranch", "git.publish", "commands.run"],
  ...["store.pullRequests.put", "store.addEvents", "store.saveDecision", "store.finishEffect", "store.runs.put"],
  ...["tickets.change", "processes.start", "git.commitAll", "git.placeDocument"],
];

/** short: tasks of one agent after the other. plans: parents with parts. stages: hand-overs, reviews by a panel, and a forge. */
export type LifeKind = "short" | "plans" | "stages";

/** The calls that change something, and about how often a life of one or two tasks makes each of them. */
const struckAnywhere = Object.entries({
  ...{ "store.createTask": 3, "store.saveDecision": 50, "store.finishEffect": 35, "store.failEffect": 4 },
  ...{ "store.addEvents": 30, "store.runs.put": 40, "store.merges.put": 20, "store.messages.put": 15 },
  ...{ "store.workspaces.put": 25, "store.credentials.put": 25, "store.calls.put": 20, "store.agents.put": 10 },
  ...{ "git.collect": 50, "git.mergeAll": 5, "git.moveRef": 6, "git.publish": 3, "git.park": 5 },
  ...{ "git.placeTaskFile": 30, "git.prepare": 12, "git.salvage": 15, "git.syncFrom": 30 },
  ...{ "terminal.open": 12, "terminal.close": 12, "terminal.closeSession": 8, "terminal.press": 6 },
  ...{ "processes.start": 12, "processes.sweep": 15, "tickets.change": 4, "commands.run": 6 },
});

export const misbehaviours = ["die", "hang", "nonsense", "forge", "greedy", "impostor", "busybody", "idle"] as const;
/**
 * hang: it does nothing any more. forge: it writes sections of other roles, again and again. greedy: it asks for
 * everything. impostor: it asks about another task. busybody: it keeps committing after its handoff. idle: its turn ends
 * without a result.
 */
export type Misbehaviour = (typeof misbehaviours)[number];

export const worldEvents = [
  ...(["forwards", "backwards", "kill", "terminal", "reboot"] as const),
  ...(["main", "changes", "doubled", "cancel"] as const),
] as const;
/**
 * forwards, backwards: the clock jumps. kill: a program is killed. terminal: the server of all windows dies. reboot: every
 * program dies without a record. main: the person commits to the default branch. changes: the person's changes block
 * a merge. doubled: the harness repeats all its reports. cancel: the person cancels a task. tree: the person cancels a
 * task with everything below it.
 */
export type WorldEvent = (typeof worldEvents)[number] | "tree";

/** Lives with plans are longer, and their person cancels more: single parts, and whole trees. */
const planEvents: readonly WorldEvent[] = [...worldEvents, "cancel", "tree"];

/** How long faults happen, in milliseconds; afterwards everything works. */
export const troubled = 4 * 60_000;
const [calls, callsWithPlans] = [1_200, 6_000];
const [maxFaults, maxFaultsWithPlans] = [9, 12];

export function planFaults(seed: number, kind: LifeKind = "short"): readonly PlannedFault[] {
  const lots = createLots(seed, "faults");
  const withPlans = kind !== "short";
  const [most, last, runs] = withPlans ? [maxFaultsWithPlans, callsWithPlans, 24] : [maxFaults, calls, 6];
  const events = kind === "plans" ? planEvents : worldEvents;
  const struck = kind === "plans" ? struckInPlans : struckInStages;
  const maxStruck = kind === "plans" ? 100 : 30;
  return Array.from({ length: lots.between(0, most) }, (): PlannedFault => {
    // Lives begin with the same calls and differ later, so small numbers are as likely as large ones.
    const call = Math.ceil(last ** (lots.between(300, 1000) / 1000));
    const when = lots.chance(0.5) ? "before" : "after";
    const at = lots.between(0, troubled);
    switch (lots.between(0, withPlans ? 16 : 12)) {
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
        return { kind: "run", number: lots.between(1, runs), how: lots.pick(misbehaviours) ?? "die" };
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
          : { kind: "event", at, what: lots.pick(events) ?? "kill" };
      case 11:
        return lots.chance(0.5)
          ? { kind: "sluggish", milliseconds: lots.between(20, 1_500) }
          : { kind: "hurried", every: lots.between(300, 4_000) };
      case 13:
      case 14:
      case 15:
      case 16: {
        const what = lots.pick(struck) ?? "store.createTask";
        return { kind: "strike", what, number: Math.ceil(maxStruck ** (lots.between(0, 1000) / 1000)), when };
      }
      default:
        return { kind: "event", at, what: lots.pick(events) ?? "kill" };
    }
  });
}

/**
 * All faults of a life. Half of the lives also have deaths at named calls; in some, an agent forges sections while the
 * agents after it write none. These are drawn apart from the other faults, so that those of a seed remain the same.
 */
export function planLife(seed: number, kind: LifeKind): readonly PlannedFault[] {
  const lots = createLots(seed, "strikes");
  const count = lots.chance(0.5) ? lots.between(1, 3) : 0;
  const strikes = Array.from({ length: count }, (): PlannedFault => {
    const [what, times] = lots.pick(struckAnywhere) ?? ["store.saveDecision", 50];
    const most = kind === "short" ? times : times * 4;
    const number = Math.ceil(most ** (lots.between(0, 1000) / 1000));
    return { kind: "strike", what, number, when: lots.chance(0.5) ? "before" : "after" };
  });
  // A forged verdict could count only where the reviewer gives none.
  const forger = lots.chance(0.05) ? lots.between(1, 2) : 0;
  const idle = [1, 2].map((after) => ({ kind: "run", number: forger + after, how: "idle" }) as const);
  const forgery = forger === 0 ? [] : [{ kind: "run", number: forger, how: "forge" } as const, ...idle];
  return [...planFaults(seed, kind), ...strikes, ...forgery];
}

export function describeFault(fault: PlannedFault): string {
  const { kind, ...rest } = fault;
  return `${kind} ${Object.values(rest).join(" ")}`;
}

/** The faults that ports throw, with the messages of the real adapters. */
export function failureOf(port: string): Error {
  switch (port) {
    case "store":
      return new Fault("store.full", "The store failed: disk full.", { retry: "later", hint: "Make space." });
    case "git":
      return new Fault("git.timeout", "Git did not answer.", { retry: "later" });
    case "forge":
      return new Fault("forge.unreachable", "The forge did not answer.", { retry: "later" });
    case "tickets":
      return new Fault("ticket.unwritable", "The ticket cannot be written.", { retry: "later" });
    case "terminal":
      return new Fault("terminal.failed", "tmux did not answer.", { retry: "later" });
    default:
      return new Error(`${port} failed.`);
  }
}

/** A life with more tasks than seats and workspaces. */
export interface Crowd {
  readonly tasks: number;
  readonly pool: number;
  /** `agents.most` and `agents.live`. */
  readonly seats: number;
  readonly live: number;
  /** When `agents.most` is raised, and to what; undefined if it does not change. */
  readonly raised: { readonly at: number; readonly seats: number } | undefined;
}

/** How long, in milliseconds, a seat may be free while a run waits for one: a program takes a while to start. */
const maxWait = 60_000;
const interval = 5_000;
/** Operations that run when the faults end have finished by then. */
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
 * Checks from outside that waiting runs get free seats, and that no more runs work than there are seats. It observes the
 * programs, not the daemon's records.
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
      told?.core.configured([]);
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
    if (freeSince !== undefined && now - freeSince > maxWait)
      world.violate(
        "nobody waits for a seat that is free",
        `${first} waits since ${((freeSince - start) / 1000).toFixed(0)}s, and ${atWork} of ${seats} work.`,
      );
  };
  look();
}
