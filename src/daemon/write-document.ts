import { ownsSection } from "../engine/ownership.ts";
import type { Actor } from "../engine/request.ts";
import { bodyOf, type TaskDocument, takeSections, withSection } from "../engine/task-document.ts";
import type { Workflow } from "../engine/workflow.ts";
import type { Author, StoredDocument } from "../ports/store.ts";
import { madeOf, parsedDocument, parsedText } from "./parsed-document.ts";

export interface Written {
  readonly document: StoredDocument;
  /** The sections that are others than before. */
  readonly changed: readonly string[];
  /** Sections that differ but are not the writer's to change. */
  readonly ignored: readonly string[];
}

/** Stored without frontmatter: a body that begins with a ruler must not be taken for one when it is read again. */
export function storedAs(document: TaskDocument, authors: StoredDocument["authors"]): StoredDocument {
  const text = bodyOf(document);
  return /^\uFEFF?---/.test(text) ? { text: `\n${text}`, authors } : madeOf({ text, authors }, document);
}

/**
 * What a document becomes when somebody hands in a task file. A person's replaces it. Of a run only the sections that
 * are its own are taken: whatever else it wrote into its file is not evidence of anything.
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

/** Something that is said below what stands in a section already. */
export interface Addition {
  readonly section: string;
  readonly text: string;
  /** Milliseconds since 1970: what was said when must be told apart. */
  readonly at: number;
  /** Whose words they are, where they are not the asker's. */
  readonly by?: string;
}

/** Adds to a section. Whatever stands there, and everywhere else, stays. */
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
