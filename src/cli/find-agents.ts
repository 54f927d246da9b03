import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The programs that agents run in and that people have in their terminals, by their names as harnesses. */
export const agentTitles = {
  claude: "Claude Code",
  codex: "Codex",
  gemini: "Gemini CLI",
  opencode: "OpenCode",
} as const;

export type AgentName = keyof typeof agentTitles;

export const agentNames = Object.keys(agentTitles) as readonly AgentName[];

/** Those of them that can be called. */
export function findAgents(path: string): readonly AgentName[] {
  return agentNames.filter((name) => isOnPath(name, path));
}

export function isOnPath(name: string, path: string): boolean {
  return path.split(delimiter).some((folder) => isProgram(join(folder, name)));
}

export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
