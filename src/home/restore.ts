import { closeSync, copyFileSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { Fault } from "../fault.ts";
import { type DatabaseLook, damageOf, lookAtDatabase, readDatabase } from "./database.ts";
import { isLocked, takeLock } from "./lock.ts";
import { makePrivateFolder } from "./make-folder.ts";
import type { Places } from "./places.ts";
import { syncFolder } from "./publish-file.ts";
import { writeStoreNote } from "./store-note.ts";

/** Puts a backup in the place of the database. Gives the folder in which what was there is set aside; empty for nothing. */
export function restoreBackup(places: Places, backup: string, now: Date): string {
  const found = soundDatabase(backup);
  return alone(places, () => {
    // Copied before anything is touched: the disk may be full.
    const draft = `${places.database}.restored`;
    rmSync(draft, { force: true });
    copyDurably(backup, draft);
    const aside = setAside(places, now);
    renameSync(draft, places.database);
    syncFolder(dirname(places.database));
    writeStoreNote(places, noteOf(found, now));
    return aside;
  });
}

/** Sets the database aside; the next daemon begins with nothing. Gives the folder; empty where there was nothing. */
export function beginEmpty(places: Places, now: Date): string {
  return alone(places, () => {
    const aside = setAside(places, now);
    writeStoreNote(places, { number: 0, projects: 0, at: now.toISOString(), isEmptyOnPurpose: true });
    return aside;
  });
}

/** The database counts as whole, although it has less than was noted. */
export function acceptDatabase(places: Places, now: Date): void {
  const found = soundDatabase(places.database);
  if (found.version === 0) {
    throw new Fault("store.empty", `There is nothing in ${places.database}.`, {
      hint: "To begin with nothing: signalbox restore --empty",
    });
  }
  alone(places, () => writeStoreNote(places, noteOf(found, now)));
}

/** What is in a database that can be opened and is sound; otherwise a fault that says why not. */
export function soundDatabase(file: string): DatabaseLook {
  if (!existsSync(file)) {
    throw new Fault("not-found", `There is no file ${file}.`, { hint: "See what there is: signalbox restore --list" });
  }
  try {
    const [damage] = readDatabase(file, damageOf);
    if (damage === undefined) return lookAtDatabase(file);
    throw new Error(damage);
  } catch (error) {
    throw new Fault("store.corrupt", `${file} is no sound database: ${(error as Error).message}.`, {
      hint: "Choose another one: signalbox restore --list",
      cause: error,
    });
  }
}

function noteOf({ number, projects }: DatabaseLook, now: Date) {
  return { number, projects, at: now.toISOString() };
}

/** With the daemon's lock: nobody may use the database meanwhile, and no daemon may start. */
function alone<T>(places: Places, run: () => T): T {
  for (const folder of [dirname(places.database), places.run]) makePrivateFolder(folder);
  const lock = takeLock(places.lock);
  if (lock === undefined) throw inUse();
  try {
    return run();
  } finally {
    lock.release();
  }
}

/** To be asked before a person is: what they would agree to could not be done. */
export function refuseInUse(places: Places): void {
  if (isLocked(places.lock)) throw inUse();
}

function inUse(): Fault {
  return new Fault("daemon.running", "The daemon runs, and uses the database.", {
    hint: "Stop it first: signalbox down",
  });
}

/** Moves the database and what belongs to it into a folder of its own. The log is played into whatever it lies beside. */
function setAside({ database, storeNote, setAside: folder }: Places, now: Date): string {
  const files = [database, `${database}-wal`, `${database}-shm`, storeNote].filter((file) => existsSync(file));
  if (files.length === 0) return "";
  const target = join(folder, now.toISOString().replace(/[:.]/g, "-"));
  for (const each of [folder, target]) makePrivateFolder(each);
  for (const file of files) renameSync(file, join(target, file.slice(dirname(file).length + 1)));
  for (const each of [target, dirname(database)]) syncFolder(each);
  return target;
}

function copyDurably(from: string, to: string): void {
  try {
    copyFileSync(from, to);
    const descriptor = openSync(to, "r+");
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    rmSync(to, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    throw new Fault("unwritable", `${to} cannot be written (${code}). Nothing was changed.`, {
      hint: "Look at the folder's permissions and at the free space.",
      cause: error,
    });
  }
}
