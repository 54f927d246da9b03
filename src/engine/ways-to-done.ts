import type { Workflow } from "./workflow.ts";

/**
 * The least number of ways from a state to one in which a task is done. It is the same for every workflow, whatever its states
 * are called, and says whose work is nearest to its end. A state from which no way leads there is farther than all others.
 */
export function waysToDone(workflow: Workflow, state: string): number {
  const distances = known.get(workflow) ?? distancesIn(workflow);
  known.set(workflow, distances);
  return distances.get(state) ?? Object.keys(workflow.states).length;
}

const known = new WeakMap<Workflow, ReadonlyMap<string, number>>();

function distancesIn({ states, ways }: Workflow): ReadonlyMap<string, number> {
  const ends = Object.values(states).filter(({ outcome }) => outcome === "done");
  const distances = new Map(ends.map(({ name }) => [name, 0]));
  // Breadth first, against the ways: names that are added to a map while it is gone through come last.
  // After failures a task is taken elsewhere: that is no way to go on.
  for (const [name, distance] of distances)
    for (const { from, to, implied } of ways)
      if (to === name && implied !== "escalation" && !distances.has(from)) distances.set(from, distance + 1);
  return distances;
}
