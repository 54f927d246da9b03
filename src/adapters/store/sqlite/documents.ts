import type { DatabaseSync } from "node:sqlite";
import type { Store, StoredDocument } from "../../../ports/store.ts";
import { taskMissing } from "../faults.ts";
import type { History } from "./history.ts";
import { prepareReading } from "./reading.ts";
import type { Read, Write } from "./writer.ts";

/** The texts of tasks. `put` belongs to the transaction of its caller. */
interface Documents extends Pick<Store, "saveDocument" | "getDocument"> {
  put(task: string, document: StoredDocument): void;
}

export function createDocuments(database: DatabaseSync, read: Read, write: Write, { append }: History): Documents {
  const upsert = database.prepare(
    `insert into document (task, text, authors) select position, ?, ? from task where id = ?
     on conflict do update set text = excluded.text, authors = excluded.authors`,
  );
  const select = prepareReading<[text: string, authors: string]>(
    database,
    "select text, authors from document where task = (select position from task where id = ?)",
  );
  const put = (task: string, { text, authors }: StoredDocument) => {
    if (upsert.run(text, JSON.stringify(authors), task).changes === 0) throw taskMissing(task);
  };
  return {
    put,
    saveDocument: (task, document, events, at) =>
      write(() => {
        put(task, document);
        append(task, events, at);
      }),
    getDocument: (task) =>
      read(() => {
        const [text, authors] = select.get(task) ?? ["", "{}"];
        return { text, authors: JSON.parse(authors) as StoredDocument["authors"] };
      }),
  };
}
