import { expect, test, vi } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { eventually } from "../agents/stage.ts";
import { startCommands } from "./agent-stage.ts";

vi.setConfig({ testTimeout: 240_000 });

const polite = `roles:
  worker:
    - { when: { prompt: ask }, steps: [{ ask: "May I?" }, { say: "Thank you." }] }
    - { when: { prompt: limit }, steps: [{ error: { kind: rate-limit, message: "Not so fast.", reset: 10m } }] }
    - { steps: [{ say: "At your service." }] }
  teller:
    - { steps: [{ error: { kind: rate-limit, message: "Too much today.", reset: 10m } }] }
`;

const talk = `name: flow
version: 1
roles:
  host: { mode: dialogue, harness: task, result: order, until: { clear: true } }
schemas:
  order: { type: object, required: [clear, message], properties: { clear: { type: boolean }, message: { type: string } } }
states:
  todo: { waits_for: slot, next: asking }
  asking: { agent: { role: host, prompt: ask }, outcomes: [{ on: ok, then: clear }, { then: failed }] }
  clear: { terminal: true }
  failed: { terminal: true, outcome: failed }
transitions:
  - { from: todo, to: asking, hooks: [acquire_workspace] }
prompts: { ask: "What is {summary}? So far: {log}" }
`;

test("an agent's question in a dialogue is explained, and answered from the command line", async () => {
  const script = `roles:
  host:
    - { when: { prompt: with milk }, steps: [{ answer: { clear: true, message: "With milk then." } }] }
    - { steps: [{ answer: { clear: false, message: "Milk?" } }] }
`;
  const { json, signalbox, until } = await startCommands(script, { flow: talk });
  const { task } = await json("task", "create", "coffee", "A coffee", "--workflow", "flow");
  await until(task.id, ({ needsPerson }) => needsPerson);
  const { stdout } = await signalbox(["task", "explain", task.id]);
  expect(stdout).toContain("Milk?");
  expect(stdout).toContain(`signalbox task reply ${task.id}`);
  // Its agent has ended after its question, as it should.
  expect(await json("task", "show", task.id)).toMatchObject({ task: { session: "none" } });
  expect(await signalbox(["task", "reply", "coffee", "-"], "with milk")).toMatchObject({ code: 0 });
  await until(task.id, ({ status }) => status === "clear");
});

const slow = `roles:
  worker:
    - { when: { prompt: hurry }, steps: [{ say: "At once." }] }
    - { when: { prompt: patient }, steps: [{ say: "Here." }] }
    - { steps: [{ sleep: 10m }] }
`;

