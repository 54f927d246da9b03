import { failureOf, type PlannedFault } from "./faults.ts";
import type { World } from "./world.ts";

/** Lets planned faults happen at the calls of a daemon to what is outside of it. */
export interface FaultInjector {
  /** How often something outside was called, over the whole life. */
  calls(): number;
  /** Puts faults around a port for one life of the daemon. Methods named in `plain` answer at once, and never fail. */
  around<T extends object>(name: string, port: T, life: DaemonLife, plain?: readonly string[]): T;
}

/** One daemon, from its start to its death. */
export interface DaemonLife {
  isDead: boolean;
  die(why: string): void;
}

/** A new one each time: whoever waits for one that lasts would be kept with it. */
const never = () => new Promise<never>(() => undefined);
/** No life takes a tenth as many calls: a daemon that does never comes to rest. */
const mostCalls = 200_000;
const writes = /^(add|update|remove|create|save|delete|finish|fail|retry|put)/;

export function createFaultInjector(world: World, planned: readonly PlannedFault[]): FaultInjector {
  const byCall = new Map<number, PlannedFault>();
  for (const fault of planned)
    if (fault.kind === "crash" || fault.kind === "fail" || fault.kind === "slow") byCall.set(fault.call, fault);
  const sluggish = planned.find((each) => each.kind === "sluggish");
  const lots = world.lots("sluggish");
  let calls = 0;

  async function call(
    port: string,
    method: string,
    isWrite: boolean,
    life: DaemonLife,
    run: (...args: unknown[]) => unknown,
    args: unknown[],
  ): Promise<unknown> {
    if (life.isDead || calls >= mostCalls) return never();
    const fault = byCall.get(++calls);
    if (calls === mostCalls) world.violate("every life ends", `After ${mostCalls} calls the daemon was still busy.`);
    if (world.isDiskFull && isWrite) throw failureOf(port);
    if (port === "git" && sluggish !== undefined && !world.isCalm) {
      await new Promise<void>((done) => void world.clock.after(lots.between(0, sluggish.milliseconds), done));
      if (life.isDead) return never();
    }
    if (fault === undefined) {
      const result = await run(...args);
      // Nobody hears what was answered after his death.
      return life.isDead ? never() : result;
    }
    const what = `${port}.${method}`;
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
    // A transaction has happened, or it has failed: nothing is in between.
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

  const around = <T extends object>(name: string, port: T, life: DaemonLife, plain: readonly string[] = []): T => {
    const wrapped: Record<string, unknown> = Object.create(null);
    for (const key of Object.keys(port)) {
      const value: unknown = Reflect.get(port, key);
      if (typeof value === "function" && !plain.includes(key)) {
        const isWrite = name === "store" && writes.test(key);
        const run = value.bind(port);
        wrapped[key] = (...args: unknown[]) => call(name, key, isWrite, life, run, args);
      } else if (typeof value === "object" && value !== null && name === "store")
        wrapped[key] = around(name, value, life);
      else wrapped[key] = value;
    }
    return wrapped as T;
  };
  return { calls: () => calls, around };
}
