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

/** Of so many texts, and up to this length, is known what they are made of. */
const mostTexts = 100;
const longestText = 50_000;
const texts = new Map<string, TaskDocument>();

/** A task file, taken apart. It is read with every request of its task, and is mostly the one that was read before. */
export function parsedText(text: string): TaskDocument {
  const before = texts.get(text);
  if (before !== undefined) return before;
  const parsed = parseTaskDocument(text);
  // The oldest of a Map comes first.
  const [oldest] = texts.keys();
  if (texts.size >= mostTexts && oldest !== undefined) texts.delete(oldest);
  if (text.length <= longestText) texts.set(text, parsed);
  return parsed;
}

/** Remembers what a document is made of, where that is known already. */
export function madeOf(document: StoredDocument, parsed: TaskDocument): StoredDocument {
  known.set(document, parsed);
  return document;
}
