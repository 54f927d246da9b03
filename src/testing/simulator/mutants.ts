import { foundByLives } from "./mutants/found-by-lives.ts";
import { foundByTests } from "./mutants/found-by-tests.ts";
import type { Mutant } from "./mutants/mutant.ts";

/** What the simulator, or a test, must be able to find. */
export const mutants: readonly Mutant[] = [...foundByLives, ...foundByTests];
