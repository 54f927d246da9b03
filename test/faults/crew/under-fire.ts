import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Call } from "../../../src/api/client.ts";
import { routes } from "../../../src/api/routes.ts";
import type { TaskView } from "../../../src/api/tasks.ts";
import { createRandom } from "../../../src/engine/simulate/live.ts";
import { createAsk } from "../daemon.ts";
import { exportText } from "../exported-task.ts";
import { createHome, type Home } from "../home.ts";
import { crewScript } from "./crew-script.ts";
import { keepDaemon } from "./keep-daemon.ts";
import { writeTickets } from "./tickets-by-lot.ts";

export interface Fire {
  readonly seed: number;
  readonly kills: number;
  readonly tickets: number;
  readonly agents: number;
  /** Adds a ticket that can only end by asking a person. That takes minutes. */
  readonly hopeless: boolean;
  /** Called with the progress. */
  onKill?(kill: Kill): void;
}

/** The killer's report of one kill. */
export interface Kill {
  readonly kill: number;
  readonly pid: number;
  readonly isStarting: boolean;
  readonly life: number;
  readonly below: number;
}

/** The result, with the folders to check. */
export interface Battlefield {
  readonly home: Home;
  readonly repository: string;
  readonly control: string;
  readonly histories: string;
  readonly notes: string;
  readonly kills: readonly Kill[];
  /** Lock files that a killed git left in the user's repository, removed as a person would. */
  readonly locks: number;
  readonly daemons: number;
  /** Closable tickets that agents did not close. */
  readonly left: readonly string[];
}

const timeout = 1_200_000;

/** A crew works through a folder of tickets while a second process kills the daemon repeatedly; then all histories are exported. */
export async function crewUnderFire({ seed, kills, tickets, agents, hopeless, onKill }: Fire): Promise<Battlefield> {
  const plain = createHome(undefined, { isEmpty: true });
  const { base, repository, places } = plain;
  const [notes, histories, script] = [join(base, "notes"), join(base, "histories"), join(base, "script.yml")];
  for (const folder of [notes, histories]) mkdirSync(folder);
  writeFileSync(script, crewScript(notes));
  const home: Home = { ...plain, env: { ...plain.env, SIGNALBOX_SCRIPT: script } };
  const written = writeTickets(repository, tickets, createRandom(seed), hopeless);
  prepare(home);
  const keeper = keepDaemon(home);
  const ask = createAsk(home);
  const done: Kill[] = [];
  try {
    await beginCrew(ask, repository, agents);
    const args = [base, repository, kills, seed, written.closable.length].map(String);
    const killer = spawn(process.execPath, [fileURLToPath(new URL("killer.ts", import.meta.url)), ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    createInterface({ input: killer.stdout }).on("line", (line) => {
      const kill = JSON.parse(line) as Kill;
      done.push(kill);
      onKill?.(kill);
    });
    let locks = 0;
    for (const end = Date.now() + timeout; killer.exitCode === null || !(await isAtRest(ask).catch(() => false)); ) {
      await sleep(250);
      if (removeStaleLock(repository)) locks++;
      if (Date.now() < end && (killer.exitCode ?? 0) === 0) continue;
      killer.kill("SIGKILL");
      throw new Error(`It did not come to an end in ${base}.\n${keeper.said().slice(-5_000)}`);
    }
    for (const { id } of await tasksOf(ask)) writeFileSync(join(histories, `${id}.jsonl`), await exportText(home, id));
    const isOpen = (id: string) =>
      !/^status: closed$/m.test(readFileSync(join(repository, ".tickets", `${id}.md`), "utf8"));
    return {
      ...{ home, repository, histories, notes, locks, kills: done, daemons: keeper.starts() },
      control: join(places.control, "coffee.git"),
      left: written.closable.filter(isOpen),
    };
  } finally {
    await keeper.close();
  }
}

function prepare({ repository, places }: Home): void {
  const git = (...args: readonly string[]) => execFileSync("git", ["-C", repository, ...args]);
  git("symbolic-ref", "HEAD", "refs/heads/main");
  git("config", "user.name", "Ada");
  git("config", "user.email", "ada@example.org");
  for (let number = 0; number < 4; number++) writeFileSync(join(repository, `shared-${number}.txt`), "beans\n");
  writeFileSync(join(repository, "test.sh"), "! test -e broken && ! grep -q '^[<>]' shared-*.txt\n");
  git("add", "-A");
  git("commit", "-qm", "first");
  writeFileSync(
    places.config,
    "agents: { environment: [NODE_COMPILE_CACHE], most: 20 }\ntest_command: [sh, test.sh]\nrequire_tests: true\n",
  );
}

async function beginCrew(ask: Call, repository: string, agents: number): Promise<void> {
  const project = { path: repository, name: "coffee", harness: "scripted", poolSize: agents };
  await untilAnswered(() => ask(routes.addProject, { body: { ...project, fullPermissions: "allow" } }));
  await ask(routes.addAgents, { body: { project: "coffee", count: agents } });
  await ask(routes.runCrew, { params: { project: "coffee" }, body: { most: agents } });
}

async function untilAnswered(question: () => Promise<unknown>): Promise<void> {
  for (const end = Date.now() + 30_000; ; ) {
    try {
      return void (await question());
    } catch (error) {
      if (Date.now() > end) throw error;
      await sleep(50);
    }
  }
}

/** No ticket can be given out any more, and each task has ended or asks for a person. */
async function isAtRest(ask: Call): Promise<boolean> {
  const tasks = await tasksOf(ask);
  const { waiting } = await ask(routes.getCrew, { params: { project: "coffee" } });
  return waiting.length === 0 && tasks.every(({ phase, needsPerson }) => phase === "over" || needsPerson);
}

async function tasksOf(ask: Call): Promise<readonly TaskView[]> {
  return (await ask(routes.listTasks, { query: { limit: "1000" } })).tasks;
}

/**
 * A git that was killed in the user's checkout leaves its lock file there. Only the user may remove it: the daemon says so
 * and waits. The test follows that advice once no git runs there.
 */
function removeStaleLock(repository: string): boolean {
  const lock = join(repository, ".git", "index.lock");
  try {
    if (Date.now() - statSync(lock).mtimeMs < 3_000 || isGitAt(repository)) return false;
  } catch {
    return false;
  }
  rmSync(lock, { force: true });
  return true;
}

function isGitAt(folder: string): boolean {
  return readdirSync("/proc").some((name) => {
    try {
      return (
        /^\d+$/.test(name) &&
        readFileSync(`/proc/${name}/comm`, "utf8").startsWith("git") &&
        readlinkSync(`/proc/${name}/cwd`).startsWith(folder)
      );
    } catch {
      return false;
    }
  });
}
