import {
  bodyOf,
  parseTaskDocument,
  type Section,
  type TaskDocument,
  takeSections,
  withSection,
} from "../documents/task-document.ts";
import { ownsSection } from "../engine/gate.ts";
import type { Actor } from "../engine/request.ts";
import type { Workflow } from "../engine/workflow.ts";
import type { Author, Store, StoredDocument, StoredTask } from "../ports/store.ts";
import type { Core } from "./core.ts";

interface Written {
  readonly document: StoredDocument;
  /** The sections that have changed. */
  readonly changed: readonly string[];
  /** Sections that differ, but that the writer may not change. */
  readonly ignored: readonly string[];
}

/**
 * Stored without frontmatter: a body that begins with a ruler must not be taken for frontmatter when it is read again.
 */
export function storedAs(document: TaskDocument, authors: StoredDocument["authors"]): StoredDocument {
  const text = bodyOf(document);
  return /^\uFEFF?---/.test(text) ? { text: `\n${text}`, authors } : madeOf({ text, authors }, document);
}

/**
 * The document after a task file is handed in. A person's file replaces it. From a run's file only the run's own
 * sections are taken; the rest is no evidence of anything.
 */
export function writeDocument(
  workflow: Workflow,
  before: StoredDocument,
  text: string,
  { role, run = "" }: Actor,
  commit: string,
): Written {
  const old = parsedDocument(before);
  const given = parsedText(text);
  const differs = (heading: string) =>
    old.byHeading.get(heading)?.fingerprint !== given.byHeading.get(heading)?.fingerprint;
  const headings = [...new Set([...given.byHeading.keys(), ...old.byHeading.keys()])].filter(differs);
  const isPerson = role === "human";
  const own = headings.filter((heading) => isPerson || ownsSection(workflow, role, heading));
  const isOwn = new Set(own);
  const after = isPerson ? given : takeSections(old, given, own);
  const changed = own.filter((heading) => isPerson || given.byHeading.has(heading));
  const isChanged = new Set(changed);
  const authors: Record<string, Author> = Object.create(null);
  for (const [heading, section] of after.byHeading) {
    const known = Object.hasOwn(before.authors, heading) ? before.authors[heading] : undefined;
    if (isChanged.has(heading)) authors[heading] = { role, run, commit, fingerprint: section.fingerprint };
    else if (known !== undefined) authors[heading] = known;
  }
  return {
    document: storedAs(after, authors),
    changed,
    ignored: headings.filter((heading) => !isOwn.has(heading) && given.byHeading.has(heading)),
  };
}

/** Text that is appended to a section. */
export interface Addition {
  readonly section: string;
  readonly text: string;
  /** Milliseconds since 1970, so that additions can be told apart. */
  readonly at: number;
  /** The author of the words, if not the caller. */
  readonly by?: string;
}

/** Appends to a section. Everything else stays. */
export function addToSection(
  before: StoredDocument,
  { section, text, at, by }: Addition,
  { role, run = "" }: Actor,
  commit: string,
): Written {
  const old = parsedDocument(before);
  const title = `### ${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  const present = old.byHeading.get(section)?.body ?? "";
  const after = withSection(old, section, [...(present === "" ? [] : [present]), title, text.trim()].join("\n\n"));
  const fingerprint = after.byHeading.get(section)?.fingerprint ?? "";
  const author = { role: by ?? role, run, commit, fingerprint };
  return { document: storedAs(after, { ...before.authors, [section]: author }), changed: [section], ignored: [] };
}

const known = new WeakMap<StoredDocument, TaskDocument>();

/** A parsed stored document. Each is parsed once, because several decisions read the same one. */
export function parsedDocument(document: StoredDocument): TaskDocument {
  const before = known.get(document);
  if (before !== undefined) return before;
  const parsed = parseTaskDocument(document.text);
  known.set(document, parsed);
  return parsed;
}

/** The limits of the cache of parsed texts. */
const maxTexts = 100;
const maxTextLength = 50_000;
const texts = new Map<string, TaskDocument>();

/** A parsed task file. It is read with every request of its task, and mostly unchanged. */
function parsedText(text: string): TaskDocument {
  const before = texts.get(text);
  if (before !== undefined) return before;
  const parsed = parseTaskDocument(text);
  // The first key of a Map is the oldest.
  const [oldest] = texts.keys();
  if (texts.size >= maxTexts && oldest !== undefined) texts.delete(oldest);
  if (text.length <= maxTextLength) texts.set(text, parsed);
  return parsed;
}

/** Caches the parsed form of a document, where it is known already. */
function madeOf(document: StoredDocument, parsed: TaskDocument): StoredDocument {
  known.set(document, parsed);
  return document;
}

/** The document of a new task: its context, and the document of the task that it continues. */
export async function firstDocument(
  { store }: Core,
  workflow: Workflow,
  context: string | undefined,
  from: StoredTask | undefined,
): Promise<StoredDocument> {
  const before = from === undefined ? noDocument : await continuedDocument(store, workflow, from);
  if (context === undefined || context.trim() === "") return before;
  const document = withSection(parseTaskDocument(before.text), "Context", context);
  const fingerprint = document.byHeading.get("Context")?.fingerprint ?? "";
  const author = { role: "human", run: "", commit: "", fingerprint };
  return { text: bodyOf(document), authors: { ...before.authors, Context: author } };
}

const noDocument: StoredDocument = { text: "", authors: {} };

/**
 * The document of a continued task. The sections that its agents wrote for a gate were about their own work: they move
 * below one heading, so that no earlier verdict is in a section where the new agents must write theirs.
 */
async function continuedDocument(store: Store, { sections }: Workflow, { task }: StoredTask): Promise<StoredDocument> {
  const { text, authors } = await store.getDocument(task.id);
  const document = parseTaskDocument(text);
  const isEarlier = ({ heading }: Section) =>
    heading === earlierHeading || (sections.includes(heading) && authors[heading]?.role !== "human");
  const written = document.sections.filter((section) => isEarlier(section) && section.body !== "");
  if (written.length === 0) return { text, authors };
  const parts = written.map(({ heading, body }) => (heading === earlierHeading ? body : `### ${heading}\n\n${body}`));
  const kept = parseTaskDocument(
    [document.preamble, ...document.sections.filter((each) => !isEarlier(each)).map(({ source }) => source)].join(""),
  );
  const body = `Written by the agents of ${task.project}#${task.number}.\n\n${parts.join("\n\n")}`;
  const remaining = Object.entries(authors).filter(([heading]) => kept.byHeading.has(heading));
  return { text: bodyOf(withSection(kept, earlierHeading, body)), authors: Object.fromEntries(remaining) };
}

const earlierHeading = "Earlier work";
