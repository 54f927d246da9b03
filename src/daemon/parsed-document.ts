import { parseTaskDocument, type TaskDocument } from "../engine/task-document.ts";
import type { StoredDocument } from "../ports/store.ts";

const known = new WeakMap<StoredDocument, TaskDocument>();

/** A stored document, taken apart. That is done once for each: several decisions look at the same one. */
export function parsedDocument(document: StoredDocument): TaskDocument {
  const before = known.get(document);
  if (before !== undefined) return before;
  const parsed = parseTaskDocument(document.text);
  known.set(document, parsed);
  return parsed;
}

/** Remembers what a document is made of, where that is known already. */
export function madeOf(document: StoredDocument, parsed: TaskDocument): StoredDocument {
  known.set(document, parsed);
  return document;
}
