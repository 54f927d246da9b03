import { afterAll, beforeAll, expect, test } from "vitest";
import { invariantProblems } from "../faults/crew/eight-invariants.ts";
import { type InterruptedCrew, oneCommit, openCrew } from "../faults/crew/interrupted-crew.ts";
import { killsOf } from "../kill-plan.ts";
import { mergedTickets } from "../merged-tickets.ts";

// Like test/faults/crew-interrupts.test.ts, at every point: the daemon dies before or after each of its operations for a ticket.

const kills = killsOf("points", "long");
/** To repeat a failure. */
const first = Number(process.env.SIGNALBOX_SEED ?? 0);

let crew: InterruptedCrew;
let tickets = 0;
beforeAll(async () => {
  crew = openCrew(oneCommit);
  await crew.start();
  await crew.begin(1);
});
afterAll(() => crew.close());

test(`a ticket is done once, whichever of ${kills} points the daemon dies at`, async () => {
  // The first ticket creates the workspace, which the others reuse.
  await work();
  crew.forgetPoints();
  await work();
  const points = crew.points().length;
  expect(points).toBeGreaterThan(100);
  let done = 0;
  for (let round = first; done < kills && round < 4 * points; round++) {
    const when = (round + Math.floor(round / points)) % 2 === 0 ? "before" : "after";
    crew.forgetPoints();
    crew.dieAt({ what: "", when, at: 1 + (round % points) });
    const id = write();
    await crew.wake(1).catch(() => undefined);
    // Runs differ a little: the last points of one may be missing in another.
    const died = await crew.died(15_000);
    const point = crew.points().at(died ? -1 : 0);
    if (died) await crew.start();
    else expect(crew.mayLive()).toBe(true);
    if (died) done++;
    await finish(id).catch(async (error) => {
      throw new Error(`Round ${round}, ${when} ${point}\n${await crew.describe().catch(String)}`, { cause: error });
    });
  }
  expect(crew.kills()).toBeGreaterThanOrEqual(kills);
});

function write(): string {
  const id = `c-${++tickets}`;
  crew.writeTicket(id, `Brew ${id}`);
  return id;
}

async function work(): Promise<void> {
  const id = write();
  await crew.wake(1);
  await finish(id);
}

async function finish(id: string): Promise<void> {
  await expect.poll(() => crew.isClosed(id), { timeout: 60_000, interval: 20 }).toBe(true);
  await expect.poll(async () => (await crew.ps())[0]?.status, { timeout: 60_000, interval: 20 }).toBe("idle");
  expect([id, await invariantProblems(crew)]).toEqual([id, []]);
  const merged = crew.git(...mergedTickets, "main");
  expect(merged.split("\n").filter((each) => each === id)).toEqual([id]);
  expect(crew.readTicket(id).match(/^Done by/gm)).toHaveLength(1);
  expect(crew.leftBeside()).toEqual([]);
}
