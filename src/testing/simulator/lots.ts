import { createRandom } from "../../engine/simulate/random.ts";

/** Draws by lot, the same for the same seed. */
export interface Lots {
  /** Whether something that happens this often happens now. */
  chance(probability: number): boolean;
  /** A whole number from the first up to the second, both included. */
  between(least: number, most: number): number;
  pick<T>(from: readonly T[]): T | undefined;
}

/** What is drawn about one thing must not depend on how often was drawn about another: each gets a name of its own. */
export function createLots(seed: number, name = ""): Lots {
  let mixed = seed >>> 0;
  for (const letter of name) mixed = (Math.imul(mixed ^ letter.charCodeAt(0), 0x01000193) + 0x9e3779b9) >>> 0;
  const random = createRandom(mixed);
  const between = (least: number, most: number) => least + Math.floor(random.next() * (most - least + 1));
  return {
    chance: (probability) => random.next() < probability,
    between,
    pick: (from) => from[between(0, from.length - 1)],
  };
}
