import { routes } from "../../../src/api/routes.ts";
import type { Measured, Way } from "./way.ts";
import type { Column, World } from "./world.ts";

/** How long the daemon has to see what an attempt did, in milliseconds. */
const defaultSettle = 30;

/**
 * Tries ways one after the other in a task whose work is being reviewed, and compares after each what an agent must not
 * change. A task that a way has moved is replaced.
 */
export async function tryInReview(column: Column, ways: readonly Way[]): Promise<readonly Measured[]> {
  const measured: Measured[] = [];
  let world = await reviewed(column);
  for (const way of ways) {
    const result = await column.alone(async () => {
      const tried = await tryWay(world, way);
      if (tried.effect !== "") await repair(world, way);
      return tried;
    });
    measured.push(result);
    if (result.effect !== "" && (await isSpent(world))) {
      await world.end();
      world = await reviewed(column);
    }
  }
  // Nothing took effect later, and the word of the reviewer still decides.
  await world.judge("FAIL");
  await world.end();
  return measured;
}

async function reviewed(column: Column): Promise<World> {
  const world = await column.begin();
  await world.handOver();
  return world;
}

async function isSpent({ life }: World): Promise<boolean> {
  const reviewers = (await life.runs()).filter(({ role }) => role === "reviewer");
  return (await life.now()).status !== "agent-review" || reviewers.length > 1 || reviewers[0]?.endedAt !== null;
}

/** Undoes the effect of an attempt, for those after it. */
async function repair({ scenes, worker }: World, { undo }: Way): Promise<void> {
  if (undo !== undefined) await worker(undo);
  const { paused } = await scenes.call(routes.status, {});
  if (paused.all || paused.projects.length > 0) await scenes.call(routes.resume, { body: { all: true } });
}

export async function tryWay(world: World, way: Way): Promise<Measured> {
  if (way.prepare !== undefined) await world.worker(way.prepare);
  const before = await world.stand();
  const agent = way.by === "reviewer" ? world.reviewer : world.worker;
  const { code, output } = await agent(way.script);
  await new Promise((resolve) => setTimeout(resolve, way.settle ?? defaultSettle));
  const after = await world.stand();
  const changed = Object.keys(before).filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]));
  const achieved = await way.achieved?.(world);
  const effect = [...changed, ...(achieved === undefined ? [] : [achieved])].join(", ");
  const isTold = effect !== "" && (await (way.isTold?.(world) ?? world.isTold()));
  if (process.env.SELF_APPROVAL_TALK) console.log(`${way.name}: ${effect} (${code}) ${output.slice(0, 300)}`);
  return { way: way.name, outcome: effect === "" ? "holds" : isTold ? "noticed" : "open", effect };
}
