import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { root } from "../documents.ts";
import { eventually, type Stage, startStage } from "./stage.ts";

const many = 10;
const thinking = `roles: { any: [{ steps: [{ say: "I think." }, { think: 1h }] }] }`;

/** One agent in a terminal for each task, or one without. */
const flow = (mode: "session" | "turn") => `name: flow
version: 1
roles: { worker: { mode: ${mode}, harness: task, permissions: full, window: worker } }
states:
  todo: { waits_for: slot, next: busy }
  busy:
    agent: { role: worker, prompt: work }
    respawn_prompt: work
    outcomes: [{ then: done }, { action: crash, stuck_after: 2 }]
  stuck: { waits_for: human, next: done }
  done: { terminal: true }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: done, gate: { section: "## Handoff", fields: [DONE] } }
prompts: { work: "Work on {summary}" }
`;

const shown = async (stage: Stage) =>
  (await stage.runs()).map(({ id, pid, session }) => `${id} ${pid} ${session}`).sort();

for (const mode of ["session", "turn"] as const) {
  test(`after a kill the daemon adopts its ${many} agents ${mode === "session" ? "in" : "without"} terminals`, async () => {
    const agents = "most: 20";
    const stage = await startStage({ flow: flow(mode), script: thinking, agents, poolSize: many });
    for (let i = 0; i < many; i++) await stage.create(`task ${i}`);
    await eventually(
      async () => {
        const all = await stage.runs();
        return all.length === many && all.every(({ activity }) => activity === "busy") ? true : undefined;
      },
      60_000,
      async () =>
        JSON.stringify((await stage.runs()).map(({ id, activity, pid, what }) => [id, activity, pid, what])) +
        stage.daemon().said(),
    );
    const before = await shown(stage);
    await stage.killDaemon();
    await stage.restart();
    await eventually(async () =>
      (await stage.runs()).every(({ activity }) => activity === "busy") ? true : undefined,
    );
    expect(await shown(stage)).toEqual(before);
    for (const { task, pid } of await stage.runs()) {
      const alive = stage.processesOf(task, "worker#1");
      expect(alive).toContain(pid);
    }
  });
}

test("agents whose terminal server was killed resume their sessions, and that counts as no crash", async () => {
  const script = `roles:
  worker:
    - { when: { turn: 1 }, steps: [{ say: "First." }, { think: 1h }] }
    - { steps: [{ say: "Second." }, { think: 1h }] }
`;
  const stage = await startStage({ flow: flow("session"), script });
  const id = await stage.create("a cup");
  const first = await stage.untilRun(({ activity }) => activity === "busy");
  process.kill(Number(stage.tmux("display-message", "-p", "#{pid}")), "SIGKILL");
  const second = await stage.untilRun(({ key, activity }) => key === "worker#2" && activity === "busy");
  expect(second.session).toBe(first.session);
  expect((await stage.task(id)).crashCount).toBe(0);
  expect(stage.processesOf(id, "worker#1")).toEqual([]);
  // What ends a run right after each of two starts ends it at every start.
  process.kill(Number(stage.tmux("display-message", "-p", "#{pid}")), "SIGKILL");
  const { held } = await stage.until(id, (task) => task.held !== null);
  expect(held?.reason).toContain("Its terminal server died twice in a row, right after a start");
});

test("an agent whose terminal socket was deleted continues as the same program, and is ended with its task", async () => {
  const stage = await startStage({ flow: flow("session"), script: thinking });
  const id = await stage.create("a cup");
  const { pid } = await stage.untilRun(({ activity }) => activity === "busy");
  rmSync(stage.places.terminal);
  await eventually(async () => (existsSync(stage.places.terminal) ? true : undefined));
  await stage.killDaemon();
  rmSync(stage.places.terminal);
  await stage.restart();
  const again = await stage.untilRun(({ activity }) => activity === "busy");
  expect([again.key, again.pid]).toEqual(["worker#1", pid]);
  expect(stage.processesOf(id, "worker#1")).toContain(pid);
  rmSync(stage.places.terminal);
  await stage.call(routes.killRun, { params: { task: id, run: "worker#1" }, body: {} });
  expect(stage.processesOf(id, "worker#1")).toEqual([]);
});

