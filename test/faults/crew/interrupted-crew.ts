import { execFile, execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { routes } from "../../../src/api/routes.ts";
import { Fault } from "../../../src/fault.ts";
import { processesWith } from "../../agents/stage.ts";
import { cliFile } from "../../programs.ts";
import { createAsk, type Daemon, spawnDaemon } from "../daemon.ts";
import { createHome, type Home } from "../home.ts";
import type { Slot } from "./eight-invariants.ts";

/** For `openCrew`: an agent that makes one commit for a ticket and ends. */
export const oneCommit = `roles: { worker: [{ steps: [{ append: { file: "{id}.txt", text: one } }, { commit: Work }, marker] }] }`;

/** Where a daemon dies: before or after the matching point. `dying.mjs` records the points. */
export interface DeathPoint {
  readonly what: string;
  readonly when: "before" | "after";
  /** Which of the matching points, from 1. */
  readonly at?: number;
}

export type InterruptedCrew = ReturnType<typeof openCrew>;

/** Node's arguments for a daemon that dies at a point. */
export const dying = ["--import", fileURLToPath(new URL("dying.mjs", import.meta.url))];

/** A crew in its own home, whose daemons die at chosen points. */
export function openCrew(script: string, workflows: Readonly<Record<string, string>> = {}) {
  const plain = createHome(() => workflows, { isEmpty: true });
  const { base, repository, places } = plain;
  const at = (name: string) => join(base, name);
  writeFileSync(at("script.yml"), script);
  writeFileSync(at("points"), "");
  const env = { SIGNALBOX_SCRIPT: at("script.yml"), SIGNALBOX_POINTS: at("points"), SIGNALBOX_DEATH: at("death") };
  const home: Home = { ...plain, env: { ...plain.env, ...env } };
  const ask = createAsk(home);
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-C", repository, ...args], { encoding: "utf8", stdio: "pipe" }).trim();
  furnish();
  const fileOf = (id: string) => join(repository, ".tickets", `${id}.md`);
  let daemon: Daemon | undefined;
  let kills = 0;

  return {
    ...{ home, repository, git, ask },
    kills: () => kills,
    points: () => readFileSync(at("points"), "utf8").split("\n").filter(Boolean),
    /** Resets the count of points. */
    forgetPoints: () => writeFileSync(at("points"), ""),
    async start() {
      daemon = spawnDaemon(home, dying);
      if (!(await daemon.listens)) throw new Error(`The daemon ended with ${await daemon.ended}:\n${daemon.said()}`);
    },
    said: () => daemon?.said() ?? "",
    /** Diagnostics for a crew that makes no progress. */
    async describe(): Promise<string> {
      const { tasks } = await ask(routes.listTasks, { query: { open: "true" } });
      const { runs } = await ask(routes.listRuns, { query: {} });
      const effects = await Promise.all(tasks.map(({ id }) => ask(routes.getTask, { params: { task: id } })));
      const open = await Promise.all(
        effects.map(async ({ task, effects: all }) => {
          const { events } = await ask(routes.listEvents, { query: { task: task.id, limit: "1000" } });
          const told = events.map(({ type, data }) => `${type} ${JSON.stringify(data)}`.slice(0, 400)).slice(-25);
          return {
            task: task.id,
            ticket: task.ticket,
            status: task.status,
            held: task.held,
            told,
            owed: all.filter(({ state }) => state !== "done"),
          };
        }),
      );
      const alive = processesWith([`HOME=${base}`]).map((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8"));
      return `${JSON.stringify({ open, runs, alive }, undefined, 1)}\n${daemon?.said()}`;
    },
    /** From now on the daemon dies at this point. */
    dieAt(death: DeathPoint) {
      writeFileSync(at("death"), JSON.stringify(death));
    },
    /** Cancels the death; false if the daemon has already died. */
    mayLive(): boolean {
      rmSync(at("death"), { force: true });
      return daemon?.child.exitCode === null && daemon.child.signalCode === null;
    },
    /** Resolves when the daemon is dead; false if it did not die before the timeout. */
    async died(patience = 30_000): Promise<boolean> {
      const lived = await Promise.race([daemon?.ended, sleep(patience, "lives", { ref: false })]);
      if (lived !== "SIGKILL") return false;
      kills++;
      return true;
    },
    async kill() {
      kills++;
      await daemon?.kill();
    },
    /** Stops the daemon cleanly. */
    async stop() {
      daemon?.child.kill("SIGTERM");
      await daemon?.ended;
    },
    async close() {
      await daemon?.kill();
      home.remove();
    },
    async begin(agents: number, workflow?: string) {
      const project = { path: repository, name: "coffee", harness: "scripted", poolSize: Math.max(agents, 4) };
      // The crew's invariants are about worktrees and branches of the repository.
      await ask(routes.addProject, { body: { ...project, workspaces: "worktree", fullPermissions: "allow" } });
      if (agents === 0) return;
      await ask(routes.addAgents, { body: { project: "coffee", count: agents } });
      await ask(routes.runCrew, {
        params: { project: "coffee" },
        body: { most: agents, ...(workflow === undefined ? {} : { workflow }) },
      });
    },
    /** Makes the crew look for tickets immediately. The daemon may die before it answers. */
    async wake(most: number) {
      await ask(routes.runCrew, { params: { project: "coffee" }, body: { most } }).catch((error) => {
        if (!(error instanceof Fault) || error.code !== "daemon.gone") throw error;
      });
    },
    signalbox: (...args: readonly string[]) =>
      new Promise<{ code: number; stdout: string; stderr: string }>((done) => {
        execFile(process.execPath, [cliFile, ...args], { cwd: repository, env: home.env }, (error, stdout, stderr) =>
          done({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
        );
      }),
    /** The answer behind `crew ps --json`; starting the command line each time would dominate the test's time. */
    async ps(): Promise<readonly Slot[]> {
      const { agents } = await ask(routes.getCrew, { params: { project: "coffee" } });
      return agents.map(({ name, state, session, workspace, branch, ticket, task, steps, stepAt }) => ({
        ...{ name, status: state, session, branch, step_count: steps, last_step_at: stepAt },
        ...{ worktree: workspace || null, task: ticket || task || null },
      }));
    },
    writeTicket(id: string, title: string) {
      const fields = `id: ${id}\nstatus: open\ndeps: []\nlinks: []\ntype: task\npriority: 2`;
      writeFileSync(fileOf(id), `---\n${fields}\n---\n# ${title}\n`);
    },
    tickets: () =>
      readdirSync(join(repository, ".tickets")).flatMap((name) => (/^[^.].*\.md$/.test(name) ? name.slice(0, -3) : [])),
    readTicket: (id: string) => readFileSync(fileOf(id), "utf8"),
    /** Files that a killed daemon left beside tickets. */
    leftBeside: () => readdirSync(join(repository, ".tickets")).filter((name) => !/^[^.].*\.md$/.test(name)),
    isClosed: (id: string) => /^status: closed$/m.test(readFileSync(fileOf(id), "utf8")),
  };

  function furnish(): void {
    git("symbolic-ref", "HEAD", "refs/heads/main");
    git("config", "user.name", "Ada");
    git("config", "user.email", "ada@example.org");
    mkdirSync(join(repository, ".tickets"));
    if (existsSync(join(repository, ".git/info"))) appendFileSync(join(repository, ".git/info/exclude"), ".tickets\n");
    writeFileSync(join(repository, "recipe.md"), "beans\n");
    git("add", "-A");
    git("commit", "-qm", "first");
    const agents = "agents: { environment: [NODE_COMPILE_CACHE] }";
    writeFileSync(places.config, `${agents}\ntest_command: [test, -e, recipe.md]\nrequire_tests: true\n`);
  }
}
