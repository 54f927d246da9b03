import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../../src/api/client.ts";
import { routes } from "../../src/api/routes.ts";
import { socketRequest } from "../../src/api/socket-request.ts";
import type { TaskEvent } from "../../src/engine/decision.ts";
import { burst } from "./burst.ts";
import { beginCommand, type Ran } from "./command.ts";
import { createAsk, type Daemon, killDaemons, startDaemon } from "./daemon.ts";
import { readExport } from "./exported-task.ts";
import { createHome, type Home } from "./home.ts";
import { connectionsTo } from "./look-at-system.ts";

const workflows = () => ({
  brew: `name: brew
version: 1
states:
  todo: { waits_for: human, next: brewing }
  brewing: { waits_for: human, next: served }
  served: { terminal: true }
transitions:
  - { from: todo, to: brewing, by: human }
`,
  pair: `name: pair
version: 1
roles: { worker: { prompt: work }, reviewer: { prompt: review } }
states:
  todo: { waits_for: human, next: working }
  working: { agent: { role: worker, keep: true } }
  reviewing: { agent: { role: reviewer } }
  over: { terminal: true }
transitions:
  - { from: todo, to: working, by: human }
  - { from: working, to: reviewing, by: [worker, human] }
  - { from: working, to: over, by: worker, gate: { section: "## Handoff" } }
  - { from: reviewing, to: over, by: reviewer, gate: { section: "## Review" } }
prompts: { work: Work, review: Review }
`,
});

let home: Home;
let daemon: Daemon;
beforeAll(async () => {
  home = createHome(workflows);
  daemon = await startDaemon(home);
  await createAsk(home)(routes.addProject, {
    body: { name: "coffee", path: home.repository, workflow: "brew", poolSize: 50 },
  });
}, 60_000);
afterAll(async () => {
  await killDaemons();
  home.remove();
});

const many = 32;
const numbers = Array.from({ length: many }, (_, i) => i + 1);

/** Lets processes ask at the same moment: the daemon is suspended until all of them are connected. */
async function atOnce(words: (number: number) => readonly string[]): Promise<readonly Ran[]> {
  daemon.child.kill("SIGSTOP");
  try {
    const running = numbers.map((number) => beginCommand(home, ...words(number)));
    await connectionsTo(home.places.socket, many);
    daemon.child.kill("SIGCONT");
    return await Promise.all(running.map(({ ran }) => ran));
  } finally {
    daemon.child.kill("SIGCONT");
  }
}

/** The events of a task, and whether they replay to the stored task. */
async function historyOf(id: string): Promise<{ events: readonly TaskEvent[]; isTrue: boolean }> {
  const { events, task, replayed } = await readExport(home, id);
  return { events: events.map(({ event }) => event), isTrue: JSON.stringify(replayed) === JSON.stringify(task) };
}

async function newTask(summary: string): Promise<string> {
  const { task } = await createAsk(home)(routes.createTask, { body: { project: "coffee", summary, workflow: "brew" } });
  return task.id;
}

test("32 tasks that are created in parallel get numbers without gaps, and each its own history", async () => {
  const ran = await atOnce((number) => ["task", "create", "--project", "coffee", "--json", `Brew pot ${number}`]);
  expect(ran.filter(({ code }) => code !== 0)).toEqual([]);
  const created = ran.map(({ stdout }) => JSON.parse(stdout).task as { id: string; number: number; summary: string });
  expect(created.map(({ number }) => number).sort((a, b) => a - b)).toEqual(numbers);
  expect(new Set(created.map(({ id }) => id)).size).toBe(many);
  expect(created.map(({ summary }) => summary)).toEqual(numbers.map((number) => `Brew pot ${number}`));
  for (const { id } of created) {
    const { events, isTrue } = await historyOf(id);
    expect(events.map(({ type }) => type)).toEqual(["task.created", "task.settled"]);
    expect(isTrue).toBe(true);
  }
});