test("an agent without a seat is listed and explained as waiting, and a raised limit starts it immediately", async () => {
  const { json, signalbox, untilRun } = await startCommands(slow, { agents: "most: 1" });
  // An idle agent has no seat: the next one starts beside it.
  const first = await json("task", "create", "one", "A patient one", "--workflow", "flow");
  await untilRun((run) => run.task === first.task.id && run.activity === "idle" && run.what !== "");
  await json("task", "create", "two", "Two", "--workflow", "flow");
  await untilRun((run) => run.number === 2 && run.activity === "busy");
  await json("task", "create", "three", "Three", "--workflow", "flow");
  const waiting = await untilRun((run) => run.number === 3 && run.activity === "waiting");
  expect(waiting).toMatchObject({ key: "worker#1", pid: 0, what: expect.stringContaining("agents.most") });
  expect((await signalbox(["task", "explain", "3"])).stdout).toContain("1 agent is at work; the maximum is 1");
  expect(await json("task", "show", "3")).toMatchObject({ task: { session: "none" } });
  // A message to an idle agent waits for a seat too. Its task is as near to its end as the other one, and older.
  expect(await signalbox(["task", "send", "1", "hurry"])).toMatchObject({ code: 0, stdout: "waiting\n" });
  await untilRun((run) => run.number === 1 && run.activity === "waiting");
  expect((await signalbox(["task", "explain", "1"])).stdout).toMatch(
    /sent a message once it has a seat.*number 1 of the 2/s,
  );
  expect((await signalbox(["task", "list"])).stdout).toMatch(/^◌ .*#3 /m);
  expect(await json("status")).toMatchObject({ agents: { atWork: 1, idle: 1, waiting: 2 } });
  expect(await signalbox(["config", "set", "agents.most", "2"])).toMatchObject({ code: 0 });
  await untilRun((run) => run.number === 1 && run.what === "At once.");
  await untilRun((run) => run.number === 3 && run.activity === "busy");
});

test("the program of an idle agent is ended to make room, and the agent resumes its session when it is needed", async () => {
  const { atDesk, call, json, killDaemon, restart, runs, signalbox, types, untilRun } = await startCommands(polite, {
    agents: "live: 0",
  });
  const id = await atDesk("one");
  const asleep = await untilRun(({ pid, activity }) => pid === 0 && activity === "idle");
  expect(asleep.what).toContain("agents.live");
  expect(await json("task", "show", id)).toMatchObject({ task: { session: "alive", crashCount: 0, held: null } });
  // It sleeps through a restart, and a message wakes it.
  await killDaemon();
  await restart();
  expect(await runs()).toMatchObject([{ key: "worker#1", pid: 0, activity: "idle" }]);
  expect(await signalbox(["task", "send", id, "Hello", "--wait"])).toMatchObject({ code: 0, stdout: "delivered\n" });
  const awake = await untilRun(({ pid, activity }) => pid > 0 && activity === "idle");
  expect(awake).toMatchObject({ key: "worker#1", session: asleep.session, what: "At your service." });
  // Attaching wakes the agent too.
  await untilRun(({ pid }) => pid === 0);
  await call(routes.attachTask, { params: { task: id }, body: {} });
  await untilRun(({ pid, activity }) => pid > 0 && activity === "idle");
  expect((await types(id)).filter((type) => type.startsWith("agent."))).toEqual([
    ...["agent.started", "agent.slept", "agent.woken", "agent.slept", "agent.woken"],
  ]);
});

test("an agent that asks, and a message that waits behind its question, are reported by all commands", async () => {
  const { atDesk, json, signalbox, untilRun } = await startCommands(polite);
  const id = await atDesk("one");
  await signalbox(["task", "send", id, "please ask", "--wait"]);
  await untilRun(({ activity }) => activity === "asks");
  expect((await signalbox(["agent", "ps"])).stdout).toMatch(/^! +coffee#1\/worker#1 +scripted +asks .* May I\?$/m);
  expect(await signalbox(["task", "send", id, "Never mind"])).toMatchObject({ code: 0, stdout: "waiting\n" });
  const { stdout } = await signalbox(["task", "explain", id]);
  expect(stdout).toMatch(/worker#1.*May I\?/);
  expect(stdout).toContain(`signalbox task attach ${id} --role worker#1`);
  expect(stdout).toContain("Deliver a message from a person to worker#1 as soon as it listens");
  // Nothing was typed into the dialog.
  expect((await signalbox(["task", "peek", id])).stdout).not.toContain("Never mind");
  expect(await json("agent", "ps")).toMatchObject({ runs: [{ activity: "asks", messagesWaiting: 1 }] });
});

test("agents and their screens are followed until the person interrupts", async () => {
  const { atDesk, signalbox, follow } = await startCommands(polite);
  const id = await atDesk("one");
  const watched = follow(["agent", "ps", "--watch", "--json"]);
  const followed = follow(["task", "logs", id, "--follow"]);
  await eventually(async () => /At your service/.test(followed.said()) || undefined);
  await signalbox(["task", "send", id, "Hello there", "--wait"]);
  await eventually(async () => /Hello there/.test(followed.said()) || undefined);
  expect(await followed.interrupt()).toBe(0);
  await signalbox(["agent", "kill", "coffee#1/worker#1"]);
  const last = () => JSON.parse(watched.said().trimEnd().split("\n").at(-1) ?? "");
  await eventually(async () => last().runs.length === 0 || undefined);
  expect(await watched.interrupt()).toBe(0);
  const seen = watched
    .said()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(seen[0]).toMatchObject({ runs: [{ key: "worker#1", activity: "idle" }] });
});

test("every command that explains why nothing starts reports a provider's limit", async () => {
  const { atDesk, json, signalbox } = await startCommands(polite);
  const id = await atDesk("one");
  await signalbox(["task", "send", id, "run into the limit", "--wait"]);
  await eventually(async () => {
    const { stdout } = await signalbox(["task", "explain", id]);
    return /worker#1 was told: Not so fast\. That lasts until \d{4}-/.test(stdout) || undefined;
  });
  await signalbox(["task", "edit", id, "--file", "-"], "## Notes\n\nThere are some.\n");
  await signalbox(["task", "continue", id]);
  await eventually(async () => {
    const { stdout } = await signalbox(["task", "explain", id]);
    return /#\d+ waits to be started\.[^.]*(Too much today|Not so fast)\./.test(stdout) || undefined;
  });
  const { harnesses } = await json("harness", "check", "scripted");
  expect(Date.parse(harnesses[0].limitedUntil)).toBeGreaterThan(Date.now());
});
