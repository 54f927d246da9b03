import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { backup, type DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { syncFolder } from "../../durable-file.ts";
import { Fault } from "../../fault.ts";
import type { Merge } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import { type Connecting, connect, createWriter, type Read, toFault } from "./connection.ts";
import { createEffects, createOwing } from "./effects.ts";
import { checkHistory, createEvents, createHistory } from "./history.ts";
import {
  createArtifacts,
  createCollections,
  createProjects,
  createPut,
  createWebKeys,
  createWorkflows,
} from "./records.ts";
import { createDocuments, createLists, createTasks } from "./tasks.ts";

/** Opens the store in a file, creating or upgrading it. Only one process may have it open; the daemon ensures that. */
export function openSqliteStore(path: string, options: Connecting = {}): Store {
  return createSqliteStore(connect(path, options), path);
}

/** The store on a connection, which it owns from now on. */
export function createSqliteStore(database: DatabaseSync, path: string): Store {
  const { write, flush } = createWriter(database, path);
  const read: Read = async (run) => {
    try {
      return run();
    } catch (error) {
      throw toFault(error, path);
    }
  };
  const history = createHistory(database);
  const owing = createOwing(database);
  const { put: putDocument, ...documents } = createDocuments(database, read, write, history);
  const { add: addArtifact, ...artifacts } = createArtifacts(database, read, write);
  return {
    ...createProjects(database, read, write, history),
    ...createWorkflows(database, read, write),
    ...createTasks(database, write, { history, owing, putDocument, addArtifact }),
    ...createLists(database, read),
    ...documents,
    ...createEvents(database, read, write, history, createPut<Merge>(database, "merge")),
    ...createEffects(database, read, write, owing, history),
    ...artifacts,
    ...createCollections(database, read, write),
    ...createWebKeys(database, read, write),
    ...createUpkeep(database, path, flush),
  };
}

/** Operations on the whole file. */
function createUpkeep(
  database: DatabaseSync,
  path: string,
  flush: () => void,
): Pick<Store, "check" | "backup" | "close"> {
  let backups: Promise<unknown> = Promise.resolve();
  return {
    check: async () => {
      try {
        const rows = database.prepare("pragma integrity_check").all();
        const damage = rows.map((row) => String(row.integrity_check)).filter((line) => line !== "ok");
        const loose = database.prepare("pragma foreign_key_check").all();
        const lost = loose.map((row) => `A row of ${String(row.table)} refers to a missing record.`);
        return [...damage, ...lost, ...checkHistory(database)];
      } catch (error) {
        const fault = toFault(error, path);
        if (fault instanceof Fault && fault.code === "store.corrupt") return [fault.message];
        throw fault;
      }
    },
    backup: (target) => {
      const made = backups.then(() => copyDatabase(database, target));
      backups = made.catch(() => undefined);
      return made;
    },
    close: async () => {
      flush();
      await backups;
      if (database.isOpen) database.close();
    },
  };
}

/**
 * Copies a snapshot of a database into a new private file. The copy gets its name only after an integrity check, so a
 * partial copy never has the name of a complete one.
 */
export async function copyDatabase(database: DatabaseSync, target: string): Promise<void> {
  const part = `${target}.part`;
  try {
    await rm(part, { force: true });
    // SQLite would create the file with the umask's permissions.
    await (await open(part, "wx", 0o600)).close();
    await backup(database, part);
    const problem = await problemOf(part);
    if (problem !== "") {
      throw new Fault("store.bad-copy", `The copy of the store for ${target} is damaged: ${problem}.`, {
        hint: "The store or the disk may be damaged. Check them: signalbox doctor",
      });
    }
    await rename(part, target);
    await syncFolder(dirname(target));
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined);
    throw toFault(error, target);
  }
}

/** Checks a copy; empty if it is sound. In a worker thread, because a large copy takes seconds. */
function problemOf(file: string): Promise<string> {
  const url = pathToFileURL(file);
  url.searchParams.set("immutable", "1");
  return new Promise((resolve, reject) => {
    const worker = new Worker(check, { eval: true, workerData: url.href });
    worker.once("message", (problem: string) => resolve(problem));
    worker.once("error", reject);
  });
}

const check = `
const { parentPort, workerData } = require("node:worker_threads");
const { DatabaseSync } = require("node:sqlite");
try {
  const database = new DatabaseSync(new URL(workerData), { readOnly: true });
  const [{ integrity_check: first }] = database.prepare("pragma integrity_check(1)").all();
  parentPort.postMessage(first === "ok" ? "" : String(first));
} catch (error) {
  parentPort.postMessage(error.message);
}
`;
