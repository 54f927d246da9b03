import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Route } from "../../src/api/client.ts";
import { routes } from "../../src/api/routes.ts";
import type { EventView } from "../../src/api/tasks.ts";
import { newRepository, removeHomes, type Stage, startStage } from "./stage.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await startStage();
});
afterAll(async () => {
  expect(stage.complaints).toEqual([]);
  await stage.close();
  removeHomes();
});

const events = async (): Promise<readonly EventView[]> => (await stage.ask("/v1/events?limit=5000")).json.events;

/** Sends a request as the person, and returns the events that it adds. */
async function added(path: string, sent: Parameters<Stage["ask"]>[1]): Promise<readonly EventView[]> {
  const before = (await events()).length;
  expect((await stage.ask(path, sent)).status).toBe(200);
  return (await events()).slice(before);
}

test("every route that changes something adds an event with its actor: its own, or request.granted", () => {
  const changing = (Object.values(routes) as readonly Route[]).filter(({ method }) => method !== "GET");
  const withOwnEvents = changing.filter(({ isNoted }) => isNoted !== true).map(({ name }) => name);
  // Their events are tested with the engine, and with these routes in routes.test.ts.
  expect(withOwnEvents.toSorted()).toEqual([
    ...[
      "addFinding",
      "answerTask",
      "approveTask",
      "cancelTask",
      "commentTask",
      "completeWork",
      "continueTask",
      "createTask",
    ],
    ...["decideFindings", "editTask"],
    // The tools of `mcp` ask for other routes.
    ...[
      "mcp",
      "mergeTask",
      "migrateTask",
      "moveTask",
      "openWebSession",
      "putDocument",
      "putPlan",
      "replyTask",
      "requestChanges",
      "respawnTask",
    ],
    ...["sendMessage", "sendStageMessage", "spawnTask", "undoMerge"],
  ]);
});

test("requests about projects and the home are in the event feed, without a task", async () => {
  const path = newRepository(stage.home);
  const url = `file://me:secret@localhost${path}`;
  expect(await added("/v1/projects", { json: { name: "coffee", path } })).toMatchObject([
    { task: "", project: "coffee", type: "project.added", by: "human", data: { project: "coffee", path } },
    { task: "", project: "coffee", type: "request.granted", by: "human", data: { request: "addProject" } },
  ]);
  expect(await added("/v1/projects/coffee", { method: "PATCH", json: { poolSize: 7 } })).toMatchObject([
    { project: "coffee", type: "project.changed", by: "human", data: { project: "coffee", keys: ["poolSize"] } },
    { task: "", project: "coffee", by: "human", data: { request: "updateProject", given: { poolSize: 7 } } },
  ]);
  expect(await added("/v1/backup", { json: {} })).toMatchObject([
    { task: "", project: "", by: "human", data: { request: "backup" } },
  ]);
  const { events: ofProject } = (await stage.ask("/v1/events?project=coffee")).json;
  expect(ofProject.map(({ type, data }: EventView) => data.request ?? type)).toEqual([
    ...["project.added", "addProject", "project.changed", "updateProject"],
  ]);
  // Nothing has changed, so there is no event that says so.
  expect(await added("/v1/projects/coffee", { method: "PATCH", json: { poolSize: 7 } })).toMatchObject([
    { type: "request.granted" },
  ]);
  const [, cloned] = await added("/v1/projects", { json: { name: "cloned", url } });
  expect(cloned?.data.given).toEqual({ name: "cloned", url: `file://localhost${path}` });
  // A refused request is not granted.
  const before = (await events()).length;
  expect((await stage.ask("/v1/projects", { json: { name: "again", path } })).status).not.toBe(200);
  expect(await events()).toHaveLength(before);
  expect(await added("/v1/projects/coffee", { method: "DELETE" })).toMatchObject([
    { task: "", project: "coffee", type: "project.removed", by: "human", data: { project: "coffee" } },
    { task: "", project: "coffee", by: "human", data: { request: "removeProject" } },
  ]);
  expect(JSON.stringify(await events())).not.toContain("secret");
});

test("requests about a task are in the task's history; a deleted task's are in the home's", async () => {
  await stage.ask("/v1/projects", { json: { name: "tea", path: newRepository(stage.home, "tea") } });
  const json = { project: "tea", workflow: "brew", summary: "Brew", branch: "green" };
  const { id } = (await stage.ask("/v1/tasks", { json })).json.task;
  await vi.waitFor(async () => expect((await stage.core.store.getTask(id))?.task.phase).toBe("waiting"));
  expect(await added("/v1/tasks/green/retry?project=tea", { json: {} })).toMatchObject([
    { task: id, project: "tea", type: "request.granted", by: "human", data: { request: "retryTask" } },
  ]);
  await stage.ask(`/v1/tasks/${id}/cancel`, { json: {} });
  await stage.settled(id);
  await vi.waitFor(async () => expect((await stage.core.store.getTask(id))?.isOpen).toBe(false));
  await stage.ask(`/v1/tasks/${id}`, { method: "DELETE" });
  expect((await events()).at(-1)).toMatchObject({
    ...{ task: "", project: "tea", by: "human", data: { request: "deleteTask", given: { task: id } } },
  });
});

test("long values of a granted request are cut", async () => {
  const [event] = await added("/v1/config", { json: { key: "x", file: "y".repeat(4_000), hash: "0" } });
  expect(JSON.stringify(event).length).toBeLessThan(1_000);
});
