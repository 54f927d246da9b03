import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { publishFile } from "../durable-file.ts";
import type { Places } from "./places.ts";

/** A summary of a database file. */
export interface DatabaseLook {
  /** The version of its schema; 0 if nothing was ever stored in it. */
  readonly version: number;
  /** The last number given to an event or an effect. It never decreases, whatever is deleted. */
  readonly number: number;
  readonly projects: number;
  readonly tasks: number;
}

/** Reads the summary of a database that no daemon uses, without writing to it. Throws SQLite's errors. */
export function lookAtDatabase(file: string): DatabaseLook {
  return readDatabase(file, (database) => {
    const numberOf = (sql: string) => Number(Object.values(database.prepare(sql).get() ?? {})[0] ?? 0);
    const version = numberOf("pragma user_version");
    if (version === 0) return { version, number: 0, projects: 0, tasks: 0 };
    return {
      version,
      number: numberOf("select max(id) from history"),
      projects: numberOf("select count(*) from project"),
      tasks: numberOf("select count(*) from task"),
    };
  });
}

/** The result of SQLite's integrity check of pages and indexes; empty if the file is intact. */
export function damageOf(database: DatabaseSync): readonly string[] {
  const rows = database.prepare("pragma integrity_check").all();
  return rows.map((row) => String(row.integrity_check)).filter((line) => line !== "ok");
}

/** Opens the database read-only for `read`, including the content of its log, and leaves no new file beside it. */
export function readDatabase<T>(file: string, read: (database: DatabaseSync) => T): T {
  // SQLite deletes the log of an empty file, whatever the log contains.
  if (sizeOf(`${file}-wal`) === 0 || sizeOf(file) === 0) return readWith(immutable(file), read);
  try {
    return readWith(file, read);
  } catch (error) {
    // SQLite cannot read a log in a folder without write permission, so read a copy elsewhere.
    if (!cannotWrite.includes(((error as { errcode?: number }).errcode ?? 0) & 0xff)) throw error;
    return readCopy(file, read);
  }
}

/** SQLite's READONLY and CANTOPEN. */
const cannotWrite = [8, 14];

function readWith<T>(file: string | URL, read: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 1_000 });
  try {
    return read(database);
  } finally {
    database.close();
  }
}

function readCopy<T>(file: string, read: (database: DatabaseSync) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-database-"));
  try {
    const copy = join(folder, basename(file));
    for (const end of ["", "-wal"]) copyFileSync(`${file}${end}`, `${copy}${end}`);
    return readWith(copy, read);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Opens without locks and without files beside it. No process may write to the file meanwhile. */
function immutable(file: string): URL {
  const url = pathToFileURL(file);
  url.searchParams.set("immutable", "1");
  return url;
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** How many entries the store had when this note was last written beside it. A store with fewer has lost some. */
export interface StoreNote {
  /** The last number given to an event or an effect. */
  readonly number: number;
  readonly projects: number;
  /** ISO. */
  readonly at: string;
  /** A person has decided to start with an empty database. */
  readonly isEmptyOnPurpose?: boolean;
}

/** Undefined if there is no readable note. */
export function readStoreNote({ storeNote }: Pick<Places, "storeNote">): StoreNote | undefined {
  try {
    const { number, projects, at, isEmptyOnPurpose } = JSON.parse(readFileSync(storeNote, "utf8")) as StoreNote;
    if (typeof number !== "number" || typeof projects !== "number" || typeof at !== "string") return undefined;
    return { number, projects, at, ...(isEmptyOnPurpose === true ? { isEmptyOnPurpose } : {}) };
  } catch {
    return undefined;
  }
}

/** Writes the note durably; for single events, such as a restore. */
export function writeStoreNote({ storeNote }: Pick<Places, "storeNote">, note: StoreNote): void {
  publishFile(storeNote, `${JSON.stringify(note)}\n`, { mode: 0o600 });
}

/**
 * Writes the note without fsync; for the update every second. After a power cut an older note may be left, which
 * detects fewer losses but never reports a false one.
 */
export function updateStoreNote({ storeNote }: Pick<Places, "storeNote">, note: StoreNote): void {
  const draft = `${storeNote}.draft`;
  try {
    writeFileSync(draft, `${JSON.stringify(note)}\n`, { mode: 0o600 });
    renameSync(draft, storeNote);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
