import { afterAll, beforeAll, expect, test } from "vitest";
import { createSignalboxClient, Fault, Refusal } from "../../src/client/client.ts";
import { newRepository, removeHomes, type Stage, startStage } from "./stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
  await stage.ask("/v1/projects", { json: { name: "coffee", path: newRepository(stage.home), workflow: "brew" } });
});
afterAll(async () => {
  await stage.close();
  removeHomes();
});

const overSocket = () => createSignalboxClient({ home: stage.home, token: stage.human });
const overTcp = () => createSignalboxClient({ url: `http://${stage.tcp.address}`, token: stage.human });

test.each([
  ["the socket", overSocket],
  ["TCP", overTcp],
])("every route is a method, over %s", async (_, open) => {
  const client = open();
  const { task } = await client.createTask({ body: { project: "coffee", summary: "Brew" } });
  expect((await client.getTask({ params: { task: task.id } })).task).toMatchObject({ id: task.id, status: "todo" });
  const { tasks } = await client.listTasks({ query: { project: "coffee", open: "true", limit: "1" } });
  expect(tasks.map(({ id }) => id)).toEqual([task.id]);
  expect(await client.cancelTask({ params: { task: task.id }, body: {} })).toMatchObject({ kind: "moved" });
});

test("the client returns the workflow of a project", async () => {
  const told = await overSocket().projectWorkflow({ params: { project: "coffee" } });
  expect(told).toMatchObject({ name: "brew", from: "user", text: expect.stringContaining("brewing") });
  expect(told.hash).toMatch(/^[0-9a-f]{64}$/);
});

test("a refusal is thrown with its reasons, and a missing thing with its code", async () => {
  const client = overSocket();
  const { task } = await client.createTask({ body: { project: "coffee", summary: "Brew" } });
  const refusal = await client.moveTask({ params: { task: task.id }, body: { to: "served" } }).catch((error) => error);
  expect(refusal).toBeInstanceOf(Refusal);
  expect(refusal.reasons).toMatchObject([{ code: "no-transition" }]);
  const missing = client.getTask({ params: { task: "none" } });
  await expect(missing).rejects.toBeInstanceOf(Fault);
  await expect(missing).rejects.toMatchObject({ code: "task.missing" });
  // Over TCP every request needs a valid token.
  await expect(overTcp().as("made-up").listTasks()).rejects.toBeInstanceOf(Fault);
});

test("events come as they happen, and the loop can be left and resumed", async () => {
  const client = overSocket();
  const { task } = await client.createTask({ body: { project: "coffee", summary: "Brew" } });
  const types: string[] = [];
  let after = "0";
  for (let times = 0; times < 2; times += 1) {
    for await (const { type, position } of client.events({ task: task.id, after })) {
      types.push(type);
      after = String(position);
      if (type === "task.created" || type === "task.moved") break;
    }
    if (times === 0) await client.cancelTask({ params: { task: task.id }, body: {} });
  }
  expect([types[0], types.at(-1)]).toEqual(["task.created", "task.moved"]);
  await expect(client.events({ task: "none" }).next()).rejects.toMatchObject({ code: "task.missing" });
});

test("without a running daemon the client says so, and starts none", async () => {
  const nobody = createSignalboxClient({ home: `${stage.home}/nowhere` });
  await expect(nobody.status()).rejects.toMatchObject({ code: "daemon.unreachable", hint: "Start it: signalbox up" });
});
