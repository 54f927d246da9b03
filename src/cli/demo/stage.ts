import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import module from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { StricliProcess } from "@stricli/core";
import { Fault } from "../../fault.ts";
import { homePlaces, type Places } from "../../home/places.ts";
import { demoScript } from "./script.ts";

/** Everything that the demo has, in one folder that is thrown away: nothing of the user's is read or written. */
export interface Stage {
  readonly folder: string;
  readonly home: string;
  readonly places: Places;
  readonly repository: string;
  /** What the daemon and the programs that are started for it find around them. */
  readonly env: NodeJS.ProcessEnv;
  /** For calls to the daemon of this home. */
  readonly caller: { readonly home: string; readonly process: StricliProcess };
}

export function openStage(own: NodeJS.ProcessEnv): Stage {
  const folder = makeFolder();
  try {
    return furnish(folder, own);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Takes the folder away, and what lies elsewhere because its path would have been too long. */
export function removeStage({ folder, places }: Stage): void {
  for (const each of [folder, dirname(places.socket), dirname(places.terminal)])
    rmSync(each, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

function makeFolder(): string {
  const parent = tmpdir();
  try {
    // As the system knows it: on some, the folder for temporary files is a link.
    return realpathSync(mkdtempSync(join(parent, "signalbox-demo-")));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Fault("unwritable", `The demo needs a folder below ${parent}, which cannot be written (${code}).`, {
      hint: "Name another place for temporary files: TMPDIR=/a/folder signalbox demo",
      cause: error,
    });
  }
}

function furnish(folder: string, own: NodeJS.ProcessEnv): Stage {
  const home = join(folder, "home");
  const places = homePlaces(home);
  const repository = join(folder, "coffee");
  const script = join(folder, "script.yml");
  const env = environment(own, { folder, home, script });
  for (const each of [home, repository]) mkdirSync(each, { mode: 0o700 });
  writeFileSync(script, demoScript);
  writeFileSync(places.config, config);
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-C", repository, ...args], { env, stdio: ["ignore", "ignore", "pipe"] });
  git("init", "--quiet", "--initial-branch=main");
  git("config", "user.name", "Demo");
  git("config", "user.email", "demo@signalbox.invalid");
  writeFileSync(join(repository, "README.md"), "# Coffee\n\nA small place with good coffee.\n");
  git("add", "--all");
  git("commit", "--quiet", "--message=Open the place");
  const process = { ...globalThis.process, env } as StricliProcess;
  return { folder, home, places, repository, env, caller: { home, process } };
}

// Each task has a worker that stays, and now and then a reviewer.
const config = `agents: { most: 16, environment: [NODE_COMPILE_CACHE] }
notify: { desktop: false }
`;

/** Ours without what would make it the user's: their settings for us and for git, and whoever we speak for. */
function environment(
  own: NodeJS.ProcessEnv,
  { folder, home, script }: { folder: string; home: string; script: string },
): NodeJS.ProcessEnv {
  const kept = Object.entries(own).filter(([name]) => !/^(SIGNALBOX_|SCRIPTED_AGENT_|GIT_|XDG_|TMUX)/.test(name));
  const compiled = module.getCompileCacheDir();
  return {
    ...Object.fromEntries(kept),
    HOME: folder,
    SIGNALBOX_HOME: home,
    SIGNALBOX_SCRIPT: script,
    // Agents, and what they call, start twice as fast with it.
    ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: own.NODE_COMPILE_CACHE ?? dirname(compiled) }),
  };
}
