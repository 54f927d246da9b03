import { readFileSync } from "node:fs";
import { publishFile } from "../../home/publish-file.ts";

/** How the tickets of a project are given to its agents. */
export interface CrewOrder {
  /** How many tickets may be worked on at once. */
  readonly most: number;
  readonly workflow: string;
}

/** For which projects tickets are given out. It outlives the daemon. */
export interface CrewState {
  list(): ReadonlyMap<string, CrewOrder>;
  /** Undefined: none any more. */
  set(project: string, order: CrewOrder | undefined): void;
}

export function openCrewState(file: string): CrewState {
  const state = new Map(read(file));
  return {
    list: () => state,
    set(project, order) {
      if (order === undefined) state.delete(project);
      else state.set(project, order);
      publishFile(file, `${JSON.stringify(Object.fromEntries(state))}\n`, { mode: 0o600 });
    },
  };
}

function read(file: string): readonly (readonly [string, CrewOrder])[] {
  try {
    const stored = JSON.parse(readFileSync(file, "utf8")) as Record<string, Partial<CrewOrder>>;
    return Object.entries(stored).flatMap(([project, { most, workflow }]) =>
      typeof most === "number" && typeof workflow === "string" ? [[project, { most, workflow }]] : [],
    );
  } catch {
    return [];
  }
}
