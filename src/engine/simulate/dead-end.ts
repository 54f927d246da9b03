import { outcomesOf } from "../explore/choices.ts";
import { createPositions } from "../explore/position.ts";
import type { World } from "../explore/world.ts";
import type { Workflow } from "../workflow.ts";
import { possibleRequests } from "./requests.ts";

// A task that can do more than this is not called wedged.
const maxPositions = 1_000;

/** Whether nothing that can happen to a task leads it to an end, although something can happen. */
export function isDeadEnd(workflow: Workflow, world: World): boolean {
  const { preset, settings } = world.task;
  const positions = createPositions(workflow, preset, settings);
  const variant = JSON.stringify([preset, settings]);
  const keyOf = (each: World) => `${variant} ${positions.key(each)}`;
  const known = knownDeadEnds.get(workflow) ?? new Map<string, boolean>();
  knownDeadEnds.set(workflow, known);
  const start = keyOf(world);
  const before = known.get(start);
  if (before !== undefined) return before;
  const seen = new Set([start]);
  const queue = [positions.small(world)];
  const canEnd = () => {
    for (const here of queue) {
      for (const step of possibleRequests(workflow, here)) {
        for (const { taken } of outcomesOf(workflow, here, step)) {
          if (taken.world.task.phase === "over") return true;
          const key = keyOf(taken.world);
          if (known.get(key) === false) return true;
          if (seen.has(key)) continue;
          if (seen.size === maxPositions) return true;
          seen.add(key);
          queue.push(positions.small(taken.world));
        }
      }
    }
    return false;
  };
  const isDead = !canEnd();
  // From a dead end, every position that can be reached is one.
  for (const key of isDead ? seen : [start]) known.set(key, isDead);
  return isDead;
}

const knownDeadEnds = new WeakMap<Workflow, Map<string, boolean>>();
