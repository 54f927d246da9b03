import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import module from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { StricliProcess } from "@stricli/core";
import { routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { homePlaces, type Places } from "../../home/places.ts";
import { callRunning, isAlive } from "../connect.ts";

const endTimeout = 10_000;

/** Ends the stage's agents, daemon and tmux server. Kills processes that do not end: nothing is left running. */
export async function endStage({ caller, home, places, env }: Stage): Promise<void> {
  const status = await callRunning(caller, (call) => call(routes.status)).catch(() => undefined);
  if (status !== undefined) {
    await callRunning(caller, async (call) => {
      // The daemon ends the agents first. Without agents there is no pause, which `--keep` would leave behind.
      if (status.agents.atWork + status.agents.idle > 0) await call(routes.pause, { body: { all: true, now: true } });
      await call(routes.stop, { body: {} });
    }).catch(() => undefined);
    await until(() => !isAlive(status.pid));
    if (isAlive(status.pid)) kill(status.pid);
  }
  spawnSync("tmux", ["-S", places.terminal, "kill-server"], { env, stdio: "ignore" });
  await until(() => processesOf(home).length === 0);
  for (const pid of processesOf(home)) kill(pid);
  await until(() => processesOf(home).length === 0);
}

async function until(isSo: () => boolean): Promise<void> {
  for (let waited = 0; waited < endTimeout && !isSo(); waited += 20) await sleep(20);
}

/** Processes that were started for this home, which is unique to the demo. Works only on Linux. */
function processesOf(home: string): readonly number[] {
  const entry = `SIGNALBOX_HOME=${home}`;
  return pids().filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(entry) && isAlive(pid);
    } catch {
      // It has ended, or belongs to another user.
      return false;
    }
  });
}

function pids(): readonly number[] {
  try {
    return readdirSync("/proc")
      .map(Number)
      .filter((pid) => pid > 0 && pid !== process.pid);
  } catch {
    return [];
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended in the meantime.
  }
}

