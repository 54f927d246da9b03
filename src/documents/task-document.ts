import { frontmatterBlock } from "./frontmatter.ts";
import { openFence, sectionStarts } from "./sections.ts";

// The task file: parsing it, replacing its sections, and the fingerprints by which changes of it are detected.

/**
 * A hash that detects changes of a text: 64 bits and the length. Cheap, because every section of a document is hashed
 * whenever it is read; not cryptographic, because an agent gains nothing from a collision: a section that looks
 * unchanged does not count as new evidence.
 */
export function fingerprint(text: string): string {
  if (text.length * 3 > bytes.length) return `${hash(new DataView(encoder.encode(text).buffer))}-${text.length}`;
  return `${hash(words, encoder.encodeInto(text, bytes).written)}-${text.length}`;
}

/** Reading words of the encoded text takes a fifth of the time of reading the string's characters. */
function hash(view: DataView, length = view.byteLength): string {
  let a = 0x811c9dc5 | 0;
  let b = 0x5bd1e995 | 0;
  let at = 0;
  // Every step is invertible, so that a change in one word is never lost; the lanes swap, so that it reaches both.
  for (; at + 8 <= length; at += 8) {
    const next = step(a, view.getInt32(at, true));
    a = Math.imul(((b << 13) | (b >>> 19)) ^ view.getInt32(at + 4, true), 0x85ebca6b) ^ next;
    b = next;
  }
  for (; at < length; at++) {
    const next = step(a, view.getUint8(at));
    a = b ^ next;
    b = next;
  }
  a = spread(a ^ length);
  b = spread(b ^ a);
  return hex(a, b);
}

/** Eight times as fast as `toString(16)`, which would take longer than the hash. */
function hex(a: number, b: number): string {
  return String.fromCharCode(
    digit(a >>> 28),
    digit(a >>> 24),
    digit(a >>> 20),
    digit(a >>> 16),
    digit(a >>> 12),
    digit(a >>> 8),
    digit(a >>> 4),
    digit(a),
    digit(b >>> 28),
    digit(b >>> 24),
    digit(b >>> 20),
    digit(b >>> 16),
    digit(b >>> 12),
    digit(b >>> 8),
    digit(b >>> 4),
    digit(b),
  );
}

function step(lane: number, word: number): number {
  return Math.imul(((lane << 5) | (lane >>> 27)) ^ word, 0x9e3779b1);
}

/** Lets every bit affect every bit, which the last steps alone would not do (the finaliser of MurmurHash). */
function spread(lane: number): number {
  let mixed = Math.imul(lane ^ (lane >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

function digit(bits: number): number {
  const value = bits & 15;
  return value < 10 ? value + 48 : value + 87;
}

const encoder = new TextEncoder();
const bytes = new Uint8Array(1 << 16);
const words = new DataView(bytes.buffer);

/** TASK.md: frontmatter that the engine renders, and a body that agents and people write. */
export interface TaskDocument {
  /** The raw lines between the two `---` lines; untrusted, because agents can edit them. */
  readonly frontmatter: string;
  /** The body above the first section, as written. */
  readonly preamble: string;
  readonly sections: readonly Section[];
  /** Of sections with the same heading, only the last one counts. */
  readonly byHeading: ReadonlyMap<string, Section>;
  /** Of all sections, in their order. */
  readonly fingerprints: readonly string[];
  readonly eol: "\n" | "\r\n";
}

export interface Section {
  /** Without `## `. */
  readonly heading: string;
  /** Trimmed, with line feeds only and every fence closed, so that it can be inserted anywhere. */
  readonly body: string;
  /** Of the heading and the body. */
  readonly fingerprint: string;
  /** The heading's line and all lines up to the next section, as written. */
  readonly source: string;
}

/** Parses a document. Every text is a valid document, and no part of its body is lost. */
export function parseTaskDocument(text: string): TaskDocument {
  const start = text.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0;
  const line = text.indexOf("\n");
  const eol = line > 0 && text.charCodeAt(line - 1) === CARRIAGE_RETURN ? "\r\n" : "\n";
  const block = frontmatterBlock(text, start);
  return parseBody(text, block?.body ?? start, eol, block === undefined ? "" : text.slice(block.start, block.end));
}

/** The raw body: everything after the frontmatter. */
export function bodyOf(document: TaskDocument): string {
  let text = document.preamble;
  for (const section of document.sections) text += section.source;
  return text;
}

/**
 * Writes a body under a heading: replaces the last section of that name, or appends one. No other section changes. A
 * body cannot begin a section of its own (its `## ` becomes `### `) nor leave a fence open: text quoted from an issue
 * or from another role must not count as evidence.
 */
export function withSection(document: TaskDocument, heading: string, body: string): TaskDocument {
  return withSections(document, [{ heading, body }]);
}

/** Copies the sections with these headings from `from`, a role's own file, into the document. */
export function takeSections(document: TaskDocument, from: TaskDocument, headings: readonly string[]): TaskDocument {
  const wanted = new Set(headings);
  const taken = from.sections.filter((each) => wanted.has(each.heading) && from.byHeading.get(each.heading) === each);
  return withSections(document, taken);
}

/**
 * The same as repeated `withSection`, but the document is joined and parsed only once: an agent may write ten thousand
 * sections.
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
  // An unclosed fence above would be closed by the first fence in the new body, and hide part of it.
  let text = closed(document.preamble, eol);
  const last = document.sections.at(-1);
  for (const section of document.sections) {
    const content = document.byHeading.get(section.heading) === section ? bodies.get(section.heading) : undefined;
    if (content === undefined) text += closed(section.source, eol);
    else text += section === last ? added(section.heading, content) : added(section.heading, content) + eol;
  }
  // Check only the end each time: reading a string that was just concatenated copies it.
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

/** `lineFeeds`: the whole text has line feeds only. `fencesClosed`: in every section. Both are computed only once. */
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

/** The text, made safe for a section. */
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
  // Without these headings the fences may pair up differently and reveal others. Such a text need not keep its quotes
  // intact.
  return sectionStarts(deeper).starts.length === 0 ? deeper : deeper.replace(/^## /gm, "### ");
}

/** Closes the fence that the text leaves open, before the blank lines at its end. */
function closed(text: string, eol: string): string {
  const fence = openFence(text);
  if (fence === undefined) return text;
  const end = beforeBlanks(text, 0, text.length);
  return text.slice(0, end) + eol + fence + text.slice(end);
}

/** The line breaks that the text lacks to end with an empty line, as required above a heading. */
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
