import type { AgentsAtWork } from "./agents-at-work.ts";
import type { Places } from "./places.ts";
import { publishFile } from "./publish-file.ts";

export function writeAgentsAtWork({ agents }: Pick<Places, "agents">, at: AgentsAtWork): void {
  publishFile(agents, JSON.stringify(at), { mode: 0o600 });
}
