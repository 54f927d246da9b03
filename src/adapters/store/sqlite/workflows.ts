import type { DatabaseSync } from "node:sqlite";
import type { Store } from "../../../ports/store.ts";
import type { Read, Write } from "./writer.ts";

export function createWorkflows(
  database: DatabaseSync,
  read: Read,
  write: Write,
): Pick<Store, "saveWorkflow" | "getWorkflow"> {
  const insert = database.prepare("insert into workflow (hash, name, text) values (?, ?, ?) on conflict do nothing");
  const select = database.prepare("select name, text from workflow where hash = ?");
  return {
    saveWorkflow: ({ hash, name, text }) => write(() => void insert.run(hash, name, text)),
    getWorkflow: (hash) =>
      read(() => {
        const row = select.get(hash);
        return row === undefined ? undefined : { hash, name: String(row.name), text: String(row.text) };
      }),
  };
}
