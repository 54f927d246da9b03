import { spawnSync } from "node:child_process";
import { type Check, error, type Finding, ok, warning } from "../../home/checks.ts";
import type { PartialConfig } from "../../home/config-fields.ts";
import { loginOf } from "../../home/logins.ts";
import { lookForGit, lookForTmux, programVersion } from "../../home/program-checks.ts";
import { type AgentName, agentNames, agentTitles, findAgents, identityCommands, unknownAuthor } from "../find.ts";
import { putSkill, readSkill, type SkillPlace, skillPlaces, skillState, skillText } from "../skill.ts";
import { listed } from "../text.ts";

/** Checks of the programs that Signalbox needs. */
export function programChecks(env: NodeJS.ProcessEnv, config: PartialConfig): readonly Check[] {
  const { agentsEnvironment: allowed = [], agentsSandbox = "auto" } = config;
  return [
    // An older Node does not get this far.
    { name: "node", look: () => ok(process.versions.node) },
    { name: "git", look: () => lookForGit(withIdentity) },
    { name: "tmux", look: lookForTmux },
    { name: "agents", look: () => lookForAgents(env, allowed) },
    { name: "sandbox", look: () => lookForSandbox(agentsSandbox) },
  ];
}

function withIdentity(version: string): readonly Finding[] {
  const identify = identityCommands(process.cwd());
  return identify.length === 0 ? ok(version) : warning(`${version}. ${unknownAuthor}`, identify.join("\n"));
}

async function lookForAgents(env: NodeJS.ProcessEnv, allowed: readonly string[]): Promise<readonly Finding[]> {
  const found = findAgents(env.PATH ?? "");
  if (found.length === 0)
    return warning(
      `none of ${agentNames.join(", ")} is on your PATH`,
      "Install the one you use, such as: npm install -g @anthropic-ai/claude-code",
    );
  const logins = await Promise.all(found.map(async (name) => ({ name, ...(await loginOf(name, env, allowed)) })));
  const out = logins
    .filter(({ state }) => state === "out")
    .flatMap(({ name, hint }) => warning(`${agentTitles[name]} is not logged in`, hint));
  return out.length > 0 ? out : ok(found.join(", "));
}

/** A program that does nothing, with the namespaces of a real sandbox. */
const trial = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent"].concat(
  ...["--ro-bind / /", "--proc /proc", "--dev /dev", "--tmpfs /tmp", "-- true"].map((each) => each.split(" ")),
);

async function lookForSandbox(setting: "auto" | "on" | "off"): Promise<readonly Finding[]> {
  if (setting === "off") return ok("agents run without one, by your setting");
  const finding = setting === "on" ? error : warning;
  const result = setting === "on" ? "so no agent can start" : "so agents run without a sandbox";
  const without = setting === "on" ? "\nOr do without: signalbox config set agents.sandbox auto" : "";
  const version = await programVersion("bwrap", "--version");
  if (version === undefined)
    return finding(`bubblewrap is not installed, ${result}`, `Install it: sudo apt install bubblewrap${without}`);
  const { status, stderr } = spawnSync("bwrap", trial, { encoding: "utf8", timeout: 5_000 });
  if (status === 0) return ok(`bubblewrap ${version}, for agents in workspaces of kind clone`);
  const allow = "Allow user namespaces on this machine, or on the host of this container";
  return finding(`bubblewrap ${version} cannot make a sandbox here, ${result}: ${stderr.trim()}`, `${allow}${without}`);
}

interface SkillRoots {
  /** The user's home folder, which has the agents' files. */
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The repository of the current folder. */
  readonly repository: string | undefined;
}

/** Checks whether the installed skill, with which agents hand work to Signalbox, has this version. */
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
      if (readers.length === 0)
        return ok("not installed; to let your agents hand work to Signalbox: signalbox install");
      const changed = found.flatMap(({ changed: file }) => file ?? []);
      const own = changed.length === 0 ? "" : `; changed by you: ${changed.join(", ")}`;
      return ok(`installed for ${listed(readers.map((name) => agentTitles[name]))}${own}`);
    },
  };
}

interface Look {
  readonly findings: readonly Finding[];
  /** The agents that read the skill there. */
  readonly readers: readonly AgentName[];
  /** The file, if the user has changed it, which is allowed. */
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
    return { findings: warning(`${file} has an older version`, `${install}${named}`, update), readers: agents };
  }
  if (state === "newer") {
    return { findings: warning(`${file} has a newer version`, "Use the newer signalbox"), readers: agents };
  }
  return { findings: [], readers: agents, changed: file };
}
