import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { createRandom } from "../../src/engine/simulate/live.ts";
import { createAsk, type Daemon, killDaemons, spawnDaemon, startDaemon } from "./daemon.ts";
import { readExport } from "./exported-task.ts";
import { createHome } from "./home.ts";
import { linesOf, ringWorkflow } from "./ring.ts";
import { startClients } from "./ring-clients.ts";
import { problemsOf } from "./ring-history.ts";

export interface Killing {
  readonly seed: number;
  readonly kills: number;
  readonly tasks: number;
  /** How many clients ask for the same task in parallel. */
  readonly askersEach: number;
}

/** Keeps a daemon busy, kills it repeatedly, and checks the tasks. */
export async function killBusyDaemons({ seed, kills, tasks, askersEach }: Killing): Promise<void> {
  const random = createRandom(seed);
  const draw = (below: number) => Math.floor(random.next() * below);
  const home = createHome(ringWorkflow);
  try {
    let daemon: Daemon = await startDaemon(home);
    const ask = createAsk(home);
    await ask(routes.addProject, { body: { name: "coffee", path: home.repository, workflow: "ring" } });
    const created = await Promise.all(
      Array.from({ length: tasks }, (_, i) => ask(routes.createTask, { body: { project: "coffee", summary: `${i}` } })),
    );
    const ids = created.map(({ task }) => task.id);
    const clients = startClients(home, ids, askersEach, createRandom(seed + 1));
    clients.up();
    for (let kill = 0; kill < kills; kill++) {
      const kind = draw(10);
      // While it recovers, or while it works.
      if (kind > 1) await clients.answers(1 + draw(20));
      await sleep(draw(12));
      await daemon.kill();
      clients.down();
      // While it starts.
      if (kind === 0) {
        daemon = spawnDaemon(home);
        await sleep(draw(300));
        await daemon.kill();
      }
      daemon = await startDaemon(home);
      clients.up();
    }
    await clients.stop();
    expect(await ask(routes.check)).toEqual({ damage: [], stuck: [], branches: [], unsaved: [] });
    const problems = await Promise.all(
      ids.map(async (id) =>
        problemsOf(await readExport(home, id), clients.acknowledged.get(id) ?? [], linesOf(home.base, id)),
      ),
    );
    expect(problems.flat()).toEqual([]);
    const answers = [...clients.acknowledged.values()].reduce((sum, each) => sum + each.length, 0);
    expect(answers).toBeGreaterThan(kills);
  } finally {
    await killDaemons();
    home.remove();
  }
}
