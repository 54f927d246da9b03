import { readFileSync } from "node:fs";
import { isAbsolute, relative } from "node:path";
import { publishFile } from "../durable-file.ts";
import type { Places } from "./places.ts";

/** Where agents work. The daemon writes it; the command line reads it before it uses the person's credential. */
interface AgentsAtWork {
  readonly folders: readonly string[];
  readonly pids: readonly number[];
}

/** Empty if the file does not exist: then no daemon has ever started an agent in this home. */
export function readAgentsAtWork({ agents }: Pick<Places, "agents">): AgentsAtWork {
  try {
    return JSON.parse(readFileSync(agents, "utf8")) as AgentsAtWork;
  } catch {
    return { folders: [], pids: [] };
  }
}

/** Whether `path` is `folder` or is inside it. */
export function contains(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith("../") && !isAbsolute(way);
}

export function writeAgentsAtWork({ agents }: Pick<Places, "agents">, at: AgentsAtWork): void {
  publishFile(agents, JSON.stringify(at), { mode: 0o600 });
}
