import { readFileSync } from "node:fs";
import { isAbsolute, relative } from "node:path";
import type { Places } from "./places.ts";

/** Where agents work: written by the daemon, read by a command line before it speaks for a person. */
export interface AgentsAtWork {
  readonly folders: readonly string[];
  readonly pids: readonly number[];
}

/** Nobody where there is no such file: then no daemon has ever started an agent here. */
export function readAgentsAtWork({ agents }: Pick<Places, "agents">): AgentsAtWork {
  try {
    return JSON.parse(readFileSync(agents, "utf8")) as AgentsAtWork;
  } catch {
    return { folders: [], pids: [] };
  }
}

/** Whether a path is a folder or lies in it. */
export function contains(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith("../") && !isAbsolute(way);
}
