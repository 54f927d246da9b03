import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { newestVersion } from "../../src/adapters/sqlite/connection.ts";
import { openStore } from "../../src/app-parts.ts";
import { apply } from "../../src/engine/decision.ts";
import { loadWorkflow } from "../../src/engine/language/load.ts";
import type { Task } from "../../src/engine/task.ts";
import { listBackups } from "../../src/home/backups.ts";
import { homePlaces, type Places } from "../../src/home/places.ts";
import type { Store, StoredTask } from "../../src/ports/store.ts";
import { oldVersion, writeOldDatabase } from "../old-home.ts";
import { removeFolder } from "../remove-folder.ts";

// A database that an older version has written opens with this one.

let places: Places;
beforeEach(() => {
  const base = mkdtempSync(join(tmpdir(), "signalbox-old-"));
  onTestFinished(() => removeFolder(base));
  places = homePlaces(join(base, "home"));
  mkdirSync(join(base, "home"), { mode: 0o700 });
  writeOldDatabase(places.database, base);
});

async function openOld(): Promise<Store> {
  const store = await openStore(places);
  if (store === undefined) throw new Error("Another process has the database open.");
  onTestFinished(() => store.close());
  return store;
}

/** A column, read by SQL alone. */
function read(file: string, sql: string): readonly unknown[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database
      .prepare(sql)
      .all()
      .map((row) => Object.values(row)[0]);
  } finally {
    database.close();
  }
}

const allTasks = (store: Store) => store.listTasks({}, { limit: 1000 });

test("an old database is upgraded without damage, after a backup that still has the old version", async () => {
  const tasks = read(places.database, "select data from task order by position desc");
  const store = await openOld();
  expect(await store.check()).toEqual([]);
  expect((await allTasks(store)).map(({ task }) => JSON.stringify(task))).toEqual(tasks);
  const backups = listBackups(places);
  expect(backups.map(({ kind }) => kind)).toEqual(["upgrade"]);
  const [{ file } = { file: "" }] = backups;
  expect(read(file, "pragma user_version")).toEqual([oldVersion]);
  expect(read(file, "select data from task order by position desc")).toEqual(tasks);
  await store.close();
  expect(read(places.database, "pragma user_version")).toEqual([newestVersion]);
});

test("the tasks of an old database are in the states that it was made with", async () => {
  const stored = await allTasks(await openOld());
  const byWorkflow = Object.groupBy(stored, ({ task }) => task.workflow);
  const states = Object.entries(byWorkflow).map(([name, tasks = []]) => [
    name,
    [...new Set(tasks.map(({ task }) => task.status))].toSorted(),
  ]);
  expect(Object.fromEntries(states)).toEqual({
    default: [
      "agent-review",
      "cancelled",
      "clarification",
      "done",
      "pending",
      "planning",
      "reviewing",
      "stuck",
      "working",
    ],
    classic: ["clarification", "reviewing", "stuck"],
    minimal: ["done", "reviewing", "working"],
    crew: ["stuck", "working"],
  });
});

test("replaying the history of each old task gives the stored task", async () => {
  const store = await openOld();
  for (const { task, revision } of await allTasks(store)) {
    const events = await store.listEvents({ task: task.id }, 0, 1000);
    expect(events.at(-1)?.revision).toBe(revision);
    const replayed = events.map(({ event }) => event).reduce(apply, {} as Task);
    expect(JSON.parse(JSON.stringify(replayed)), `${task.project}#${task.number}`).toEqual(task);
  }
});

test("an old task entered its state when its history says", async () => {
  const store = await openOld();
  const entered = async ({ task }: StoredTask) => {
    const events = await store.listEvents({ task: task.id }, 0, 1000);
    return events.findLast(({ event: { type } }) => type === "task.moved" || type === "task.created")?.at;
  };
  const tasks = await allTasks(store);
  expect(tasks.map(({ enteredAt }) => enteredAt)).toEqual(await Promise.all(tasks.map(entered)));
});

test("an old project keeps its kind of workspaces, and had worktrees where none was stored", async () => {
  const projects = await (await openOld()).listProjects();
  expect(projects.map(({ name, workspaces }) => [name, workspaces])).toEqual([
    ["coffee", "worktree"],
    ["milk", "worktree"],
    ["tea", "clone"],
  ]);
});

test("the workflows that old tasks are pinned to can still be read", async () => {
  const store = await openOld();
  for (const { task } of await allTasks(store)) {
    const stored = await store.getWorkflow(task.workflowHash);
    const { workflow, problems } = loadWorkflow(stored?.text ?? "", stored?.name ?? "");
    expect(
      problems.filter(({ level }) => level === "error"),
      task.workflow,
    ).toEqual([]);
    expect(Object.keys(workflow?.states ?? {})).toContain(task.status);
  }
});

test("an old database has no record of newer kinds, and takes them", async () => {
  const store = await openOld();
  const [{ task } = { task: { id: "", project: "" } }] = await allTasks(store);
  const record = { id: task.id, project: task.project, task: task.id, at: 1 };
  for (const kind of [store.calls, store.seen, store.workSizes, store.chatQuestions]) {
    expect(await kind.list({})).toEqual([]);
    await kind.put(record as never);
    expect(await kind.list({ task: task.id })).toEqual([record]);
  }
  expect(await store.webKeys.list()).toEqual([]);
});
