import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type Client,
  createSignalboxClient,
  createWorkflowEngine,
  type WorkflowEngine,
} from "../../src/client/client.ts";
import { Fault } from "../../src/fault.ts";
import { newRepository, removeHomes, type Stage, startStage } from "./stage.ts";

const handoff = "## Handoff\n\nDONE: ground finer\n";
const unavailable = new Set<string>();
let stage: Stage;
let client: Client;
let engine: WorkflowEngine;
let count = 0;

beforeAll(async () => {
  const perform = async ({ action }: { action: string }) => {
    if (unavailable.has(action)) throw new Fault("effect.unavailable", `"${action}" is not available.`);
  };
  const names = ["acquire_workspace", "spawn_agent", "kill_session", "release_workspace", "delete_remote_branch"];
  stage = await startStage({ performers: Object.fromEntries(names.map((name) => [name, perform])) });
  const json = { name: "coffee", path: newRepository(stage.home), workflow: "classic", poolSize: 100 };
  await stage.ask("/v1/projects", { json });
  client = createSignalboxClient({ home: stage.home, token: stage.human });
  engine = createWorkflowEngine(client);
});
afterAll(async () => {
  await stage.close();
  removeHomes();
});

/** A task of `classic` that only the test starts. */
async function create() {
  const json = { project: "coffee", summary: "Brew", branch: `b${++count}`, autostart: false };
  const { id } = (await stage.ask("/v1/tasks", { json })).json.task;
  return (await stage.settled(id)) ?? expect.fail();
}

/** A task whose worker is running, with a workspace. */
async function atWork() {
  const { id } = await create();
  expect(await engine.transition({ ...(await current(id)) }, "working")).toMatchObject({ success: true });
  await stage.settled(id);
  const stored = (await stage.core.store.getTask(id)) ?? expect.fail();
  const { task, revision } = stored;
  // There are no real workspaces here; the task is given one.
  const set = { workspace: stage.home };
  const event = { type: "task.edited" as const, by: "engine", data: {}, set };
  const decision = { task: { ...task, ...set }, revision, isOpen: true, events: [event], effects: [], at: 1 };
  return (await stage.core.store.saveDecision(decision)).task;
}

async function current(id: string) {
  return (await client.getTask({ params: { task: id } })).task;
}

test("loadWorkflow returns the workflow of a project's new tasks, and hasTransition reads it", async () => {
  expect(engine.hasTransition("pending", "working")).toBe(false);
  await expect(engine.loadWorkflow("none")).rejects.toThrow('There is no project "none".');
  const workflow = await engine.loadWorkflow("coffee");
  expect(Object.keys(workflow.states)).toContain("agent-review");
  expect(engine.hasTransition("pending", "working")).toBe(true);
  expect(engine.hasTransition("pending", "done")).toBe(false);
  expect(engine.hasTransition("nowhere", "working")).toBe(false);
  expect(engine.hasTransition("pending", "constructor")).toBe(false);
});

test("transition moves the task and resolves when its hooks are done", async () => {
  const task = await create();
  expect(await engine.transition(task, "working")).toEqual({
    success: true,
    hooksExecuted: ["acquire_workspace", "spawn_agent"],
    hookErrors: [],
  });
  expect(await current(task.id)).toMatchObject({ status: "working", runs: [{ role: "worker", key: "worker#1" }] });
});

test("transition returns the reason of a refusal, and changes nothing", async () => {
  const task = await create();
  expect(await engine.transition(task, "done")).toEqual({
    success: false,
    error: 'There is no transition from "pending" to "done".',
    hooksExecuted: [],
    hookErrors: [],
  });
  const working = await atWork();
  const worker = await client.registerRun({ params: { task: working.id }, body: { role: "worker" } });
  const gate = await engine.transition(working, "agent-review", worker);
  expect(gate).toMatchObject({ success: false, error: "## Handoff is missing from the task file." });
  expect((await current(task.id)).status).toBe("pending");
});

test("transition reports unavailable hooks, and those after them are not carried out", async () => {
  unavailable.add("acquire_workspace");
  const task = await create();
  const result = await engine.transition(task, "working");
  unavailable.clear();
  expect(result).toEqual({
    success: true,
    hooksExecuted: [],
    hookErrors: ['acquire_workspace: "acquire_workspace" is not available.'],
  });
  expect((await current(task.id)).status).toBe("working");
});

test("transition reports a failed hook that nothing depends on, and continues with the next", async () => {
  const { id } = await atWork();
  const write = (text: string) => stage.ask(`/v1/tasks/${id}/document`, { method: "PUT", json: { text } });
  await write(handoff);
  await engine.transition(await current(id), "agent-review");
  await write(`${handoff}\n## Review\n\nPASS\n`);
  await engine.transition(await current(id), "reviewing");
  unavailable.add("delete_remote_branch");
  const result = await engine.transition(await current(id), "done");
  unavailable.clear();
  expect(result).toEqual({
    success: true,
    hooksExecuted: ["release_workspace", "spawn_next"],
    hookErrors: ['delete_remote_branch: "delete_remote_branch" is not available.'],
  });
});

test("handleDeadSession applies the rules: the task moves on with an artifact, and counts a failure without one", async () => {
  const silent = await atWork();
  await engine.handleDeadSession(silent);
  expect(await current(silent.id)).toMatchObject({ status: "working", crashCount: 1, runs: [] });
  const finished = await atWork();
  await stage.ask(`/v1/tasks/${finished.id}/document`, { method: "PUT", json: { text: handoff } });
  await engine.handleDeadSession(finished);
  expect(await current(finished.id)).toMatchObject({ status: "agent-review", counters: { review_round: 1 } });
});

test("respawn restarts a dead agent without moving the task, and throws if it cannot", async () => {
  const task = await atWork();
  await expect(engine.respawn(task)).rejects.toThrow("The worker is still alive (worker#1).");
  await engine.handleDeadSession(task);
  await engine.respawn(task);
  expect(await current(task.id)).toMatchObject({ status: "working", runs: [{ role: "worker", key: "worker#2" }] });
  await expect(engine.respawn(await create())).rejects.toThrow(
    /No agent works in "pending", so there is none to start again/,
  );
});

test("buildPrompt fills a prompt of the workflow for a task", async () => {
  await engine.loadWorkflow("coffee");
  const task = await current((await create()).id);
  expect(engine.buildPrompt(task, "worker")).toMatch(/^# Task: Brew\n\nProject: coffee\nBranch: b\d+\n/);
  expect(() => engine.buildPrompt(task, "none")).toThrow('has no prompt "none"');
});
