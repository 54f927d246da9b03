import { join } from "node:path";
import { spawnCommands } from "./adapters/commands/spawn-commands.ts";
import { opencode } from "./adapters/harness/opencode/opencode.ts";
import { scripted } from "./adapters/harness/scripted/scripted.ts";
import type { Harnesses } from "./daemon/agents/harnesses.ts";
import { ownProgram } from "./daemon/agents/run-programs.ts";
import { packageVersion } from "./home/package-version.ts";
import type { Places } from "./home/places.ts";
import type { Harness } from "./ports/harness.ts";

export interface HarnessesPorts {
  readonly env: NodeJS.ProcessEnv;
  readonly places: Places;
}

/** All harnesses that agents can be started in. */
export function createHarnesses({ env, places }: HarnessesPorts): Harnesses {
  const builtIn: readonly Harness[] = [
    opencode({ commands: spawnCommands, env: plain(env) }),
    scripted({
      program: ownProgram("scripted-agent"),
      version: packageVersion,
      state: join(places.runs, ".scripted"),
      script: env.SIGNALBOX_SCRIPT ?? "",
    }),
  ];
  const all = new Map(builtIn.map((harness) => [harness.name, harness]));
  return () => all;
}

function plain(env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
