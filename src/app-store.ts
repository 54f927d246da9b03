import { DatabaseSync } from "node:sqlite";
import { newestVersion } from "./adapters/store/sqlite/connect.ts";
import { copyDatabase } from "./adapters/store/sqlite/copy-database.ts";
import { openSqliteStore } from "./adapters/store/sqlite/open.ts";
import { Fault } from "./fault.ts";
import { backupFile, pruneBackups, restoreHint } from "./home/backups.ts";
import { lookAtDatabase } from "./home/database.ts";
import { makePrivateFolder } from "./home/make-folder.ts";
import type { Places } from "./home/places.ts";
import { storeLoss } from "./home/store-loss.ts";
import type { Store } from "./ports/store.ts";

/**
 * Opens the daemon's store. Where it has lost something or is damaged nothing is begun before a person has decided: what
 * is built on damaged pages would be damaged too. Before a new version changes its form it is copied. Undefined where another
 * process has the database open: a daemon whose lock file was deleted.
 */
export async function openStore(places: Places): Promise<Store | undefined> {
  const loss = storeLoss(places);
  if (loss?.code === "store.busy") return undefined;
  if (loss !== undefined) throw loss;
  try {
    await backUpBeforeUpgrade(places);
    const store = openSqliteStore(places.database, { isExclusive: true });
    const [damage] = await store.check();
    if (damage === undefined) return store;
    await store.close();
    throw new Fault("store.corrupt", `The store ${places.database} is damaged: ${damage}`);
  } catch (error) {
    if (error instanceof Fault && error.code === "store.busy") return undefined;
    if (!(error instanceof Fault) || error.code !== "store.corrupt") throw error;
    throw new Fault(error.code, error.message, { hint: restoreHint(places), cause: error });
  }
}

async function backUpBeforeUpgrade(places: Places): Promise<void> {
  const version = versionOf(places.database);
  if (version === 0 || version >= newestVersion) return;
  makePrivateFolder(places.backups);
  const database = new DatabaseSync(places.database, { readOnly: true, timeout: 5_000 });
  try {
    await copyDatabase(database, backupFile(places, Date.now(), "upgrade"));
  } finally {
    database.close();
  }
  pruneBackups(places, "upgrade");
}

/** 0 where there is no database yet, or one that SQLite cannot read; that is told when it is opened. */
function versionOf(database: string): number {
  try {
    return lookAtDatabase(database).version;
  } catch {
    return 0;
  }
}
