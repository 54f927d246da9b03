import { homedir } from "node:os";
import { join } from "node:path";
import { systemClock } from "./adapters/clock/system-clock.ts";
import { spawnCommands } from "./adapters/commands/spawn-commands.ts";
import { acp } from "./adapters/harness/acp/acp.ts";
import { claude } from "./adapters/harness/claude/claude.ts";
import { codex } from "./adapters/harness/codex/codex.ts";
import { command } from "./adapters/harness/command/command.ts";
import { gemini } from "./adapters/harness/gemini/gemini.ts";
import { opencode } from "./adapters/harness/opencode/opencode.ts";
import { scripted } from "./adapters/harness/scripted/scripted.ts";
import type { Harnesses } from "./daemon/agents/harnesses.ts";
import { ownProgram } from "./daemon/agents/own-program.ts";
import { rememberDetection } from "./daemon/agents/remember-detection.ts";
import type { AgentConfig } from "./home/agent-fields.ts";
import { loginOf } from "./home/logins.ts";
import { packageVersion } from "./home/package-version.ts";
import type { Places } from "./home/places.ts";
import type { Harness } from "./ports/harness.ts";

export interface HarnessesPorts {
  readonly env: NodeJS.ProcessEnv;
  readonly places: Places;
  /** Harnesses that the user defines, as they are now. */
  defined(): AgentConfig["harnesses"];
  /** Variables that agents get besides. */
  allowed(): readonly string[];
}

/** All harnesses that agents can be started in. */
export function createHarnesses({ env: all, places, defined, allowed }: HarnessesPorts): Harnesses {
  const env = plain(all);
  const home = env.HOME ?? homedir();
  const ports = { commands: spawnCommands, clock: systemClock, env, home };
  const remember = rememberDetection(systemClock);
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
            { name, title: definition.title ?? name, argv: definition.acp },
            { ...ports, bridge: ownProgram("acp-bridge") },
          ),
    );
    // What comes with us keeps its name: nobody should take a program of theirs for it.
    return new Map([...own, ...builtIn].map((harness) => [harness.name, harness]));
  };
}

function plain(env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
