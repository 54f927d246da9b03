import { join, resolve } from "node:path";
import type { AgentName } from "../find-agents.ts";

/** A file by which agents learn the skill, and the agents that read it there. */
export interface SkillPlace {
  /** Absolute. */
  readonly file: string;
  readonly agents: readonly AgentName[];
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Where these agents look for skills: in a repository, or else in the user's home. `.agents` is common to all but Claude
 * Code, so that each of them finds the skill once.
 */
export function skillPlaces(agents: readonly AgentName[], root: { home: string; env: Env } | { repository: string }) {
  const places = new Map<string, AgentName[]>();
  for (const agent of agents) {
    const file = join(folderOf(agent, root), "signalbox", "SKILL.md");
    places.set(file, [...(places.get(file) ?? []), agent]);
  }
  return [...places].map(([file, readers]): SkillPlace => ({ file, agents: readers }));
}

function folderOf(agent: AgentName, root: { home: string; env: Env } | { repository: string }): string {
  if ("repository" in root) return resolve(root.repository, agent === "claude" ? ".claude" : ".agents", "skills");
  const { home, env } = root;
  if (agent === "claude") return resolve(env.CLAUDE_CONFIG_DIR || join(home, ".claude"), "skills");
  return resolve((agent === "gemini" && env.GEMINI_CLI_HOME) || home, ".agents", "skills");
}
