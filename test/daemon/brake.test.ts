import { execFileSync } from "node:child_process";
import { mkdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { spawnCommands, systemClock } from "../../src/adapters/system.ts";
import { runCommand } from "../../src/daemon/effects/commands.ts";
import { createHandlers } from "../../src/daemon/handlers.ts";
import { Fault } from "../../src/fault.ts";
import { readProcessTree } from "../process-tree.ts";
import { createScriptedProcesses } from "../scripted-processes.ts";
import { createScriptedTerminal } from "../scripted-terminal.ts";
import { meter } from "./agent-stage.ts";
import { startGitCore } from "./git-core.ts";

const flow = `
version: 1
roles: { worker: { harness: meter, mode: turn, permissions: reduced, prompt: work, limits: { attempts: 1 } } }
prompts: { work: Brew }
states:
  todo: { waits_for: human, next: brewing }
  brewing: { agent: { role: worker }, next: done }
  testing: { do: [{ action: run_command, command: [sleep, "600"] }], outcomes: [{ on: failed, then: brewing }], next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
  swept: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: brewing, hooks: [acquire_workspace] }
  - { from: todo, to: testing, by: human, hooks: [acquire_workspace] }
  - { from: any, to: dropped, by: human, hooks: [kill_session, release_workspace] }
  - { from: any, to: swept, by: human, hooks: [{ action: run_command, command: ["true"] }, release_workspace] }
`;

const table = {
  identify: async () => undefined,
  isAlive: async () => false,
  familyOf: async () => [],
  bearersOf: async () => [],
  cpuTime: async () => 0,
};
const tails = {
  open: () => ({
    read: async () => ({ lines: [], position: { offset: 0, before: "" }, hasMore: false, isAnew: false }),
  }),
  watch: () => () => {},
};

/** Two tasks with agents that never end by themselves, in real workspaces, and a person's requests over the API. */
async function startBrakeStage(workspaces: "worktree" | "clone" = "clone") {
  const undying = new Set<string>();
  const scripted = createScriptedProcesses({ clock: systemClock, play: () => [{ hang: true }] });
  /** Each start of a program waits for one of these. */
  const starting: Promise<void>[] = [];
  const processes = {
    ...scripted,
    async start(order: Parameters<typeof scripted.start>[0]) {
      await starting.shift();
      await scripted.start(order);
    },
    async kill(id: string) {
      if (undying.has(id)) throw new Fault("processes.undying", `${id} still lives.`, { retry: "later" });
      await scripted.kill(id);
    },
  };
  const terminal = createScriptedTerminal(systemClock);
  const stage = await startGitCore({
    ...{ name: "brake", flow, poolSize: 4, workspaces },
    ports: {
      commands: spawnCommands,
      performers: (folderOf, _, __, commands) => ({
        run_command: runCommand({ commands, folderOf, env: { PATH: process.env.PATH ?? "" } }),
      }),
      agents: { env: {}, table, tails, harnesses: () => new Map([[meter.name, meter]]), terminal, processes },
    },
  });
  const handlers = createHandlers(stage.core) as Record<string, (asked: unknown) => Promise<never>>;
  const ask = (route: string, params: object, body: object = {}): Promise<never> => {
    const asked = { params, body, query: {}, caller: { kind: "human" }, folder: "", lastEvent: "" };
    return handlers[route]?.(asked) ?? Promise.reject(new Error(route));
  };
  const begin = async (id: string) => {
    await stage.create(id);
    await stage.core.submit(id, { kind: "continue", actor: { role: "human" } });
    await expect.poll(async () => (await processes.look(`${id}-1`)).kind, { timeout: 20_000 }).toBe("running");
    return (await stage.store.getTask(id))?.task.workspace ?? "";
  };
  const isOver = (id: string) => processes.look(`${id}-1`).then(({ kind }) => kind === "ended");
  return { ...stage, ask, begin, isOver, processes, starting, undying };
}

type Stage = Awaited<ReturnType<typeof startBrakeStage>>;

/** What an agent, a person or the system can do to a task's workspace. `reason`: what `explain` says about it. */
const damages: readonly {
  name: string;
  damage(workspace: string, stage: Stage): void;
  reason?: RegExp;
  workspaces?: "worktree" | "clone";
}[] = [
  {
    name: "a task file of 2 MB",
    damage: (workspace) => writeFileSync(join(workspace, "TASK.md"), "x".repeat(2 * 1024 * 1024)),
    reason: /larger than 1 MB/,
  },
  {
    name: "a task file that is a symbolic link",
    damage(workspace) {
      rmSync(join(workspace, "TASK.md"));
      symlinkSync("/etc/hostname", join(workspace, "TASK.md"));
    },
    reason: /a symbolic link/,
  },
  {
    name: "a task file that is a folder",
    damage(workspace) {
      rmSync(join(workspace, "TASK.md"));
      mkdirSync(join(workspace, "TASK.md"));
    },
    reason: /a folder/,
  },
  {
    name: "a task file that is a named pipe",
    damage(workspace) {
      rmSync(join(workspace, "TASK.md"));
      execFileSync("mkfifo", [join(workspace, "TASK.md")]);
    },
    reason: /a named pipe/,
  },
  {
    name: "a task file that is not UTF-8",
    damage: (workspace) => writeFileSync(join(workspace, "TASK.md"), Buffer.from([0x23, 0x23, 0x20, 0xff, 0xfe])),
    reason: /not text in UTF-8/,
  },
  { name: "a workspace folder that is gone", damage: (workspace) => rmSync(workspace, { recursive: true }) },
  {
    name: "a git configuration that cannot be read",
    damage: (_, { repository }) => writeFileSync(join(repository, ".git", "config"), "[core\nbroken"),
    reason: /cannot be read/,
    workspaces: "worktree",
  },
  {
    name: "a worktree of a repository that is gone",
    damage: (_, { repository }) => rmSync(repository, { recursive: true }),
    reason: /cannot be read/,
    workspaces: "worktree",
  },
  {
    name: "a clone of a repository that is gone",
    damage: (_, { repository }) => rmSync(repository, { recursive: true }),
    reason: /is no longer at/,
  },
];

for (const { name, damage, reason, workspaces } of damages) {
  test(`a task with ${name} can be explained and cancelled, and its agent is ended`, async () => {
    const stage = await startBrakeStage(workspaces);
    damage(await stage.begin("b1111"), stage);
    const { blocked }: { blocked: readonly { reason: string; fix: string }[] } = await stage.ask("explainTask", {
      task: "b1111",
    });
    if (reason !== undefined) {
      const found = blocked.find((each) => reason.test(each.reason));
      expect(found, JSON.stringify(blocked)).toBeDefined();
      expect(found?.fix).not.toBe("");
    }
    expect(await stage.ask("cancelTask", { task: "b1111" })).toMatchObject({ kind: "moved", from: "brewing" });
    expect(await stage.isOver("b1111")).toBe(true);
    expect((await stage.store.getTask("b1111"))?.task.status).toBe("dropped");
  });
}

test("an agent whose program is being started while its task is cancelled does not outlive the cancellation", async () => {
  const stage = await startBrakeStage();
  const gate = Promise.withResolvers<void>();
  stage.starting.push(gate.promise);
  await stage.create("b1111");
  await stage.core.submit("b1111", { kind: "continue", actor: { role: "human" } });
  await expect.poll(() => stage.starting, { timeout: 20_000 }).toEqual([]);
  // The hook of this way would run a command before anything else ended the agent.
  expect(await stage.ask("moveTask", { task: "b1111" }, { to: "swept" })).toMatchObject({ kind: "moved" });
  gate.resolve();
  await expect.poll(() => stage.isOver("b1111"), { timeout: 20_000 }).toBe(true);
  await expect.poll(() => stage.store.openEffects("b1111"), { timeout: 20_000 }).toEqual([]);
  expect(await stage.store.runs.list({ task: "b1111" })).toMatchObject([{ endedAt: expect.any(Number) }]);
  expect(stage.processes.started).toHaveLength(1);
});

test("pause --now ends the agents of all tasks, even if one task is broken and one agent does not end", async () => {
  const stage = await startBrakeStage();
  const [first] = [await stage.begin("b1111"), await stage.begin("b2222"), await stage.begin("b3333")];
  writeFileSync(join(first, "TASK.md"), "x".repeat(2 * 1024 * 1024));
  stage.undying.add("b2222-1");
  expect(await stage.ask("pause", {}, { all: true, now: true })).toMatchObject({
    all: true,
    ended: 2,
    failed: [{ run: "b2222/worker#1", problem: "b2222-1 still lives." }],
  });
  expect(await Promise.all(["b1111", "b2222", "b3333"].map(stage.isOver))).toEqual([true, false, true]);
  stage.undying.clear();
});

test("an agent whose program is being started during pause --now is ended, and starts again at resume", async () => {
  const stage = await startBrakeStage();
  const gate = Promise.withResolvers<void>();
  stage.starting.push(gate.promise);
  await stage.create("b1111");
  await stage.core.submit("b1111", { kind: "continue", actor: { role: "human" } });
  await expect.poll(() => stage.starting, { timeout: 20_000 }).toEqual([]);
  await stage.ask("pause", {}, { all: true, now: true });
  gate.resolve();
  const living = async () => {
    const runs = await stage.store.runs.list({ task: "b1111" });
    const states = await Promise.all(runs.map(({ started }) => stage.processes.look(`${started?.name}`)));
    return states.filter(({ kind }) => kind === "running").length;
  };
  const waiting = () => stage.core.agents?.dispatch.waiting().length;
  await expect.poll(waiting, { timeout: 20_000 }).toBe(1);
  expect(await living()).toBe(0);
  await stage.ask("resume", {}, { all: true });
  await expect.poll(living, { timeout: 20_000 }).toBe(1);
});

test("a pause that cannot be saved still ends the agents, and reports the error", async () => {
  const stage = await startBrakeStage();
  await stage.begin("b1111");
  const paused = join(stage.places.run, "paused.json");
  rmSync(paused, { force: true });
  mkdirSync(join(paused, "in the way"), { recursive: true });
  await expect(stage.ask("pause", {}, { all: true, now: true })).rejects.toThrow(paused);
  expect(await stage.isOver("b1111")).toBe(true);
  expect(stage.core.agents?.pauses.list()).toMatchObject({ all: true });
});

test("an agent is ended although its workspace cannot be read, and the answer says that its task continues later", async () => {
  const stage = await startBrakeStage("worktree");
  await stage.begin("b1111");
  const config = join(stage.repository, ".git", "config");
  writeFileSync(config, "[core\nbroken");
  const answer: { kind: string; why: string } = await stage.ask("killRun", { task: "b1111", run: "worker#1" });
  expect(answer).toMatchObject({ kind: "ignored" });
  expect(answer.why).toMatch(/^The task continues later\. /);
  expect(await stage.isOver("b1111")).toBe(true);
});

test("pause --now kills the running command of a task, which is run again at resume", async () => {
  const stage = await startBrakeStage();
  await stage.create("b1111");
  const moved = await stage.core.submit("b1111", { kind: "move", to: "testing", actor: { role: "human" } });
  expect(moved.decision.kind).toBe("moved");
  const workspace = async () => (await stage.store.getTask("b1111"))?.task.workspace ?? "";
  await expect.poll(workspace, { timeout: 20_000 }).not.toBe("");
  const folder = await workspace();
  const pids = () =>
    readProcessTree()
      .below(process.pid)
      .filter((pid) => folderOf(pid) === folder);
  await expect.poll(pids, { timeout: 20_000 }).toHaveLength(1);
  const before = pids();
  expect(await stage.ask("pause", {}, { all: true, now: true })).toMatchObject({ ended: 0, commands: 1 });
  await expect.poll(pids, { timeout: 20_000 }).toEqual([]);
  const { blocked } = (await stage.ask("explainTask", { task: "b1111" })) as { blocked: readonly { reason: string }[] };
  expect(blocked.map(({ reason }) => reason).join()).toContain("Everything is paused.");
  await stage.ask("resume", {}, { all: true });
  await expect.poll(pids, { timeout: 20_000 }).toHaveLength(1);
  expect(pids()).not.toEqual(before);
  await stage.ask("pause", {}, { all: true, now: true });
  expect(await stage.ask("cancelTask", { task: "b1111" })).toMatchObject({ kind: "moved", from: "testing" });
  await stage.until("b1111", ({ isOpen }) => !isOpen);
});

test("cancelling kills the running command of the task, which is not run again", async () => {
  const stage = await startBrakeStage();
  await stage.create("b1111");
  await stage.core.submit("b1111", { kind: "move", to: "testing", actor: { role: "human" } });
  const isRunning = async () => {
    const [first] = await stage.store.openEffects("b1111");
    return first?.effect.action === "run_command" && first.tries === 0;
  };
  await expect.poll(isRunning, { timeout: 20_000 }).toBe(true);
  expect(await stage.ask("cancelTask", { task: "b1111" })).toMatchObject({ kind: "moved", from: "testing" });
  await stage.until("b1111", ({ isOpen }) => !isOpen);
  expect(await stage.store.workspaces.list({ task: "b1111" })).toEqual([]);
});

test("commands that belong to the end of a task are run once it is cancelled", async () => {
  const stage = await startBrakeStage();
  await stage.begin("b1111");
  expect(await stage.ask("moveTask", { task: "b1111" }, { to: "swept" })).toMatchObject({ kind: "moved" });
  expect(await stage.until("b1111", ({ isOpen }) => !isOpen)).toMatchObject({ status: "swept", phase: "over" });
  const events = await stage.store.listEvents({ task: "b1111" }, 0, 100);
  expect(events.filter(({ event }) => event.type === "effect.failed")).toEqual([]);
});

test("cancelling does not wait for a hanging decision about the same task", async () => {
  const stage = await startBrakeStage();
  await stage.begin("b1111");
  const { promise: decided, resolve: release } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const slow = stage.core.inTurn("b1111", () => {
    begin();
    return decided;
  });
  await begun;
  expect(await stage.ask("cancelTask", { task: "b1111" })).toMatchObject({ kind: "moved" });
  expect(await stage.isOver("b1111")).toBe(true);
  release();
  await slow;
});

test("an agent that a person ends is not restarted by a watcher that finds it dead before the task is decided", async () => {
  const stage = await startBrakeStage();
  await stage.begin("b1111");
  const { agents } = stage.core;
  const ending = { word: "lost", reason: "A person cancels the task." } as const;
  const runs = (await agents?.brake.runsOf(({ task }) => task === "b1111")) ?? [];
  await agents?.brake.hold(runs, ending, async () => {
    const nothing = { number: Number.MAX_SAFE_INTEGER, panes: new Map(), server: undefined };
    await agents.watchOf("b1111/worker#1")?.look(nothing);
    expect((await stage.store.getTask("b1111"))?.task.runs).toMatchObject({ worker: { key: "worker#1" } });
  });
  expect(runs).toHaveLength(1);
  expect(await stage.isOver("b1111")).toBe(true);
});

test("an agent that asks for cancellation ends no program: only a person pulls the brake", async () => {
  const stage = await startBrakeStage();
  await stage.begin("b1111");
  const credential = { task: "b1111", role: "worker", run: "worker#1" };
  const handlers = createHandlers(stage.core) as Record<string, (asked: unknown) => Promise<unknown>>;
  const asked = { params: { task: "b1111" }, body: {}, query: {}, folder: "", lastEvent: "" };
  const caller = { kind: "run", credential, isOver: false };
  await expect(handlers.cancelTask?.({ ...asked, caller })).rejects.toThrow("Only human can move the task");
  expect(await stage.isOver("b1111")).toBe(false);
});

function folderOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return "";
  }
}