/** Fires when the demo must end early. Only this handler may end the process, so that nothing outlives it. */
export function watchForInterruption({ stdout }: NodeJS.Process): { signal: AbortSignal; stop(): void } {
  const ending = new AbortController();
  const end = () => ending.abort();
  // Also when the reader has gone (`| head`), or the terminal was closed.
  const others = stdout.listeners("error") as ((error: Error) => void)[];
  stdout.removeAllListeners("error").on("error", end);
  for (const signal of signals) process.on(signal, end);
  return {
    signal: ending.signal,
    stop() {
      for (const signal of signals) process.off(signal, end);
      if (ending.signal.aborted) return;
      stdout.off("error", end);
      for (const each of others) stdout.on("error", each);
    },
  };
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** What the demo's agents do in the workflow `default`, slowly enough for a person to follow. */
const demoScript = `
roles:
  worker:
    - when: { task: { branch: menu } }
      steps:
        - think: { time: 800ms, about: Planning the menu }
        - section:
            heading: "## Plan"
            text: |
              APPROACH: one file with what we serve.
              TOUCHING: menu.md
        - cli: [task, update, --status, working]
        - think: { time: 900ms, about: Writing menu.md }
        - write: { file: menu.md, text: "# Menu\\n\\n- espresso\\n- flat white\\n- filter coffee\\n" }
        - commit: Write the menu
        - section: { heading: "## Handoff", text: "DONE: menu.md lists what we serve." }
        - usage: { input: 14200, output: 1900, cached: 9800, cost: 0.04 }
        - cli: [task, update, --status, agent-review]
        - say: The menu is handed over.

    - when: { task: { branch: prices }, prompt: Review failed }
      steps:
        - think: { time: 700ms, about: Adding what the review asks for }
        - append: { file: prices.md, text: "- flat white 3.40\\n" }
        - commit: Add the missing price
        - section: { heading: "## Handoff", text: "DONE: the flat white has its price." }
        - usage: { input: 9100, output: 700, cached: 7600, cost: 0.02 }
        - cli: [task, update, --status, agent-review]
        - say: The review's point is fixed.
    - when: { task: { branch: prices } }
      steps:
        - think: { time: 600ms, about: Planning the prices }
        - section:
            heading: "## Plan"
            text: |
              APPROACH: a price for everything that we serve.
              TOUCHING: prices.md
        - cli: [task, update, --status, working]
        - think: { time: 600ms, about: Writing prices.md }
        - write: { file: prices.md, text: "# Prices\\n\\n- espresso 2.20\\n- filter coffee 2.80\\n" }
        - commit: Put prices on the list
        - section: { heading: "## Handoff", text: "DONE: prices.md has the prices." }
        - usage: { input: 12800, output: 1500, cached: 8100, cost: 0.03 }
        - cli: [task, update, --status, agent-review]
        - say: The prices are handed over.

    - when: { task: { branch: hours }, prompt: The person has answered }
      steps:
        - think: { time: 600ms, about: Planning with the answer }
        - section:
            heading: "## Plan"
            text: |
              APPROACH: a table of the week, with a short Sunday.
              TOUCHING: hours.md
        - cli: [task, update, --status, working]
        - think: { time: 700ms, about: Writing hours.md }
        - write: { file: hours.md, text: "# Hours\\n\\n- Monday to Saturday 8 to 18\\n- Sunday 9 to 12\\n" }
        - commit: Say when we are open
        - section: { heading: "## Handoff", text: "DONE: hours.md has the week, with the Sunday as answered." }
        - usage: { input: 11600, output: 1300, cached: 7900, cost: 0.03 }
        - cli: [task, update, --status, agent-review]
        - say: The hours are handed over.
    - when: { task: { branch: hours } }
      steps:
        - think: { time: 600ms, about: Reading the request }
        - section: { heading: "## Questions", text: "Are we open on Sundays, and from when to when?" }
        - usage: { input: 6400, output: 300, cached: 2000, cost: 0.01 }
        - cli: [task, update, --status, clarification]
        - say: Are we open on Sundays, and from when to when?

    - when: { task: { branch: beans }, prompt: Your session ended early }
      steps:
        - think: { time: 700ms, about: Finishing what the killed agent began }
        - append: { file: beans.md, text: "- Kenya, light\\n" }
        - commit: List the beans
        - section: { heading: "## Handoff", text: "DONE: beans.md is complete; its first half was already there." }
        - usage: { input: 13100, output: 900, cached: 10400, cost: 0.03 }
        - cli: [task, update, --status, agent-review]
        - say: The beans are handed over.
    - when: { task: { branch: beans } }
      steps:
        - think: { time: 700ms, about: Planning the beans }
        - section:
            heading: "## Plan"
            text: |
              APPROACH: one line for each bean.
              TOUCHING: beans.md
        - write: { file: beans.md, text: "# Beans\\n\\n- Brazil, dark\\n" }
        - usage: { input: 7300, output: 600, cached: 2000, cost: 0.02 }
        - think: { time: 600ms, about: Writing beans.md }
        - crash: SIGKILL

  reviewer:
    - when: { task: { branch: prices, review_round: "1" } }
      steps:
        - think: { time: 700ms, about: Reading the change }
        - section: { heading: "## Review", text: "Verdict: FAIL\\n\\nThe flat white has no price." }
        - usage: { input: 8200, output: 400, cached: 5100, cost: 0.02 }
        - cli: [task, update, --status, working]
    - steps:
        - think: { time: 700ms, about: Reading the change }
        - section: { heading: "## Review", text: "Verdict: PASS\\n\\nIt is what was asked for." }
        - usage: { input: 7900, output: 300, cached: 5000, cost: 0.02 }
        - cli: [task, update, --status, reviewing]
`;

/** All files of the demo, in one temporary folder: none of the user's files is read or written. */
export interface Stage {
  readonly folder: string;
  readonly home: string;
  readonly places: Places;
  readonly repository: string;
  /** The environment of the daemon and of the programs that it starts. */
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

/** Removes the folder, and sockets that are elsewhere because their paths would be too long. */
export function removeStage({ folder, places }: Stage): void {
  for (const each of [folder, dirname(places.socket), dirname(places.terminal)])
    rmSync(each, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

function makeFolder(): string {
  const parent = tmpdir();
  try {
    // Resolved, because on some systems the temporary folder is a symbolic link.
    return realpathSync(mkdtempSync(join(parent, "signalbox-demo-")));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Fault("unwritable", `The demo needs a folder below ${parent}, which is not writable (${code}).`, {
      hint: "Use another folder for temporary files: TMPDIR=/a/folder signalbox demo",
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

// Each task has a permanent worker, and sometimes a reviewer.
const config = `agents: { most: 16, environment: [NODE_COMPILE_CACHE] }
notify: { desktop: false }
`;

/** Our environment without the user's settings for Signalbox and git, and without a run's credentials. */
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
    // Agents and their commands start twice as fast with it.
    ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: own.NODE_COMPILE_CACHE ?? dirname(compiled) }),
  };
}

/** A task of the demo. The script recognises it by its branch. */
export interface DemoTask {
  readonly branch: string;
  readonly summary: string;
  /** What the task demonstrates. */
  readonly about: string;
  /** The person's answer to its agent's question. */
  readonly answer?: string;
}

export const demoTasks: readonly DemoTask[] = [
  { branch: "menu", summary: "Write the menu", about: "goes straight through" },
  { branch: "prices", summary: "Put prices on the list", about: "fails its review once" },
  {
    branch: "hours",
    summary: "Say when we are open",
    about: "asks a person a question",
    answer: "On Sundays from 9 to 12.",
  },
  { branch: "beans", summary: "List the beans", about: "is killed, and continues" },
];
