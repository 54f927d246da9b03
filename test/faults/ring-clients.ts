import { Refusal } from "../../src/api/client.ts";
import { routes } from "../../src/api/routes.ts";
import type { EventView } from "../../src/api/tasks.ts";
import type { Random } from "../../src/engine/simulate/live.ts";
import { Fault } from "../../src/fault.ts";
import { createAsk } from "./daemon.ts";
import { follow } from "./follow.ts";
import type { Home } from "./home.ts";
import { askedFrom } from "./ring.ts";
import type { Acknowledged } from "./ring-history.ts";

/** Clients that move tasks round the ring as fast as they are answered, and remember every answer. */
export interface Clients {
  /** By task. */
  readonly acknowledged: ReadonlyMap<string, readonly Acknowledged[]>;
  /** A daemon listens; the clients continue. */
  up(): void;
  /** The daemon was killed; the clients wait for the next one. */
  down(): void;
  /** Resolves after this many more answers. */
  answers(count: number): Promise<void>;
  /** Stops asking, and resolves when every task has settled. */
  stop(): Promise<void>;
}

export function startClients(home: Home, tasks: readonly string[], askersEach: number, random: Random): Clients {
  const ask = createAsk(home);
  const acknowledged = new Map(tasks.map((task) => [task, [] as Acknowledged[]]));
  /** The last reported revision of each task, and the last one at which it had settled. */
  const heard = new Map<string, { latest: number; settled: number }>(
    tasks.map((task) => [task, { latest: 0, settled: 0 }]),
  );
  const waiting = new Set<() => void>();
  const tell = () => {
    for (const look of [...waiting]) look();
  };
  let isUp = false;
  let isOver = false;
  let count = 0;
  let last = 0;
  let hangUp = () => {};

  /** Resolves when the condition holds, or when the daemon goes away. */
  const until = (holds: () => boolean, alsoDown = false) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!holds() && (isUp || alsoDown)) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  const hear = ({ position, task, type, revision }: EventView) => {
    last = position;
    const { latest, settled } = heard.get(task) ?? { latest: 0, settled: 0 };
    heard.set(task, {
      latest: Math.max(latest, revision),
      settled: type === "task.settled" ? Math.max(settled, revision) : settled,
    });
    tell();
  };

  const oneRound = async (task: string) => {
    const params = { task };
    const { task: now } = await ask(routes.getTask, { params });
    const to = askedFrom[now.status];
    if (to === undefined) return until(() => (heard.get(task)?.latest ?? 0) > now.revision);
    const { from, task: after } = await ask(routes.moveTask, { params, body: { to } });
    acknowledged.get(task)?.push({ revision: after.revision, from, to });
    count++;
    tell();
    // Usually the client waits for the hooks; sometimes it asks before they have ended.
    if (random.next() < 0.7) await until(() => (heard.get(task)?.settled ?? 0) >= after.revision);
  };
  const work = async (task: string) => {
    while (!isOver) {
      await until(() => isUp || isOver, true);
      await oneRound(task).catch(forgive);
    }
  };
  const rest = async (task: string) => {
    for (;;) {
      const { task: now, effects } = await ask(routes.getTask, { params: { task } });
      const isDone = now.phase === "waiting" && effects.every(({ state }) => state !== "owed");
      if (isDone || now.held !== null) return;
      await until(() => (heard.get(task)?.latest ?? 0) > now.revision);
      if (!isUp) throw new Error("The daemon went away.");
    }
  };

  const working = Promise.all(tasks.flatMap((task) => Array.from({ length: askersEach }, () => work(task))));
  return {
    acknowledged,
    up() {
      isUp = true;
      hangUp = follow(home, { after: String(last) }, hear, () => {});
      tell();
    },
    down() {
      isUp = false;
      hangUp();
      tell();
    },
    answers(more) {
      const wanted = count + more;
      return until(() => count >= wanted, true);
    },
    async stop() {
      isOver = true;
      tell();
      await working;
      await Promise.all(tasks.map(rest));
    },
  };
}

/** Expected failures: another client was faster, or the daemon was killed. */
function forgive(error: unknown): void {
  const { code } = error as NodeJS.ErrnoException;
  const isGone = ["ECONNREFUSED", "ENOENT", "daemon.gone"].includes(code ?? "");
  if (!(error instanceof Refusal) && !isGone)
    throw error instanceof Fault ? new Error(`${code}: ${error.message}`) : error;
}
