import { copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

/** What a database file says about itself. */
export interface DatabaseLook {
  /** Of its form; 0 where nothing was ever stored in it. */
  readonly version: number;
  /** The last number given to an event or an effect. It never goes down, whatever is deleted. */
  readonly number: number;
  readonly projects: number;
  readonly tasks: number;
}

/** Looks into a database that no daemon uses. The file is not written to. Throws what SQLite says. */
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

/** What is wrong with the file's pages and indexes; empty where it is sound. */
export function damageOf(database: DatabaseSync): readonly string[] {
  const rows = database.prepare("pragma integrity_check").all();
  return rows.map((row) => String(row.integrity_check)).filter((line) => line !== "ok");
}

/** Gives `read` the database as it is, with what stands in its log, and leaves no file beside it. */
export function readDatabase<T>(file: string, read: (database: DatabaseSync) => T): T {
  // SQLite deletes the log of an empty file, whatever stands in it.
  if (sizeOf(`${file}-wal`) === 0 || sizeOf(file) === 0) return readWith(immutable(file), read);
  try {
    return readWith(file, read);
  } catch (error) {
    // SQLite cannot read a log in a folder in which it may not write: then a copy elsewhere is read.
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

/** Without locks and without files beside it: nobody writes to it meanwhile. */
function immutable(file: string): URL {
  const url = pathToFileURL(file);
  url.searchParams.set("immutable", "1");
  return url;
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
