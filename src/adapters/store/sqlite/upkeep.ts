import type { DatabaseSync } from "node:sqlite";
import { Fault } from "../../../fault.ts";
import type { Store } from "../../../ports/store.ts";
import { checkHistory } from "./check-history.ts";
import { copyDatabase } from "./copy-database.ts";
import { toFault } from "./store-fault.ts";

/** What is done to the file as a whole. */
export function createUpkeep(
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
        const lost = loose.map((row) => `A row of ${String(row.table)} belongs to nothing.`);
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
