import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sampleProject, sampleTask } from "../../test/contracts/samples.ts";
import { createMemoryStore } from "../../test/memory-store/memory-store.ts";
import { Fault } from "../fault.ts";
import { guardStore } from "./guard-store.ts";

function stage() {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-guard-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "store.db");
  writeFileSync(file, "pages");
  const told: string[] = [];
  let written = 0;
  const store = guardStore(createMemoryStore(), {
    file,
    onLost: ({ message }) => void told.push(message),
    onWritten: () => void written++,
  });
  return { file, store, told, written: () => written };
}

const losses: readonly (readonly [string, (file: string) => void])[] = [
  ["the database is deleted", (file) => rmSync(file)],
  ["the database is emptied", (file) => truncateSync(file)],
  ["the database is truncated", (file) => truncateSync(file, 2)],
  ["the database is replaced", (file) => replace(file)],
  ["the log is deleted", (file) => rmSync(`${file}-wal`)],
  ["the log is emptied", (file) => truncateSync(`${file}-wal`)],
];

test.for(losses)(
  "once %s nothing more is written, the data can still be read, and the loss is reported once",
  async ([, lose]) => {
    const { file, store, told, written } = stage();
    await store.addProject(sampleProject("coffee"));
    writeFileSync(`${file}-wal`, "frames");
    await store.addProject(sampleProject("tea"));
    appendFileSync(file, "more");
    await store.addProject(sampleProject("water"));
    expect([written(), told]).toEqual([3, []]);
    lose(file);
    store.look();
    for (const name of ["milk", "sugar"])
      await expect(store.addProject(sampleProject(name))).rejects.toMatchObject({ code: "store.lost" });
    expect(told).toEqual([expect.stringContaining(file)]);
    expect((await store.listProjects()).map(({ name }) => name)).toEqual(["coffee", "tea", "water"]);
  },
);

function replace(file: string): void {
  writeFileSync(`${file}.copy`, "pages and more");
  renameSync(`${file}.copy`, file);
}

const kept = [
  ...(["agents", "workspaces", "runs", "credentials", "messages"] as const),
  ...(["calls", "conversations", "usage", "merges", "pullRequests"] as const),
];

test("once the database is lost no record of any kind is written or removed, and each can still be read", async () => {
  const { file, store } = stage();
  rmSync(file);
  for (const name of kept) {
    const { put, remove, list } = store[name];
    await expect(put({} as never), name).rejects.toMatchObject({ code: "store.lost" });
    await expect(remove("one"), name).rejects.toMatchObject({ code: "store.lost" });
    expect(await list({}), name).toEqual([]);
  }
});

test("once the database is lost nothing of a task is written", async () => {
  const { file, store, written } = stage();
  await store.addProject(sampleProject("coffee"));
  await store.createTask("coffee", sampleTask("one"));
  rmSync(file);
  const writes: readonly (() => Promise<unknown>)[] = [
    () => store.updateProject("coffee", {}),
    () => store.removeProject("coffee"),
    () => store.createTask("coffee", sampleTask("two")),
    () => store.saveDecision({} as never),
    () => store.saveDecisions([]),
    () => store.addEvents("one", [], 0),
    () => store.saveDocument("one", {} as never, [], 0),
    () => store.deleteTask("one"),
    () => store.finishEffect(1, 0),
    () => store.failEffect(1, {} as never),
    () => store.retryEffects("one", 0),
    () => store.saveWorkflow({} as never),
    () => store.addArtifact({} as never),
  ];
  for (const write of writes) await expect(write(), String(write)).rejects.toMatchObject({ code: "store.lost" });
  expect(written()).toBe(2);
  expect((await store.getTask("one"))?.task.id).toBe("one");
});

test("a full disk is reported once, until saving works again", async () => {
  const { file } = stage();
  const told: (string | undefined)[] = [];
  const memory = createMemoryStore();
  let isFull = true;
  const full = new Fault("store.full", "The store failed: database or disk is full.", { retry: "later" });
  const store = guardStore(
    { ...memory, addProject: async (project) => (isFull ? Promise.reject(full) : memory.addProject(project)) },
    { file, onLost: () => {}, onWritten: () => {}, onUnsaved: (fault) => told.push(fault?.message) },
  );
  for (const name of ["tea", "milk"])
    await expect(store.addProject(sampleProject(name))).rejects.toMatchObject({ code: "store.full" });
  expect(told).toEqual([expect.stringMatching(/^The disk of \S+ is full: nothing can be saved/)]);
  isFull = false;
  await store.addProject(sampleProject("coffee"));
  expect([told.length, told[1], store.unsaved()]).toEqual([2, undefined, undefined]);
});

test("room on the disk is noticed without a write", async () => {
  const { file } = stage();
  const full = new Fault("store.full", "The store failed: database or disk is full.", { retry: "later" });
  const store = guardStore(
    { ...createMemoryStore(), addProject: () => Promise.reject(full) },
    { file, onLost: () => {}, onWritten: () => {} },
  );
  await expect(store.addProject(sampleProject("tea"))).rejects.toMatchObject({ code: "store.full" });
  expect(store.unsaved()).toBeUndefined();
});
