import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sampleProject, sampleTask } from "../../test/contracts/samples.ts";
import { createScriptedClock } from "../../test/scripted-ports.ts";
import { openSqliteStore } from "../adapters/sqlite/store.ts";
import { backupFile, listBackups } from "../home/backups.ts";
import { lookAtDatabase, readStoreNote } from "../home/database.ts";
import { makePrivateFolder } from "../home/make-folder.ts";
import { homePlaces } from "../home/places.ts";
import type { Store } from "../ports/store.ts";
import type { Log } from "../ports/system.ts";
import { createStoreKeeper } from "./guard-store.ts";

const hour = 60 * 60 * 1000;
const day = 24 * hour;

async function stage(wrap: (store: Store) => Store = (store) => store) {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-keeper-"));
  const places = homePlaces(folder);
  const store = openSqliteStore(places.database);
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const clock = createScriptedClock(Date.parse("2026-11-16T12:00:00Z"));
  const errors: string[] = [];
  const log: Log = {
    ...{ debug() {}, info() {}, warn() {}, with: () => log, close: async () => {} },
    error: (message) => void errors.push(message),
  };
  const made: Promise<unknown>[] = [];
  const wrapped = wrap(store);
  const keeper = createStoreKeeper(
    {
      ...wrapped,
      backup: (path) => {
        const copy = wrapped.backup(path);
        made.push(copy.catch(() => undefined));
        return copy;
      },
    },
    { clock, log, places },
  );
  /** Advances the clock; copies need real time. */
  const pass = async (milliseconds: number) => {
    for (let passed = 0; passed < milliseconds; passed += hour) {
      await clock.pass(Math.min(hour, milliseconds - passed));
      await Promise.all(made.splice(0));
      await clock.pass(0);
    }
  };
  return { places, store, clock, keeper, pass, errors };
}

test("a store with a project is copied once a day, seven copies are kept, and copies that a person made are kept", async () => {
  const { places, store, keeper, pass } = await stage();
  keeper.start();
  await pass(2 * hour);
  expect(listBackups(places)).toEqual([]);
  await store.addProject(sampleProject());
  await pass(hour);
  expect(listBackups(places).map(({ kind }) => kind)).toEqual(["daily"]);
  writeFileSync(join(places.backups, "2020-01-01T00-00-00-000Z.db"), "a person's");
  await store.createTask("coffee", sampleTask("one"));
  await pass(9 * day);
  const kinds = listBackups(places).map(({ kind }) => kind);
  expect(kinds).toEqual([...Array.from({ length: 7 }, () => "daily"), "asked"]);
  const [newest] = listBackups(places);
  expect(lookAtDatabase(newest?.file ?? "")).toMatchObject({ projects: 1, tasks: 1 });
  expect(statSync(newest?.file ?? "").mode & 0o777).toBe(0o600);
  expect(readdirSync(places.backups).filter((name) => !name.endsWith(".db"))).toEqual([]);
  await keeper.stop();
});

test("a backup that fails is logged, and retried an hour later", async () => {
  let isFull = true;
  const { places, store, keeper, pass, errors } = await stage((whole) => ({
    ...whole,
    backup: (path) => (isFull ? Promise.reject(new Error("full")) : whole.backup(path)),
  }));
  await store.addProject(sampleProject());
  keeper.start();
  await pass(hour);
  expect([errors, listBackups(places)]).toEqual([["The daily backup failed"], []]);
  isFull = false;
  await pass(hour);
  expect(listBackups(places)).toHaveLength(1);
  await keeper.stop();
});

test("the position of the store is noted a second after a write, and when it is closed", async () => {
  const { places, store, clock, keeper } = await stage();
  keeper.start();
  await clock.pass(0);
  expect(readStoreNote(places)).toMatchObject({ number: 0, projects: 0 });
  await store.addProject(sampleProject());
  await store.createTask("coffee", sampleTask("one"));
  keeper.written();
  keeper.written();
  await clock.pass(1_000);
  const number = await store.lastNumber();
  expect(readStoreNote(places)).toMatchObject({ number, projects: 1 });
  await store.createTask("coffee", sampleTask("two"));
  keeper.written();
  await keeper.stop();
  expect(readStoreNote(places)?.number).toBeGreaterThan(number);
});

test("a clock that was set back prevents no backup", async () => {
  const { places, store, clock, keeper, pass } = await stage();
  await store.addProject(sampleProject());
  makePrivateFolder(places.backups);
  writeFileSync(backupFile(places, clock.now() + 400 * day, "daily"), "of a year to come");
  keeper.start();
  await pass(hour);
  expect(listBackups(places).map(({ kind }) => kind)).toEqual(["daily", "daily"]);
  await keeper.stop();
});

test("a lost store is copied once, as a person's backup, and nothing is written from then on", async () => {
  const { places, store, keeper, pass } = await stage();
  await store.addProject(sampleProject());
  keeper.start();
  await keeper.rescue();
  const before = readStoreNote(places);
  await store.createTask("coffee", sampleTask("one"));
  keeper.written();
  await pass(3 * day);
  await keeper.stop();
  expect(listBackups(places).map(({ kind }) => kind)).toEqual(["asked"]);
  expect(readStoreNote(places)).toEqual(before);
});
