import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openSqliteStore } from "../../src/adapters/sqlite/store.ts";
import { createMemoryStore } from "../memory-store/memory-store.ts";
import { removeFolder } from "../remove-folder.ts";
import {
  sampleArtifact,
  sampleDecision,
  sampleDocument,
  sampleEffect,
  sampleProject,
  sampleRecord,
  sampleTask,
} from "./samples.ts";
import { storeContract } from "./store.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-store-"));
afterAll(() => removeFolder(folder));
let files = 0;
const newFile = () => join(folder, `${++files}.db`);

storeContract("memory", async () => createMemoryStore());
storeContract("sqlite", async () => openSqliteStore(newFile()));

const message = { from: "human", to: "worker", text: "Hot!", deliveredAt: undefined };

/** Reads everything about task t1 and its project. */
async function lookAtAll(store: ReturnType<typeof openSqliteStore>) {
  return {
    projects: await store.listProjects(),
    tasks: await store.listTasks({}, { limit: 100 }),
    events: await store.listEvents({}, 0, 100),
    effects: await store.listEffects("t1"),
    artifacts: await store.listArtifacts("t1"),
    document: await store.getDocument("t1"),
    workflow: await store.getWorkflow("h1"),
    last: await store.lastEvent(),
    next: await store.nextDue(0),
    messages: await store.messages.list({}),
  };
}

async function fill(store: ReturnType<typeof openSqliteStore>) {
  await store.addProject(sampleProject());
  await store.saveWorkflow({ hash: "h1", name: "default", text: "name: default" });
  const effects = [sampleEffect("spawn_agent"), sampleEffect("notify", 3)];
  const created = await store.createTask("coffee", sampleTask("t1", {}, { effects }));
  const artifacts = [sampleArtifact("t1", "Plan")];
  await store.saveDecision(
    sampleDecision(created, { held: undefined }, { artifacts, document: sampleDocument("done", "worker") }),
  );
  await store.messages.put({ ...sampleRecord("m1", "t1"), ...message });
  const [first] = await store.openEffects("t1");
  await store.failEffect(first?.id ?? 0, { word: "error", reason: "no net" }, 4_000);
  return lookAtAll(store);
}

test("a sqlite store that is closed and opened again has all data, and continues its numbers", async () => {
  const file = newFile();
  const first = openSqliteStore(file);
  const before = await fill(first);
  await first.createTask("coffee", sampleTask("t2"));
  await first.deleteTask("t2");
  await first.close();

  const second = openSqliteStore(file);
  expect(await lookAtAll(second)).toEqual(before);
  const { task, order } = await second.createTask("coffee", sampleTask("t3"));
  expect([task.number, order]).toEqual([3, 3]);
  expect((await second.listEvents({ task: "t3" }, 0, 1))[0]?.position).toBeGreaterThan(before.last);
  await second.close();
});

test("a backup of a sqlite store is a consistent snapshot, even during writes", async () => {
  const file = newFile();
  const copy = newFile();
  const store = openSqliteStore(file);
  await fill(store);
  const backup = store.backup(copy);
  const writes = Promise.all(Array.from({ length: 200 }, (_, i) => store.createTask("coffee", sampleTask(`n${i}`))));
  await Promise.all([backup, writes]);
  const other = openSqliteStore(copy);
  expect(await other.check()).toEqual([]);
  const tasks = await other.listTasks({}, { limit: 1_000 });
  const events = await other.listEvents({}, 0, 1_000);
  expect(new Set(events.map((event) => event.task))).toEqual(new Set(tasks.map(({ task }) => task.id)));
  expect(await other.listEffects("t1")).toEqual(await store.listEffects("t1"));
  await other.close();
  await store.close();
});

test("a backup replaces an older one atomically, and a failure is reported with its reason", async () => {
  const copy = newFile();
  const store = openSqliteStore(newFile());
  await store.backup(copy);
  await store.addProject(sampleProject());
  await store.backup(copy);
  const other = openSqliteStore(copy);
  expect(await other.listProjects()).toHaveLength(1);
  await other.close();
  await expect(store.backup(join(folder, "nowhere", "copy.db"))).rejects.toMatchObject({
    code: "store.unreadable",
    message: expect.stringContaining("nowhere"),
  });
  const late = store.backup(copy);
  await store.close();
  await late;
});
