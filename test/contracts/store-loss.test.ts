import { copyFileSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { openSqliteStore } from "../../src/adapters/sqlite/store.ts";
import { openStore } from "../../src/app-parts.ts";
import { acceptDatabase, backupFile, beginEmpty, listBackups, restoreBackup } from "../../src/home/backups.ts";
import { readStoreNote, writeStoreNote } from "../../src/home/database.ts";
import { makePrivateFolder } from "../../src/home/make-folder.ts";
import { homePlaces, type Places } from "../../src/home/places.ts";
import { sampleProject, sampleTask } from "./samples.ts";

const now = new Date("2026-11-16T12:00:00Z");

function newPlaces(): Places {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-loss-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return homePlaces(folder);
}

/** A home with three tasks and a backup of the first two, as a stopped or killed daemon leaves it. */
async function usedHome(end: "stopped" | "killed"): Promise<Places> {
  const places = newPlaces();
  const store = openSqliteStore(places.database);
  await store.addProject(sampleProject());
  for (const id of ["one", "two"]) await store.createTask("coffee", sampleTask(id));
  makePrivateFolder(places.backups);
  await store.backup(backupFile(places, now.getTime(), "daily"));
  await store.createTask("coffee", sampleTask("three"));
  writeStoreNote(places, { number: await store.lastNumber(), projects: 1, at: now.toISOString() });
  if (end === "stopped") {
    await store.close();
    return places;
  }
  const killed = newPlaces();
  makePrivateFolder(killed.backups);
  for (const file of ["database", "storeNote"] as const) copyFileSync(places[file], killed[file]);
  copyFileSync(`${places.database}-wal`, `${killed.database}-wal`);
  for (const { file } of listBackups(places)) copyFileSync(file, backupFile(killed, now.getTime(), "daily"));
  await store.close();
  return killed;
}

async function tasksIn(places: Places): Promise<readonly string[]> {
  const store = await openStore(places);
  const tasks = (await store?.listTasks({}, { limit: 9 })) ?? [];
  await store?.close();
  return tasks.map(({ task }) => task.id);
}

/** The files of the store and their sizes. */
const filesOf = ({ database }: Places) =>
  ["", "-wal"].map((end) => statSync(`${database}${end}`, { throwIfNoEntry: false })?.size);

const losses: readonly (readonly [string, "stopped" | "killed", (database: string) => void, string])[] = [
  ["the database is deleted", "stopped", (file) => rmSync(file), "is gone, but Signalbox has already used this home"],
  [
    "the database is emptied",
    "stopped",
    (file) => truncateSync(file),
    "is empty, but Signalbox has already used this home",
  ],
  ["the database is deleted beside its log", "killed", (file) => rmSync(file), "is gone, but"],
  ["the database is emptied beside its log", "killed", (file) => truncateSync(file), "is empty, but"],
  ["the log is deleted", "killed", (file) => rmSync(`${file}-wal`), "lacks the newest"],
  ["the log is emptied", "killed", (file) => truncateSync(`${file}-wal`), "lacks the newest"],
  ["the log is cut short", "killed", (file) => truncateSync(`${file}-wal`, 4096), "lacks the newest"],
  [
    "a byte of the log is changed",
    "killed",
    (file) => {
      const log = new Uint8Array(statSync(`${file}-wal`).size).fill(0x5a);
      writeFileSync(`${file}-wal`, log);
    },
    "lacks the newest",
  ],
];

test.for(losses)(
  "when %s, the store is refused and nothing is changed; restoring a backup repairs it",
  async (loss) => {
    const [, end, lose, message] = loss;
    const places = await usedHome(end);
    expect(await tasksIn(await usedHome(end))).toEqual(["three", "two", "one"]);
    lose(places.database);
    const before = filesOf(places);
    await expect(openStore(places)).rejects.toMatchObject({
      message: expect.stringContaining(message),
      hint: expect.stringContaining(": signalbox restore\n"),
    });
    expect(filesOf(places)).toEqual(before);
    const aside = restoreBackup(places, listBackups(places)[0]?.file ?? "", now);
    expect(filesOf(homePlaces(aside))).toEqual(before);
    expect(await tasksIn(places)).toEqual(["two", "one"]);
  },
);

test("a store that lacks a single entry is refused, and a complete store is opened", async () => {
  const places = await usedHome("stopped");
  expect(await tasksIn(places)).toHaveLength(3);
  const { number = 0 } = readStoreNote(places) ?? {};
  writeStoreNote(places, { number: number + 1, projects: 1, at: now.toISOString() });
  await expect(tasksIn(places)).rejects.toMatchObject({
    code: "store.behind",
    message: expect.stringContaining(`lacks the newest 1 of ${number + 1} entries`),
  });
});

test("a missing store is also noticed by its backups or by its traces elsewhere in the home", async () => {
  for (const folder of [
    "backups/2026-01-01T00-00-00-000Z.db",
    "control/coffee.git/",
    "workspaces/coffee/one/",
    "runs/r1/",
  ]) {
    const places = newPlaces();
    const home = join(places.database, "..");
    if (folder.endsWith("/")) for (const part of parts(folder)) makePrivateFolder(join(home, part));
    else {
      makePrivateFolder(places.backups);
      writeFileSync(join(home, folder), "");
    }
    await expect(openStore(places)).rejects.toMatchObject({ code: "store.gone" });
  }
  const fresh = newPlaces();
  for (const folder of [fresh.control, fresh.workspaces, fresh.runs, fresh.run]) makePrivateFolder(folder);
  expect(await tasksIn(fresh)).toEqual([]);
});

const parts = (path: string) => path.split("/").map((_, i, all) => all.slice(0, i + 1).join("/"));

test("a person can decide once to continue with the database as it is, or to start empty", async () => {
  const places = await usedHome("killed");
  rmSync(`${places.database}-wal`);
  acceptDatabase(places, now);
  expect(await tasksIn(places)).toEqual([]);
  const other = await usedHome("stopped");
  const aside = beginEmpty(other, now);
  expect(await tasksIn(homePlaces(aside))).toEqual(["three", "two", "one"]);
  expect(await tasksIn(other)).toEqual([]);
  writeStoreNote(other, { number: 1, projects: 1, at: now.toISOString() });
  rmSync(other.database);
  await expect(openStore(other)).rejects.toMatchObject({ code: "store.gone" });
});

test("a home of an older version without a note is opened", async () => {
  const places = await usedHome("killed");
  rmSync(places.storeNote);
  expect(await tasksIn(places)).toEqual(["three", "two", "one"]);
  writeFileSync(places.storeNote, "{");
  expect([await tasksIn(places), readStoreNote(places)]).toEqual([["three", "two", "one"], undefined]);
});

test("deleting the newest task does not make a store look as if it had lost something", async () => {
  const places = newPlaces();
  const store = openSqliteStore(places.database);
  await store.addProject(sampleProject());
  for (const id of ["one", "two"]) await store.createTask("coffee", sampleTask(id));
  writeStoreNote(places, { number: await store.lastNumber(), projects: 1, at: now.toISOString() });
  await store.deleteTask("two");
  await store.close();
  expect(await tasksIn(places)).toEqual(["one"]);
});

const sinceVersion2 = [
  "drop table person_call; drop table seen; drop index child_part; alter table task drop column part",
  "drop table chat_question; alter table artifact drop column type; alter table artifact drop column state",
  "drop table work_size; alter table task drop column entered_at",
  "drop table web_key",
].join("; ");

test.for([
  [1, `drop index live_run; ${sinceVersion2}`],
  [2, sinceVersion2],
] as const)(
  "before an upgrade from version %d the store is copied, and without a copy it is not upgraded",
  async ([version, goBack]) => {
    const places = await usedHome("stopped");
    rmSync(places.backups, { recursive: true });
    const older = new DatabaseSync(places.database);
    older.exec(`${goBack}; pragma user_version = ${version}`);
    older.close();
    writeFileSync(places.backups, "A file where the copies belong.");
    await expect(openStore(places)).rejects.toThrow(places.backups);
    rmSync(places.backups);
    expect(await tasksIn(places)).toHaveLength(3);
    const [made, ...more] = listBackups(places);
    expect([made?.kind, more]).toEqual(["upgrade", []]);
    expect(statSync(made?.file ?? "").mode & 0o777).toBe(0o600);
    const copy = new DatabaseSync(made?.file ?? "", { readOnly: true });
    expect(copy.prepare("pragma user_version").get()).toEqual({ user_version: version });
    copy.close();
    expect(readdirSync(places.backups).filter((name) => name.endsWith(".part"))).toEqual([]);
  },
);

test("while a daemon has the store open no other daemon can open it, even if the lock file is gone", async () => {
  const places = newPlaces();
  const store = await openStore(places);
  onTestFinished(() => store?.close());
  expect(await openStore(places)).toBeUndefined();
});
