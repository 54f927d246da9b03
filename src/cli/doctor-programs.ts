import { spawnSync } from "node:child_process";
import { loginOf } from "../home/logins.ts";
import { type Check, error, type Finding, ok, warning } from "./doctor-finding.ts";
import { agentNames, agentTitles, findAgents } from "./find-agents.ts";
import { identityCommands, unknownAuthor } from "./has-commits.ts";

const oldestGit = "2.38";
const oldestTmux = "3.2";

/** The programs that Signalbox is run by, and those that it runs. */
export function programChecks(env: NodeJS.ProcessEnv, allowed: readonly string[]): readonly Check[] {
  return [
    // An older one does not get as far as here.
    { name: "node", look: () => ok(process.versions.node) },
    { name: "git", look: lookForGit },
    { name: "tmux", look: lookForTmux },
    { name: "agents", look: () => lookForAgents(env, allowed) },
  ];
}

function lookForGit(): readonly Finding[] {
  const version = versionOf("git", "--version");
  const install = `Install git ${oldestGit} or newer: https://git-scm.com/downloads`;
  if (version === undefined) return error("is not on your PATH", install);
  if (!isAtLeast(version, oldestGit)) return error(`${version} is too old`, install);
  const identify = identityCommands(process.cwd());
  return identify.length === 0 ? ok(version) : warning(`${version}. ${unknownAuthor}`, identify.join("\n"));
}

function lookForTmux(): readonly Finding[] {
  const version = versionOf("tmux", "-V");
  const install = `Install tmux ${oldestTmux} or newer: sudo apt install tmux, or brew install tmux`;
  if (version === undefined) return error("is not on your PATH, and agents run in its sessions", install);
  // What is built between releases has no number.
  const isOld = /^\d/.test(version) && !isAtLeast(version, oldestTmux);
  return isOld ? error(`${version} is too old`, install) : ok(version || "of a version that it does not tell");
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

/** The first number with a dot that a program says about itself; undefined where there is no such program. */
function versionOf(program: string, flag: string): string | undefined {
  const { stdout, error: problem } = spawnSync(program, [flag], { encoding: "utf8", timeout: 5_000 });
  return problem === undefined ? (/\d+\.\d[\w.]*/.exec(stdout)?.[0] ?? stdout.trim()) : undefined;
}

function isAtLeast(version: string, least: string): boolean {
  // tmux counts 3.3, 3.3a, 3.4.
  const numbers = (text: string) => text.split(".").map((part) => Number.parseInt(part, 10) || 0);
  const [major = 0, minor = 0] = numbers(version);
  const [leastMajor = 0, leastMinor = 0] = numbers(least);
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}
