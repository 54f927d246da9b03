import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Store } from "../../ports/store.ts";
import type { WorkspaceKind } from "../../ports/workspaces.ts";
import { foldersOf } from "./task-files.ts";

/** Writes the documents that the task's runs have handed over into each folder in which a run of the task works. */
export async function placeDocuments(store: Store, kind: WorkspaceKind, task: Task): Promise<void> {
  const { id, documents = [] } = task;
  if (documents.length === 0) return;
  const folders = await foldersOf(store, task);
  for (const { file, title, sha256 } of documents) {
    const text = await store.artifactText(id, sha256);
    // The text is saved in the transaction that names it.
    if (text === undefined)
      throw new Fault("store.missing", `The text of the document "${title}" is not in the store.`, {
        hint: "The store may be damaged. Check it: signalbox doctor",
      });
    for (const folder of folders) await kind.placeDocument(folder, file, text);
  }
}
