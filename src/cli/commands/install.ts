import { homedir } from "node:os";
import { Fault } from "../../fault.ts";
import type { Context } from "../context.ts";
import { exitCodes } from "../fast/tell.ts";
import { type AgentName, agentNames, agentTitles, findAgents } from "../find.ts";
import { type Changed, putSkill, removeSkill, type SkillChange, skillPlaces } from "../skill.ts";
import { listed, writeJson } from "../text.ts";
import { command, type FlagsOf } from "./command.ts";
import { flag, json } from "./parameters.ts";

const installFlags = {
  harness: {
    kind: "enum",
    values: agentNames,
    optional: true,
    variadic: true,
    brief: "Only for this agent; otherwise for the agents on your PATH; may be given several times",
  },
  project: flag("For everyone who works in this repository, instead of only for you"),
  "dry-run": flag("Only show what would be done"),
  remove: flag("Remove the skill"),
  force: flag("Also replace a file that you have changed; a copy is kept beside it"),
  json,
} as const;

type InstallFlags = FlagsOf<typeof installFlags>;

export const install = command({
  parameters: {
    flags: installFlags,
  },
  docs: {
    brief: "Teach the agents in your terminal to hand work to Signalbox",
    fullDescription: `Puts a skill where agents look for skills: Claude Code in ~/.claude/skills, Codex, Gemini CLI and OpenCode in ~/.agents/skills. With it they ask you what is unclear, create tasks from what you want, and watch them. A file that you have changed is kept. After an update of Signalbox, run it again; signalbox doctor says when.

--json: { dryRun, places: [{ path, harnesses, change, note }] }
Exit codes: 0 ok, 1 a file was kept because it was changed, or cannot be written, 2 wrong usage, 3 no agent, or not a git repository`,
  },
  func(flags) {
    const env = this.process.env ?? {};
    const root = flags.project ? { repository: repositoryOf(this) } : { home: homedir(), env };
    // The skill is also removed for agents that are no longer installed.
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
  },
});

const standing: readonly SkillChange[] = ["unchanged", "kept", "absent"];

function line({ change, file, agents, note }: Changed, isDry: boolean): string {
  const what = isDry && !standing.includes(change) ? `would be ${change}` : change;
  const readers = listed(agents.map((name) => agentTitles[name]));
  return `${what.padEnd(isDry ? 18 : 9)}  ${file}  (${readers})${note === "" ? "" : `: ${note}`}`;
}

/** What to do next; kept files come first. */
function advice(changed: readonly Changed[], { "dry-run": isDry, remove, project }: InstallFlags): string {
  if (isDry) return "Nothing has changed. To do it, leave --dry-run out.";
  if (changed.some(({ change }) => change === "kept")) {
    return remove ? "To remove it anyway: --force" : "To replace it anyway, and keep a copy: --force";
  }
  if (remove) return "Agents that are running now may still use the skill, until they are restarted.";
  const titles = changed.flatMap(({ agents }) => agents.map((name) => agentTitles[name]));
  const start = `Start ${listed(titles, "or")} in a repository, and tell it what you want done.`;
  return project ? `${start}\nCommit the files, so that others get them too.` : start;
}

function agentsHere(path: string): readonly AgentName[] {
  const found = findAgents(path);
  if (found.length > 0) return found;
  throw new Fault("agents.missing", `None of ${agentNames.join(", ")} is on your PATH.`, {
    hint: "To install the skill anyway: signalbox install --harness claude",
  });
}

function repositoryOf({ repository }: Context): string {
  if (repository !== undefined) return repository;
  throw new Fault("repository.missing", "This folder is not in a git repository.", {
    hint: "Go to one, or leave --project out to install the skill for yourself.",
  });
}
