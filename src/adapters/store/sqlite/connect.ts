import { DatabaseSync } from "node:sqlite";
import { Fault } from "../../../fault.ts";
import { migrations } from "./migrations.ts";
import { toFault } from "./store-fault.ts";

export interface Connecting {
  /** No other process can open the file while this one has it: the daemon's second lock, which no deletion takes away. */
  readonly isExclusive?: boolean;
}

/** The version that a database has after it was opened. */
export const newestVersion = migrations.length;

/** Opens the database in a file, creating or upgrading it. */
export function connect(path: string, { isExclusive = false }: Connecting = {}): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 5_000, enableForeignKeyConstraints: true });
    // Before anything is read: the lock is taken with the first access, and kept.
    if (isExclusive) database.exec("pragma locking_mode = exclusive");
    database.exec("pragma journal_mode = wal");
    // NORMAL would lose acknowledged transitions with the power; the setting belongs to the connection, not to the file.
    database.exec("pragma synchronous = full");
    migrate(database, path);
    return database;
  } catch (error) {
    database?.close();
    throw toFault(error, path);
  }
}

function migrate(database: DatabaseSync, path: string): void {
  const version = Number(database.prepare("pragma user_version").get()?.user_version);
  const known = migrations.length;
  if (version > known) {
    const message = `The store ${path} was written by a newer Signalbox (version ${version}; this one knows ${known}).`;
    throw new Fault("store.newer", message, { hint: "Update Signalbox, or restore a backup from before the update." });
  }
  for (const [index, script] of migrations.entries()) {
    if (index < version) continue;
    database.exec(`begin immediate; ${script}; pragma user_version = ${index + 1}; commit`);
  }
  // The new form must be in the file itself: a log that somebody deletes must not leave a database without tables.
  if (version < known) database.exec("pragma wal_checkpoint(truncate)");
}
