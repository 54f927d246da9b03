import { frontmatterBlock, frontmatterValues } from "../documents/frontmatter.ts";
import { sectionStarts } from "../documents/sections.ts";

export interface TicketChange {
  readonly status?: string;
  /** Added under `## Notes` with the time; only once, however often it is requested. */
  readonly note?: { readonly text: string; readonly at: string };
}

/** The text of a ticket with this change; the rest stays byte for byte the same. */
export function changeTicket(text: string, { status, note }: TicketChange): string {
  const changed = status === undefined ? text : withField(text, "status", status);
  return note === undefined ? changed : withNote(changed, note.text, note.at);
}

function withField(text: string, key: string, value: string): string {
  const block = ticketBlock(text);
  if (block === undefined) return text;
  const lines = text.slice(block.start, block.end).split("\n");
  const isKey = (line: string) => line.startsWith(`${key}:`);
  // `tk` adds a missing field at the top.
  const written = lines.some(isKey)
    ? lines.map((line) => (isKey(line) ? withValue(line, key, value) : line))
    : [`${key}: ${value}${eolOf(text).slice(0, -1)}`, ...lines];
  return text.slice(0, block.start) + written.join("\n") + text.slice(block.end);
}

/** Keeps a comment after the value and the line ending. */
function withValue(line: string, key: string, value: string): string {
  const end = line.endsWith("\r") ? "\r" : "";
  const rest = line.slice(key.length + 1, line.length - end.length);
  const before = withoutComment(rest);
  const comment = before === rest ? "" : rest.slice(before.trimEnd().length);
  return `${key}: ${value}${comment}${end}`;
}

