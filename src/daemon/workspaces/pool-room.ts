import { Fault } from "../../fault.ts";
import type { Clock } from "../../ports/clock.ts";

/** Lets tasks wait until their project's pool may have room. */
export interface PoolRoom {
  /** Resolves when it is worth asking again: a workspace was given back, the waiting task has changed, or time has passed. */
  wait(project: string, task: string): Promise<void>;
  /** A workspace of the project was given back, or its pool has changed. */
  freed(project: string): void;
  /** The task has changed: it may not want a workspace any more. */
  changed(task: string): void;
  /** Whether the task waits for a workspace. */
  waits(task: string): boolean;
  /** Nobody waits any longer: what is waited for is acquired after the next start. */
  stop(): void;
}

/** For what nobody tells us, such as another process that wrote to the store. */
const pollInterval = 10_000;

interface Waiter {
  readonly project: string;
  readonly task: string;
  readonly resolve: () => void;
  readonly reject: (error: Fault) => void;
}

export function createPoolRoom(clock: Clock): PoolRoom {
  const waiters = new Set<Waiter>();
  let isStopped = false;
  const wakeIf = (isMeant: (waiter: Waiter) => boolean) => {
    for (const waiter of [...waiters]) if (isMeant(waiter)) waiter.resolve();
  };
  return {
    wait: (project, task) =>
      new Promise((resolve, reject) => {
        if (isStopped) return reject(stopping());
        const cancel = clock.after(pollInterval, () => waiter.resolve());
        const ending =
          <T extends unknown[]>(end: (...args: T) => void) =>
          (...args: T) => {
            cancel();
            waiters.delete(waiter);
            end(...args);
          };
        const waiter: Waiter = { project, task, resolve: ending(resolve), reject: ending(reject) };
        waiters.add(waiter);
      }),
    freed: (project) => wakeIf((waiter) => waiter.project === project),
    changed: (task) => wakeIf((waiter) => waiter.task === task),
    waits: (task) => [...waiters].some((waiter) => waiter.task === task),
    stop() {
      isStopped = true;
      for (const waiter of [...waiters]) waiter.reject(stopping());
    },
  };
}

function stopping(): Fault {
  return new Fault("daemon.stopping", "The daemon stops.", { retry: "later" });
}
