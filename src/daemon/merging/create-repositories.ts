import type { Places } from "../../home/places.ts";
import type { Repositories } from "../core.ts";
import type { LandPorts } from "./land.ts";
import { createMerging, type MergingPorts } from "./merging.ts";
import type { Predictions } from "./predict-conflicts.ts";

/** How merges are tested and published. */
export type Landing = Pick<LandPorts, "pushes" | "test">;

export interface RepositoriesPorts extends Omit<MergingPorts, "landingOf"> {
  readonly predictions: Predictions;
  readonly places: Places;
  readonly signal: AbortSignal;
  readonly landing: Partial<Landing>;
}

/** Puts together what is done with projects' repositories. */
export function createRepositories({ places, landing: given, ...rest }: RepositoriesPorts): Repositories {
  const { signal } = rest;
  const landing = { workspaces: places.workspaces, signal, pushes: true, test: undefined, ...given };
  const ports = { ...rest, landingOf: async () => landing };
  return { ...ports, merging: createMerging(ports) };
}
