import { homedir } from "node:os";
import { Fault } from "../../fault.ts";
import type { Context } from "../context.ts";
import { listed } from "../count.ts";
import { exitCodes } from "../exit-code.ts";
import { type AgentName, agentNames, agentTitles, findAgents } from "../find-agents.ts";
import { type Changed, putSkill, removeSkill, type SkillChange } from "../skill/change-skill.ts";
import { skillPlaces } from "../skill/skill-places.ts";
import { writeJson } from "../write-json.ts";

export interface InstallFlags {
  readonly harness?: readonly AgentName[];
  readonly project: boolean;
  readonly "dry-run": boolean;
  readonly remove: boolean;
  readonly force: boolean;
  readonly json: boolean;
}

export function install(this: Context, flags: InstallFlags) {
  const env = this.process.env ?? {};
  const root = flags.project ? { repository: repositoryOf(this) } : { home: homedir(), env };
  // What was installed for an agent is also removed where that agent is not there any more.
  const agents = flags.harness ?? (flags.remove ? agentNames : agentsHere(env.PATH ?? ""));
  const isDry = flags["dry-run"];
  const change = flags.remove ? removeSkill : putSkill;
  const changed = skillPlaces(agents, root).map((place) => change(place, { isDry, force: flags.force }));
  const kept = changed.filter((each) => each.change === "kept");
  if (kept.length > 0) this.process.exitCode = exitCodes.failed;
  if (flags.json) {
    const places = changed.map(({ file, agents: readers, change: what, note }) => ({
      path: file,
      harnesses: readers,
      change: what,
      note: note || undefined,
    }));
    return this.print(writeJson({ dryRun: isDry, places }));
  }
  for (const each of changed) this.print(line(each, isDry));
  this.say(`\n${advice(changed, flags)}`);
}

const standing: readonly SkillChange[] = ["unchanged", "kept", "absent"];

function line({ change, file, agents, note }: Changed, isDry: boolean): string {
  const what = isDry && !standing.includes(change) ? `would be ${change}` : change;
  const readers = listed(agents.map((name) => agentTitles[name]));
  return `${what.padEnd(isDry ? 18 : 9)}  ${file}  (${readers})${note === "" ? "" : `: ${note}`}`;
}

/** What to do next: about what was kept first of all. */
function advice(changed: readonly Changed[], { "dry-run": isDry, remove, project }: InstallFlags): string {
  if (isDry) return "Nothing has changed. Without --dry-run it is done.";
  if (changed.some(({ change }) => change === "kept")) {
    return remove ? "To remove it all the same: --force" : "To replace it all the same, and keep a copy: --force";
  }
  if (remove) return "Agents that run now may know the skill until they are started again.";
  const titles = changed.flatMap(({ agents }) => agents.map((name) => agentTitles[name]));
  const start = `Start ${listed(titles, "or")} in a repository, and tell it what you want done.`;
  return project ? `${start}\nCommit the files, so that others have them too.` : start;
}

function agentsHere(path: string): readonly AgentName[] {
  const found = findAgents(path);
  if (found.length > 0) return found;
  throw new Fault("agents.missing", `None of ${agentNames.join(", ")} is on your PATH.`, {
    hint: "To install the skill for one all the same: signalbox install --harness claude",
  });
}

function repositoryOf({ repository }: Context): string {
  if (repository !== undefined) return repository;
  throw new Fault("repository.missing", "This folder is in no git repository.", {
    hint: "Go to one, or leave --project away to install the skill for yourself.",
  });
}
