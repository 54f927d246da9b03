import { backup, DatabaseSync } from "node:sqlite";
import { Fault } from "../../../fault.ts";
import type { Store } from "../../../ports/store.ts";
import { createArtifacts } from "./artifacts.ts";
import { createEffects } from "./effects.ts";
import { createEvents } from "./events.ts";
import { migrations } from "./migrations.ts";
import { createProjects } from "./projects.ts";
import { toFault } from "./store-fault.ts";
import { createTasks } from "./tasks.ts";
import { createWorkflows } from "./workflows.ts";
import { createWriter } from "./writer.ts";

/** Opens the store in a file, creating or upgrading it. One process has it open at a time; the daemon sees to that. */
export function openSqliteStore(path: string): Store {
  const database = open(path);
  const { write, flush } = createWriter(database, path);
  const events = createEvents(database);
  const effects = createEffects(database, write);
  const artifacts = createArtifacts(database, write);
  const { add: _addEvents, ...eventReads } = events;
  const { add: _addEffects, drop: _drop, ...effectOperations } = effects;
  const { add: _addArtifact, ...artifactOperations } = artifacts;
  return {
    ...createProjects(database, write),
    ...createWorkflows(database, write),
    ...createTasks(database, write, { events, effects, artifacts }),
    ...eventReads,
    ...effectOperations,
    ...artifactOperations,
    check: async () => {
      const damage = database
        .prepare("pragma integrity_check")
        .all()
        .map((row) => String(row.integrity_check));
      const loose = database
        .prepare("pragma foreign_key_check")
        .all()
        .map((row) => `A row of ${String(row.table)} belongs to nothing.`);
      return [...damage.filter((line) => line !== "ok"), ...loose];
    },
    backup: async (target) => {
      flush();
      await backup(database, target);
    },
    close: async () => {
      flush();
      database.close();
    },
  };
}

function open(path: string): DatabaseSync {
  try {
    const database = new DatabaseSync(path, { timeout: 5_000, enableForeignKeyConstraints: true });
    database.exec("pragma journal_mode = wal");
    // NORMAL would lose acknowledged transitions with the power; the setting belongs to the connection, not to the file.
    database.exec("pragma synchronous = full");
    migrate(database, path);
    return database;
  } catch (error) {
    throw toFault(error, path);
  }
}

function migrate(database: DatabaseSync, path: string): void {
  const version = Number(database.prepare("pragma user_version").get()?.user_version);
  if (version > migrations.length) {
    throw new Fault(
      "store.newer",
      `The store ${path} was written by a newer Signalbox (version ${version}; this one knows ${migrations.length}).`,
      {
        hint: "Update Signalbox, or restore a backup from before the update.",
      },
    );
  }
  for (const [index, script] of migrations.entries()) {
    if (index < version) continue;
    database.exec(`begin immediate; ${script}; pragma user_version = ${index + 1}; commit`);
  }
}
