import { fingerprint } from "./fingerprint.ts";
import { frontmatterBlock } from "./frontmatter-block.ts";
import { openFence, sectionStarts } from "./section-starts.ts";

/** TASK.md: frontmatter that the engine renders, and a body that agents and people write. */
export interface TaskDocument {
  /** The lines between the two rulers, as written; not to be trusted, since agents can edit them. */
  readonly frontmatter: string;
  /** The body above the first section, as written. */
  readonly preamble: string;
  readonly sections: readonly Section[];
  /** Of sections with the same heading the last one, which is the one that counts. */
  readonly byHeading: ReadonlyMap<string, Section>;
  /** Of all sections, in their order. */
  readonly fingerprints: readonly string[];
  readonly eol: "\n" | "\r\n";
}

export interface Section {
  /** Without `## `. */
  readonly heading: string;
  /** Without blanks around it, with line feeds only, and with every fence closed: it can be put anywhere. */
  readonly body: string;
  /** Of the heading and the body. */
  readonly fingerprint: string;
  /** The heading's line and all lines up to the next section, as written. */
  readonly source: string;
}

/** Takes a document apart. Every text is a document, and nothing of its body is lost. */
export function parseTaskDocument(text: string): TaskDocument {
  const start = text.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0;
  const line = text.indexOf("\n");
  const eol = line > 0 && text.charCodeAt(line - 1) === CARRIAGE_RETURN ? "\r\n" : "\n";
  const block = frontmatterBlock(text, start);
  return parseBody(text, block?.body ?? start, eol, block === undefined ? "" : text.slice(block.start, block.end));
}

/** The body as written: what follows the frontmatter. */
export function bodyOf(document: TaskDocument): string {
  let text = document.preamble;
  for (const section of document.sections) text += section.source;
  return text;
}

/**
 * Puts a body under a heading: in place of the last section of that name, or at the end. No other section changes. A
 * body cannot open a section of its own (its `## ` becomes `### `) nor leave a fence open: what is quoted from an issue
 * or from another role must not pass for evidence.
 */
export function withSection(document: TaskDocument, heading: string, body: string): TaskDocument {
  return withSections(document, [{ heading, body }]);
}

/** Writes the sections of these headings that stand in `from`, a role's own file, into the document. */
export function takeSections(document: TaskDocument, from: TaskDocument, headings: readonly string[]): TaskDocument {
  const wanted = new Set(headings);
  const taken = from.sections.filter((each) => wanted.has(each.heading) && from.byHeading.get(each.heading) === each);
  return withSections(document, taken);
}

/**
 * The same as one `withSection` after the other, but the document is put together and taken apart once: an agent may write
 * ten thousand sections.
 */
function withSections(document: TaskDocument, given: readonly Pick<Section, "heading" | "body">[]): TaskDocument {
  const { eol } = document;
  const bodies = new Map<string, string>();
  for (const { heading, body } of given) {
    const name = heading.replace(/[\r\n]+/g, " ").trim();
    const content = contained(body);
    if (document.byHeading.get(name)?.body === content) bodies.delete(name);
    else bodies.set(name, content);
  }
  if (bodies.size === 0) return document;

  const added = (name: string, content: string) => {
    const written = eol === "\n" ? content : content.replaceAll("\n", eol);
    return `## ${name}${eol}${written === "" ? "" : eol + written + eol}`;
  };
  // A fence that was forgotten above would be closed by the first one in the new body and hide it.
  let text = closed(document.preamble, eol);
  const last = document.sections.at(-1);
  for (const section of document.sections) {
    const content = document.byHeading.get(section.heading) === section ? bodies.get(section.heading) : undefined;
    if (content === undefined) text += closed(section.source, eol);
    else text += section === last ? added(section.heading, content) : added(section.heading, content) + eol;
  }
  // Only its end is looked at each time: to look at a text that was just put together takes a copy of it.
  const behind: string[] = [];
  let end = text;
  for (const [name, content] of bodies) {
    if (document.byHeading.has(name)) continue;
    const section = `${missingEnd(end, eol)}${added(name, content)}`;
    behind.push(section);
    end = section;
  }
  return parseBody(text + behind.join(""), 0, eol, document.frontmatter);
}

function parseBody(text: string, from: number, eol: TaskDocument["eol"], frontmatter: string): TaskDocument {
  const { starts, fencesClosed } = sectionStarts(text, from);
  const lineFeeds = !text.includes("\r", from);
  const sections: Section[] = [];
  const byHeading = new Map<string, Section>();
  const fingerprints: string[] = [];
  for (let index = 0; index < starts.length; index++) {
    const end = starts[index + 1] ?? text.length;
    const section = parseSection(text, starts[index] ?? end, end, lineFeeds, fencesClosed);
    sections.push(section);
    byHeading.set(section.heading, section);
    fingerprints.push(section.fingerprint);
  }
  return {
    frontmatter,
    preamble: text.slice(from, starts[0]),
    sections,
    byHeading,
    fingerprints,
    eol,
  };
}

/** What holds for the whole text is found out only once: `lineFeeds` only, and `fencesClosed` in every section. */
function parseSection(text: string, start: number, end: number, lineFeeds: boolean, fencesClosed: boolean): Section {
  const line = text.indexOf("\n", start);
  const below = line === -1 ? end : line;
  const heading = text.slice(start + 3, below).trim();
  const source = text.slice(start, end);
  const first = afterBlanks(text, below, end);
  const last = beforeBlanks(text, first, end);
  const written = lineFeeds ? text.slice(first, last) : withLineFeeds(text.slice(first, last));
  const fence = fencesClosed ? undefined : openFence(source);
  const body = fence === undefined ? written : `${written}\n${fence}`;
  return { heading, body, fingerprint: `${heading}:${fingerprint(body)}`, source };
}

/** The text as it may stand in a section. */
function contained(body: string): string {
  const lines = withLineFeeds(body);
  const start = afterBlanks(lines, 0, lines.length);
  const text = closed(lines.slice(start, beforeBlanks(lines, start, lines.length)), "\n");
  const { starts } = sectionStarts(text);
  if (starts.length === 0) return text;
  let deeper = "";
  let from = 0;
  for (const heading of starts) {
    deeper += `${text.slice(from, heading)}#`;
    from = heading;
  }
  deeper += text.slice(from);
  // Without these headings other fences may pair up, and show others. Such a tangle needs no care for what it quotes.
  return sectionStarts(deeper).starts.length === 0 ? deeper : deeper.replace(/^## /gm, "### ");
}

/** Closes the fence that the text leaves open, before the blank lines at its end. */
function closed(text: string, eol: string): string {
  const fence = openFence(text);
  if (fence === undefined) return text;
  const end = beforeBlanks(text, 0, text.length);
  return text.slice(0, end) + eol + fence + text.slice(end);
}

/** What the text lacks to end with an empty line, as it should be above a heading. */
function missingEnd(text: string, eol: string): string {
  if (text === eol || text.endsWith(`\n${eol}`)) return "";
  return text.endsWith("\n") || text === "" ? eol : eol + eol;
}

function withLineFeeds(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

function afterBlanks(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && text.charCodeAt(at) <= SPACE) at++;
  return at;
}

function beforeBlanks(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && text.charCodeAt(at - 1) <= SPACE) at--;
  return at;
}

const CARRIAGE_RETURN = 13;
const SPACE = 32;
const BYTE_ORDER_MARK = 0xfeff;
