import { homedir } from "node:os";
import { basename, join } from "node:path";
import { acp } from "./adapters/harness/acp/acp.ts";
import { claude } from "./adapters/harness/claude/claude.ts";
import { codex } from "./adapters/harness/codex/codex.ts";
import { command } from "./adapters/harness/command/command.ts";
import { gemini } from "./adapters/harness/gemini/gemini.ts";
import { opencode } from "./adapters/harness/opencode/opencode.ts";
import { scripted } from "./adapters/harness/scripted.ts";
import { spawnCommands, systemClock } from "./adapters/system.ts";
import { cacheDetection, type Harnesses } from "./daemon/agents/harnesses.ts";
import { ownProgram } from "./daemon/agents/run-programs.ts";
import type { AgentConfig } from "./home/agent-fields.ts";
import { loginOf } from "./home/logins.ts";
import { type Places, packageVersion } from "./home/places.ts";
import type { Harness } from "./ports/harness.ts";

interface HarnessesPorts {
  readonly env: NodeJS.ProcessEnv;
  readonly places: Places;
  /** The harnesses that the user's current configuration defines. */
  defined(): AgentConfig["harnesses"];
  /** Additional environment variables for agents. */
  allowed(): readonly string[];
}

/** All harnesses that agents can be started in. */
export function createHarnesses({ env: all, places, defined, allowed }: HarnessesPorts): Harnesses {
  const env = plain(all);
  const home = env.HOME ?? homedir();
  const ports = { commands: spawnCommands, clock: systemClock, env, home };
  const remember = cacheDetection(systemClock);
  const builtIn: readonly Harness[] = [
    claude({ ...ports, isRoot: process.getuid?.() === 0 }),
    codex({ ...ports, hidden: [places.terminal] }),
    gemini(ports),
    opencode(ports),
    scripted({
      program: ownProgram("scripted-agent"),
      version: packageVersion,
      state: join(places.runs, ".scripted"),
      script: env.SIGNALBOX_SCRIPT ?? "",
    }),
  ]
    .map(remember)
    .map((harness) => ({ ...harness, login: () => loginOf(harness.name, env, allowed()) }));
  return () => {
    const own = Object.entries(defined()).map(([name, definition]) =>
      definition.acp === undefined
        ? command({ ...definition, name }, ports)
        : acp(
            { ...definition, name, title: definition.title ?? name, argv: definition.acp },
            { ...ports, bridge: ownProgram("acp-bridge"), ...foldersLike(builtIn, definition.acp) },
          ),
    );
    // Built-in harnesses win, so that a user's program cannot be mistaken for one.
    return new Map([...own, ...builtIn].map((harness) => [harness.name, harness]));
  };
}

/** Programs that bring the protocol to a harness use its files. */
const acpPrograms: Readonly<Record<string, string>> = { "claude-agent-acp": "claude", "codex-acp": "codex" };

function foldersLike(builtIn: readonly Harness[], [program = ""]: readonly string[]): Pick<Harness, "folders"> {
  const name = acpPrograms[basename(program)] ?? basename(program);
  const { folders } = builtIn.find((harness) => harness.name === name) ?? {};
  return folders === undefined ? {} : { folders };
}

function plain(env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