test("32 parallel changes of one task all succeed, and all are in history", async () => {
  const id = await newTask("Strength 0");
  const ran = await atOnce((number) => ["task", "update", id, "--summary", `Strength ${number}`]);
  expect(ran.filter(({ code }) => code !== 0)).toEqual([]);
  const { events, isTrue } = await historyOf(id);
  const summaries = events.filter(({ type }) => type === "task.edited").map(({ set }) => set.summary);
  expect([...summaries].sort()).toEqual(numbers.map((number) => `Strength ${number}`).sort());
  expect(isTrue).toBe(true);
  const { task } = await createAsk(home)(routes.getTask, { params: { task: id } });
  expect(task.summary).toBe(summaries.at(-1));
});

test("of 32 parallel requests for the same transition one is granted, and the others are told the task's state", async () => {
  const id = await newTask("Once only");
  const before = await createAsk(home)(routes.getTask, { params: { task: id } });
  const ran = await atOnce(() => ["task", "update", id, "--status", "brewing"]);
  const lost = ran.filter(({ code }) => code !== 0);
  expect(lost).toHaveLength(many - 1);
  expect(new Set(lost.map(({ code }) => code))).toEqual(new Set([1]));
  for (const { stderr } of lost) {
    expect(stderr).toContain('There is no transition from "brewing" to "brewing".');
    expect(stderr).toContain("Nothing has changed.");
  }
  const { events, isTrue } = await historyOf(id);
  const count = (wanted: string) => events.filter(({ type }) => type === wanted).length;
  expect([count("task.moved"), count("request.rejected")]).toEqual([1, many - 1]);
  expect(isTrue).toBe(true);
  const { task, effects } = await createAsk(home)(routes.getTask, { params: { task: id } });
  const { status, previousStatus, revision, updatedAt, needs, ...rest } = task;
  expect([status, previousStatus]).toEqual(["brewing", "todo"]);
  // It needs a person as before, but for its present state, and only since it entered that state.
  expect(needs).toEqual(before.task.needs.map((need) => ({ ...need, since: expect.any(String) })));
  for (const { since } of needs) expect(Date.parse(since)).toBeGreaterThan(Date.parse(before.task.updatedAt));
  expect(before.task).toMatchObject(rest);
  expect(effects).toEqual([]);
});

test("32 requests that arrive in the same moment are decided one after the other", async () => {
  const id = await newTask("Strength 0");
  const path = `/v1/tasks/${id}`;
  const edits = numbers.map((number) => ({ method: "PATCH", path, body: { summary: `Strength ${number}` } }));
  expect(await burst(home, daemon, edits)).toEqual(numbers.map(() => 200));
  const moves = numbers.map(() => ({ method: "POST", path: `${path}/move`, body: { to: "brewing" } }));
  const answers = await burst(home, daemon, moves);
  expect(answers.toSorted()).toEqual([200, ...numbers.slice(1).map(() => 409)]);
  const { events, isTrue } = await historyOf(id);
  const count = (wanted: string) => events.filter(({ type }) => type === wanted).length;
  expect([count("task.edited"), count("task.moved"), count("request.rejected")]).toEqual([many, 1, many - 1]);
  expect(isTrue).toBe(true);
});

test("the task file keeps the sections that two runs write in parallel", async () => {
  const ask = createAsk(home);
  // No agent is started, and no start fails: both runs are still queued.
  await ask(routes.pause, { body: { all: true } });
  const created = { project: "coffee", summary: "Two hands", workflow: "pair", harness: "scripted" };
  const { id } = (await ask(routes.createTask, { body: { ...created, allowFullPermissions: true } })).task;
  const params = { task: id };
  await ask(routes.moveTask, { params, body: { to: "working" } });
  await ask(routes.moveTask, { params, body: { to: "reviewing" } });
  const asRun = async (role: string) => {
    const { token } = await ask(routes.registerRun, { params, body: { role } });
    const headers = { authorization: `Bearer ${token}` };
    return createClient((question) => socketRequest({ ...question, socket: home.places.socket, headers }));
  };
  const [worker, reviewer] = await Promise.all([asRun("worker"), asRun("reviewer")]);
  for (const number of numbers) {
    await Promise.all([
      worker(routes.putDocument, { params, body: { text: `## Handoff\n\nDONE: ${number}\n` } }),
      reviewer(routes.putDocument, { params, body: { text: `## Review\n\nVerdict: ${number}\n` } }),
    ]);
    const { text } = await ask(routes.getDocument, { params });
    expect(text).toContain(`DONE: ${number}\n`);
    expect(text).toContain(`Verdict: ${number}\n`);
  }
});
