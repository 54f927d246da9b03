import { listed } from "./count.ts";
import { type Check, type Finding, ok, warning } from "./doctor-finding.ts";
import { type AgentName, agentNames, agentTitles } from "./find-agents.ts";
import { putSkill } from "./skill/change-skill.ts";
import { type SkillPlace, skillPlaces } from "./skill/skill-places.ts";
import { readSkill, skillState, skillText } from "./skill/skill-text.ts";

export interface SkillRoots {
  /** The user's own home, in which agents have their files. */
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The repository that the user is in. */
  readonly repository: string | undefined;
}

/** The skill by which agents in the user's terminal hand work to us: whether it fits this version. */
export function skillCheck({ home, env, repository }: SkillRoots): Check {
  return {
    name: "skill",
    look: () => {
      const ofUser = skillPlaces(agentNames, { home, env }).map((place) => look(place, "signalbox install"));
      const ofProject = repository === undefined ? [] : skillPlaces(agentNames, { repository });
      const found = [...ofUser, ...ofProject.map((place) => look(place, "signalbox install --project"))];
      const wrong = found.flatMap(({ findings }) => findings);
      if (wrong.length > 0) return wrong;
      const readers = [...new Set(found.flatMap(({ readers: each }) => each))];
      if (readers.length === 0) return ok("not installed; to let an agent hand work over: signalbox install");
      const changed = found.flatMap(({ changed: file }) => file ?? []);
      const own = changed.length === 0 ? "" : `; changed by you: ${changed.join(", ")}`;
      return ok(`installed for ${listed(readers.map((name) => agentTitles[name]))}${own}`);
    },
  };
}

interface Look {
  readonly findings: readonly Finding[];
  /** Who reads the skill there. */
  readonly readers: readonly AgentName[];
  /** The file, where it is not as we wrote it: that is the user's good right. */
  readonly changed?: string;
}

function look(place: SkillPlace, install: string): Look {
  const { file, agents } = place;
  const state = skillState(readSkill(file), skillText());
  if (state === "missing") return { findings: [], readers: [] };
  if (state === "current") return { findings: [], readers: agents };
  const named = agents.map((name) => ` --harness ${name}`).join("");
  if (state === "older") {
    const update = () => `${putSkill(place, { isDry: false, force: false }).change} it`;
    return { findings: warning(`${file} is of an older version`, `${install}${named}`, update), readers: agents };
  }
  if (state === "newer") {
    return { findings: warning(`${file} is of a newer version`, "Use the newer signalbox"), readers: agents };
  }
  return { findings: [], readers: agents, changed: file };
}
