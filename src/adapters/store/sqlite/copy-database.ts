import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { backup, type DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { Fault } from "../../../fault.ts";
import { syncFolder } from "../../sync-folder.ts";
import { toFault } from "./store-fault.ts";

/**
 * Copies a database, as it is at one moment, into a new file that only its owner can read. The copy gets its name only
 * after it was opened and found sound: half a copy never has the name of a whole one.
 */
export async function copyDatabase(database: DatabaseSync, target: string): Promise<void> {
  const part = `${target}.part`;
  try {
    await rm(part, { force: true });
    // SQLite would create it as the umask says.
    await (await open(part, "wx", 0o600)).close();
    await backup(database, part);
    const problem = await problemOf(part);
    if (problem !== "") {
      throw new Fault("store.bad-copy", `The copy of the store for ${target} is damaged: ${problem}.`, {
        hint: "The store or the disk may be damaged. Look: signalbox doctor",
      });
    }
    await rename(part, target);
    await syncFolder(dirname(target));
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined);
    throw toFault(error, target);
  }
}

/** What is wrong with a copy; empty where it is sound. In a thread of its own: a large one takes seconds. */
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