test("an agent is ended through its process even while the terminal server hangs", async () => {
  const stage = await startStage({ flow: flow("session"), script: thinking });
  const id = await stage.create("a cup");
  await stage.untilRun(({ activity }) => activity === "busy");
  const server = Number(stage.tmux("display-message", "-p", "#{pid}"));
  process.kill(server, "SIGSTOP");
  const killed = stage.call(routes.killRun, { params: { task: id, run: "worker#1" }, body: {} });
  await eventually(async () => (stage.processesOf(id, "worker#1").length === 0 ? true : undefined));
  process.kill(server, "SIGCONT");
  await killed;
});

/** Ignores the loss of its terminal, in a session of its own, as a daemonised program does. */
const stubborn = `harnesses:
  stubborn:
    title: Stubborn
    session: { argv: ["setsid", "--wait", "sh", "-c", "trap '' HUP; echo ready; while :; do sleep 1; done", "{prompt}"] }
`;
const ways = {
  "its terminal server was killed": (stage: Stage) => stage.tmux("kill-server"),
  "its window was killed by hand": (stage: Stage) => stage.tmux("kill-window", "-t", "=:"),
  "its run folder and its terminal server are gone": (stage: Stage, folder: string) => {
    rmSync(folder, { recursive: true });
    stage.tmux("kill-server");
  },
};

for (const [how, lose] of Object.entries(ways)) {
  test(`a surviving program is ended before another is started: ${how}`, async () => {
    const stage = await startStage({ flow: flow("session"), config: stubborn, harness: "stubborn" });
    const id = await stage.create("a cup");
    await stage.untilRun(({ key, pid }) => key === "worker#1" && pid > 0);
    const survivors = await eventually(async () => {
      const all = stage.processesOf(id, "worker#1");
      return all.length > 2 ? all : undefined;
    });
    lose(stage, stage.runFolder(id, "worker#1"));
    const ended = await eventually(async () =>
      (await stage.events(id)).find(({ type, data }) => type === "agent.ended" && data.run === "worker#1"),
    );
    expect(ended.data.word).not.toBe("ok");
    expect(survivors.length).toBeGreaterThan(2);
    expect(stage.processesOf(id, "worker#1")).toEqual([]);
  });
}

test("there is exactly one agent, at whatever moment the daemon dies while it starts the agent", async () => {
  const stage = await startStage({ flow: flow("session"), script: thinking, poolSize: 8 });
  for (let i = 0; i < 5; i++) {
    const id = await stage.create(`task ${i}`);
    await new Promise((resolve) => setTimeout(resolve, i * 120));
    await stage.killDaemon();
    await stage.restart();
    const run = await stage.untilRun(({ task, activity }) => task === id && activity === "busy");
    expect(run.key).toBe("worker#1");
    const alive = stage.processesOf(id, "worker#1");
    expect(alive).toContain(run.pid);
    // A sandbox adds processes of its own.
    const programs = alive.filter((pid) => readFileSync(`/proc/${pid}/comm`, "utf8") !== "bwrap\n");
    expect(programs).toHaveLength(1);
  }
  await stage.call(routes.pause, { body: { all: true } });
});

/** Where the daemon dies while it ends an agent: the agent is alive, or dead already. */
const whileEnding = [
  { what: "^start tmux .* kill-pane", when: "before" },
  { what: "^write .*agent\\.ended", when: "before" },
];

test("an agent that was being ended when the daemon died is ended, and that counts as no crash", async () => {
  const dying = join(root, "test/faults/crew/dying.mjs");
  const stage = await startStage({
    ...{ flow: flow("session"), script: thinking },
    env: (base) => ({
      ...{ SIGNALBOX_DEATH: join(base, "death"), SIGNALBOX_POINTS: join(base, "points") },
      NODE_OPTIONS: `--import=${dying}`,
    }),
  });
  const id = await stage.create("a cup");
  for (const [index, death] of whileEnding.entries()) {
    const run = await stage.untilRun(({ key, activity }) => key === `worker#${index + 1}` && activity === "busy");
    writeFileSync(join(stage.base, "death"), JSON.stringify(death));
    await expect(stage.call(routes.pause, { body: { all: true, now: true } })).rejects.toThrow();
    expect(await stage.daemon().ended).toBe("SIGKILL");
    await stage.restart();
    const ended = await eventually(async () =>
      (await stage.events(id)).find(({ type, data }) => type === "agent.ended" && data.run === run.key),
    );
    expect(ended.data.word).toBe("lost");
    expect(stage.processesOf(id, run.key)).toEqual([]);
    await stage.call(routes.resume, { body: { all: true } });
  }
});