/** Adds the note after the other notes, in the format of `tk add-note`. */
function withNote(text: string, note: string, at: string): string {
  const eol = eolOf(text);
  const written = note.trim().replace(/\r?\n/g, eol);
  const from = ticketBlock(text)?.body ?? 0;
  const { starts } = sectionStarts(text, from);
  const found = starts.findIndex((start) => /^## Notes[ \t]*\r?(\n|$)/.test(text.slice(start, start + 200)));
  const end = found === -1 ? text.length : (starts[found + 1] ?? text.length);
  const section = found === -1 ? "" : text.slice(starts[found], end);
  if (hasNote(section, written, eol)) return text;
  const before = ended(text.slice(0, end), eol);
  const heading = found === -1 ? `${eol}## Notes${eol}` : "";
  const rest = text.slice(end);
  return `${before}${heading}${eol}**${at}**${eol}${eol}${written}${eol}${rest === "" ? "" : eol}${rest}`;
}

/** Whether there is a note with this text, whatever its time. A note reaches from one time in bold to the next. */
function hasNote(section: string, note: string, eol: string): boolean {
  const notes = section.split(/^\*\*[^*\r\n]+\*\*[ \t]*\r?\n/m).slice(1);
  return notes.some((each) => each.trim().replace(/\r?\n/g, eol) === note);
}

function ended(text: string, eol: string): string {
  return text === "" || text.endsWith("\n") ? text : text + eol;
}

function eolOf(text: string): "\n" | "\r\n" {
  const line = text.indexOf("\n");
  return line > 0 && text[line - 1] === "\r" ? "\r\n" : "\n";
}

/** The fields of a forge's issue that a ticket is made from. */
export interface Issue {
  readonly number: number;
  readonly isOpen: boolean;
  readonly title: string;
  readonly body: string;
  readonly labels: readonly string[];
  readonly assignee: string;
  readonly created: string;
}

/** The label that makes an open issue `in_progress`. */
export const progressLabel = "in progress";
const defaultPriority = 2;

/** Reads an issue as a ticket: its number is the id, its text names the dependencies, its labels the priority. */
export function ticketOfIssue(issue: Issue): Ticket {
  const { number, isOpen, title, body, labels, assignee, created } = issue;
  const isInProgress = labels.some((label) => label.toLowerCase() === progressLabel);
  return {
    id: String(number),
    status: isOpen ? (isInProgress ? "in_progress" : "open") : "closed",
    deps: blockersIn(body).filter((dep) => dep !== String(number)),
    links: [],
    created,
    type: "task",
    priority: labelPriority(labels),
    assignee,
    labels,
    parent: "",
    title,
    // With the title, as in the file of a ticket.
    body: `# ${title}\n\n${body}`,
  };
}

/**
 * `Blocked by #12, #13` or `Depends on #12` on its own line or list item. Issues of other repositories do not count.
 */
function blockersIn(body: string): readonly string[] {
  const found = body.split(/\r?\n/).flatMap((line) => {
    const [, listed = ""] = /^\s*(?:[-*]\s+)?(?:blocked by|depends on):?\s(.*)$/is.exec(line) ?? [];
    return [...listed.matchAll(/(?<![\w/])#(\d{1,9})\b/g)].map(([, number = ""]) => String(Number(number)));
  });
  return [...new Set(found)];
}

/** `P0` to `P4`; of several labels, the most urgent. */
function labelPriority(labels: readonly string[]): number {
  const found = labels.flatMap((label) => {
    const [, digit] = /^p([0-4])$/i.exec(label) ?? [];
    return digit === undefined ? [] : [Number(digit)];
  });
  return found.length === 0 ? defaultPriority : Math.min(...found);
}

/** A requested piece of work: a file of `.tickets`, as `tk` writes it. */
export interface Ticket {
  /** Also the name of its file, without `.md`. */
  readonly id: string;
  /** `open`, `in_progress` or `closed`; any other text is kept, and counts as none of these. */
  readonly status: string;
  /** The tickets that must be closed before it is ready. */
  readonly deps: readonly string[];
  readonly links: readonly string[];
  readonly created: string;
  readonly type: string;
  /** 0 is the most urgent, 4 the least. */
  readonly priority: number;
  readonly assignee: string;
  /** Of an issue, all its labels; of a file, its `tags`. */
  readonly labels: readonly string[];
  readonly parent: string;
  /** Empty if it has none. */
  readonly title: string;
  /** Everything below the frontmatter, as written. */
  readonly body: string;
}

type TicketReading = { readonly ok: true; readonly ticket: Ticket } | { readonly ok: false; readonly problem: string };

/**
 * Reads a ticket tolerantly: fields may be missing or unknown. A missing status, or an id that differs from the file's
 * name, is a problem, because an agent would start on a guess.
 */
export function readTicket(id: string, text: string): TicketReading {
  const block = ticketBlock(text);
  if (block === undefined) return { ok: false, problem: 'It does not begin with fields between two lines of "---".' };
  const values = frontmatterValues(text.slice(block.start, block.end));
  const own = plain(values.id);
  if (own !== "" && own !== id) return { ok: false, problem: `Its id is "${own}", which is not the name of the file.` };
  const status = plain(values.status);
  if (status === "") return { ok: false, problem: 'It has no status, such as "status: open".' };
  const body = text.slice(block.body);
  return {
    ok: true,
    ticket: {
      id,
      status,
      deps: listed(values.deps),
      links: listed(values.links),
      created: plain(values.created),
      type: plain(values.type) || "task",
      priority: priorityOf(plain(values.priority)),
      assignee: plain(values.assignee),
      labels: listed(values.tags),
      parent: plain(values.parent),
      title: titleOf(body),
      body,
    },
  };
}

/** Where the fields of a ticket are, and where its body begins. */
export function ticketBlock(text: string): ReturnType<typeof frontmatterBlock> {
  return frontmatterBlock(text, text.charCodeAt(0) === byteOrderMark ? 1 : 0);
}

/** Whether a text can be a ticket's id: it must not lead to another folder. */
export function isTicketId(id: string): boolean {
  return id.length <= maxIdLength && /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(id);
}

export const maxIdLength = 100;

/** One value, without its quotes and without the comment after it. */
function plain(value = ""): string {
  const [first = ""] = value.split("\n");
  return quotedText(first) ?? withoutComment(first).trim();
}

/** The text between two quotes, if only blanks and a comment follow. */
function quotedText(line: string): string | undefined {
  const [quote] = line;
  if (quote !== '"' && quote !== "'") return undefined;
  for (let end = line.indexOf(quote, 1); end !== -1; end = line.indexOf(quote, end + 1)) {
    const next = line.slice(end + 1, end + 2);
    // Blanks are read once between two quotes, so checking after each quote takes one pass over the line.
    if (next !== "" && next !== "#" && next.trim() !== "") continue;
    const closing = line.indexOf(quote, end + 1);
    const behind = line.slice(end + 1, closing === -1 ? undefined : closing).trimStart();
    if (behind.startsWith("#") || (behind === "" && closing === -1)) return line.slice(1, end);
  }
  return undefined;
}

/** A comment begins at the start of a line, or after a blank. */
function withoutComment(line: string): string {
  for (let at = line.indexOf("#"); at !== -1; at = line.indexOf("#", at + 1)) {
    if (at === 0 || (line[at - 1] ?? "").trim() === "") return line.slice(0, at);
  }
  return line;
}

/** Reads `[a, b]`, over one line or several, or one item per line. */
function listed(value = ""): readonly string[] {
  const items = value
    .split("\n")
    .map((line) => withoutComment(line).replace(/^-\s/, ""))
    .join(",")
    .replace(/[[\]]/g, ",")
    .split(",")
    .map((item) => plain(item.trim()));
  return [...new Set(items.filter((item) => item !== ""))];
}

function priorityOf(value: string): number {
  const [, digits] = /^[Pp]?(\d{1,3})$/.exec(value) ?? [];
  return digits === undefined ? defaultPriority : Number(digits);
}

/** The first heading above all sections. */
function titleOf(body: string): string {
  const end = sectionStarts(body).starts[0] ?? body.length;
  const [, title = ""] = /^#[ \t]+(.*)$/m.exec(body.slice(0, end)) ?? [];
  return title.trim();
}

const byteOrderMark = 0xfeff;
