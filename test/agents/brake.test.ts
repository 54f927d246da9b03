import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { bubblewrap } from "../../src/adapters/sandbox/bubblewrap.ts";
import { spawnCommands } from "../../src/adapters/system.ts";
import { routes } from "../../src/api/routes.ts";
import { eventually, openStage, processesWith, type Stage } from "./stage.ts";

// The brake against agents that do everything at once that could be in its way, without and in a sandbox. The daemons are
// shared: in each round a person stops one agent in a terminal and one without.

/** Milliseconds that a stop may take. On a quiet machine 5,000 are enough; other tests run beside this one. */
const limit = Number(process.env.SIGNALBOX_BRAKE_LIMIT ?? 30_000);

const { works } = await bubblewrap({ commands: spawnCommands, env: process.env }).detect();

const flow = (mode: "session" | "turn") => `name: ${mode}s
version: 1
roles: { worker: { mode: ${mode}, harness: task, permissions: full, window: worker } }
states:
  todo: { waits_for: slot, next: busy }
  busy: { agent: { role: worker, prompt: work }, outcomes: [{ then: stuck }] }
  stuck: { waits_for: human, next: done }
  done: { terminal: true }
  cancelled: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: any, to: cancelled, by: human, hooks: [kill_session, release_workspace] }
prompts: { work: "Work on {summary}" }
`;

/** Ignores signals; floods its output and its events; forks, also out of its session; links and fills its task file. */
const wild = (token: string) => `
export WILD=${token}; trap '' TERM HUP INT
x=$(head -c 400K /dev/zero | tr '\\0' x)
stay='trap "" TERM HUP INT; while :; do sleep 600; done'
(for i in $(seq 40); do
  setsid sh -c "$stay" & (setsid sh -c "(setsid sh -c '$stay' &)" &)
  (setsid env -u SIGNALBOX_EVENTS -u SIGNALBOX_TASK -u SIGNALBOX_RUN -u SIGNALBOX_TOKEN sh -c "$stay" &)
  sleep 0.05
done; while :; do setsid sh -c "$stay" & sleep 0.2; done) >/dev/null 2>&1 </dev/null &
(while :; do
  for make in 'ln -s /dev/zero' 'ln -s /' 'ln .git/HEAD' mkfifo mkdir 'truncate -s 1T' 'head -c 100M /dev/zero >'; do
    rm -rf TASK.md; eval "$make TASK.md"; sleep 0.2
  done
done) >/dev/null 2>&1 </dev/null &
(while :; do printf %s "$x"; sleep 0.1; done >>"$SIGNALBOX_EVENTS") 2>/dev/null </dev/null &
while :; do echo "$x"; sleep 0.05; done`;

const harness = (token: string) => {
  const argv = JSON.stringify(["sh", "-c", wild(token), "{prompt}"]);
  return `harnesses: { wild: { title: Wild, session: { argv: ${argv} }, turn: { argv: ${argv} } } }\n`;
};

type Stop = (stage: Stage, tasks: readonly string[]) => Promise<unknown>;

const stops: Readonly<Record<string, Stop>> = {
  "task cancel": (stage, tasks) =>
    Promise.all(tasks.map((task) => stage.call(routes.cancelTask, { params: { task }, body: {} }))),
  "agent kill": (stage, tasks) =>
    Promise.all(tasks.map((task) => stage.call(routes.killRun, { params: { task, run: "worker#1" }, body: {} }))),
  "pause --now": (stage) => stage.call(routes.pause, { body: { all: true, now: true } }),
};

const cancel = (stage: Stage, tasks: readonly string[]) =>
  Promise.all(tasks.map((task) => stage.call(routes.cancelTask, { params: { task }, body: {} }).catch(() => {})));

for (const sandbox of works ? ["off", "on"] : ["off"]) {
  const token = `wild-${randomBytes(6).toString("hex")}`;
  const living = () => processesWith([`WILD=${token}`]).length;
  /** Waits before each look, which reads the environment of every process of the machine. */
  const untilLiving = (isSo: (count: number) => boolean) =>
    eventually(async () => {
      await setTimeout(75);
      return isSo(living()) || undefined;
    });
  const where = sandbox === "on" ? "in a sandbox" : "without a sandbox";
  const stage = await openStage({
    ...{ workflows: { sessions: flow("session"), turns: flow("turn") }, workspaces: "clone", poolSize: 8 },
    ...{ agents: `sandbox: ${sandbox}, output_limit: 4GB`, config: harness(token), harness: "wild" },
  });
  afterAll(async () => {
    await stage.close();
    for (const pid of processesWith([`WILD=${token}`])) process.kill(pid, "SIGKILL");
  });
  /** Two wild agents, one in a terminal and one without, which have done all that they do. */
  const begin = async (round: string): Promise<readonly string[]> => {
    const tasks: string[] = [];
    for (const workflow of ["sessions", "turns"]) {
      const body = { project: "coffee", summary: `${round} ${workflow}`, workflow };
      tasks.push((await stage.call(routes.createTask, { body })).task.id);
    }
    await untilLiving((count) => count > 120);
    // Most of the processes may be those of one agent.
    for (const task of tasks) await eventually(async () => (await hasStarted(task)) || undefined);
    return tasks;
  };
  const hasStarted = async (task: string) =>
    (await stage.call(routes.listRuns, { query: { task } })).runs.some(({ pid }) => pid > 0);
  /** Milliseconds until none of their processes is alive. */
  const ended = async (stop: () => Promise<unknown>): Promise<number> => {
    const began = performance.now();
    const none = untilLiving((count) => count === 0).then(() => performance.now() - began);
    const [, took] = await Promise.all([stop(), none]);
    return took;
  };

  for (const [name, stop] of Object.entries(stops))
    test(`${name} ends agents ${where} that flood, fork, link and fill, within ${limit / 1000} s`, async () => {
      const tasks = await begin(name);
      const took = await ended(() => stop(stage, tasks));
      await cancel(stage, tasks);
      for (const task of tasks) await stage.until(task, ({ status }) => status === "cancelled");
      await stage.call(routes.resume, { body: { all: true } });
      expect(living()).toBe(0);
      expect(took).toBeLessThan(limit);
    });

  test(`down stops the daemon within ${limit / 1000} s beside such agents ${where}, which continue; the next daemon ends them`, async () => {
    const tasks = await begin("down");
    const began = performance.now();
    stage.daemon().child.kill("SIGTERM");
    await stage.daemon().ended;
    expect(performance.now() - began).toBeLessThan(limit);
    expect(living()).toBeGreaterThan(0);
    await stage.restart();
    await ended(() => cancel(stage, tasks));
    for (const task of tasks) await stage.until(task, ({ status }) => status === "cancelled");
  });
}
