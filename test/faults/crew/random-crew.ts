import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { checkPromises } from "../../../scripts/check-promises.ts";
import { Refusal } from "../../../src/api/client.ts";
import { routes } from "../../../src/api/routes.ts";
import { createRandom } from "../../../src/engine/simulate/live.ts";
import { exportText } from "../exported-task.ts";
import { invariantProblems } from "./eight-invariants.ts";
import { openCrew } from "./interrupted-crew.ts";

export interface RandomCrew {
  readonly seed: number;
  /** How often the daemon is killed before it ends. */
  readonly kills: number;
}

const script = `roles:
  worker:
    - { when: { prompt: "Slow", turn: 1 }, steps: [{ append: { file: "{id}.txt", text: one } }, { commit: Begin }, { think: 1s }] }
    - { when: { prompt: "Fall", counter: { falls: 0 } }, steps: [{ count: falls }, { write: { file: "{id}.txt", text: half } }, { crash: SIGKILL }] }
    - { steps: [{ append: { file: "{id}.txt", text: more } }, { commit: Work }, marker] }
`;
const titles = ["Slow cup", "Fall of a cup", "Cup", "Cup of more"];
const maxAgents = 4;

/**
 * Performs random operations of people and crews, kills the daemon at random moments and points, and checks the eight
 * invariants after each. At the end all tickets that were not withdrawn must be closed, and every promise kept. Returns a
 * description of the operations.
 */
export async function liveAtRandom({ seed, kills }: RandomCrew): Promise<readonly string[]> {
  const random = createRandom(seed);
  const draw = (below: number) => Math.floor(random.next() * below);
  const crew = openCrew(script);
  const { ask } = crew;
  const done: string[] = [];
  const given = new Set<string>();
  const params = (agent: string) => ({ project: "coffee", agent });
  const oneThat = async (is: readonly string[]) => {
    const fit = (await crew.ps()).filter(({ status }) => is.includes(status));
    return fit[draw(fit.length)];
  };
  const operations = {
    async spawn() {
      if ((await crew.ps()).length < maxAgents) await ask(routes.addAgents, { body: { project: "coffee", count: 1 } });
    },
    async assign() {
      const slot = await oneThat(["idle"]);
      const ticket = `c-${given.size + 1}`;
      crew.writeTicket(ticket, titles[draw(titles.length)] ?? "");
      // The agent has the ticket even if the daemon died before it answered; a free ticket is given out by the crew.
      given.add(ticket);
      if (slot !== undefined) await ask(routes.giveTicket, { params: params(slot.name), body: { ticket } });
    },
    step: () => sleep(draw(500)),
    complete: () => sleep(500 + draw(1_500)),
    async restartAgent() {
      const slot = await oneThat(["working"]);
      if (slot !== undefined) await ask(routes.restartSlot, { params: params(slot.name), body: {} });
    },
    async restart() {
      await crew.stop();
      await crew.start();
    },
    /** At a random moment; the next kill may hit the start. */
    async kill() {
      await crew.kill();
      await crew.start();
      if (draw(3) === 0) await operations.kill();
    },
    /** Before or after one of the daemon's next operations. */
    async die() {
      crew.dieAt({ what: "", when: draw(2) === 0 ? "before" : "after", at: 1 + draw(120) });
      await operations.assign().catch(forgive);
      if (await crew.died(6_000)) await crew.start();
      else if (!crew.mayLive()) await crew.start();
    },
  };
  const lots = [
    "spawn",
    "assign",
    "assign",
    "step",
    "complete",
    "restartAgent",
    "restart",
    "kill",
    "die",
    "die",
    "die",
  ] as const;
  try {
    await crew.start();
    await crew.begin(2);
    while (crew.kills() < kills) {
      const lot = lots[draw(lots.length)] ?? "step";
      done.push(lot);
      await operations[lot]().catch(forgive);
      if (!crew.mayLive()) await crew.start();
      expect([done, await invariantProblems(crew)]).toEqual([done, []]);
    }
    await crew.wake(maxAgents);
    const left = () => [...given].filter((id) => !crew.isClosed(id));
    await expect.poll(left, { timeout: 120_000, interval: 200 }).toEqual([]);
    const idle = async () => (await crew.ps()).every(({ status }) => status === "idle");
    await expect.poll(idle, { timeout: 60_000, interval: 200 }).toBe(true);
    expect(await invariantProblems(crew)).toEqual([]);
    expect([...checkPromises(await exportAll())].filter(([, problems]) => problems.length > 0)).toEqual([]);
    return done;
  } catch (error) {
    const now = await crew.describe().catch(String);
    throw new Error(`Seed ${seed}: ${done.join(", ")}\n${now.slice(0, 20_000)}`, { cause: error });
  } finally {
    await crew.close();
  }

  async function exportAll() {
    const histories = join(crew.home.base, "histories");
    mkdirSync(histories);
    const { tasks } = await ask(routes.listTasks, { query: { limit: "1000" } });
    for (const { id } of tasks) writeFileSync(join(histories, `${id}.jsonl`), await exportText(crew.home, id));
    return { histories, repository: crew.repository, control: join(crew.home.places.control, "coffee.git") };
  }
}

/** Expected failures: the operation is refused now, or the daemon died before it answered. */
function forgive(error: unknown): void {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  if (!(error instanceof Refusal) && !["ECONNREFUSED", "ENOENT", "ECONNRESET", "daemon.gone"].includes(code))
    throw error;
}
