import { frontmatterBlock, frontmatterValues } from "./frontmatter-block.ts";
import { sectionStarts } from "./section-starts.ts";

/** A file of `.tickets`, as `tk` writes it: what somebody wants to be done. */
export interface Ticket {
  /** Also the name of its file, without `.md`. */
  readonly id: string;
  /** `open`, `in_progress`, `closed`; whatever else stands there is kept as it is, and is none of these. */
  readonly status: string;
  /** What must be closed before it is ready. */
  readonly deps: readonly string[];
  readonly links: readonly string[];
  readonly created: string;
  readonly type: string;
  /** 0 is the most urgent, 4 the least. */
  readonly priority: number;
  readonly assignee: string;
  readonly parent: string;
  /** Empty where it has none. */
  readonly title: string;
  /** Everything below the frontmatter, as written. */
  readonly body: string;
}

export type TicketReading =
  | { readonly ok: true; readonly ticket: Ticket }
  | { readonly ok: false; readonly problem: string };

const usualPriority = 2;

/**
 * Reads a ticket, as far as possible: fields may be missing, and unknown ones may be there. What would make an agent start
 * on a guess is a problem: a ticket without a status, and one whose id is not the name of its file.
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

/** What can be asked for as a ticket: nothing that leads to another folder. */
export function isTicketId(id: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(id);
}

/** One value, without its quotes and without the comment behind it. */
function plain(value = ""): string {
  const [first = ""] = value.split("\n");
  return quotedText(first) ?? withoutComment(first).trim();
}

/** The text between two quotes, where only blanks and a comment stand behind them. */
function quotedText(line: string): string | undefined {
  const [quote] = line;
  if (quote !== '"' && quote !== "'") return undefined;
  for (let end = line.indexOf(quote, 1); end !== -1; end = line.indexOf(quote, end + 1)) {
    const next = line.slice(end + 1, end + 2);
    // Between two quotes there are only so many blanks: looking behind each quote takes one pass over the line.
    if (next !== "" && next !== "#" && next.trim() !== "") continue;
    const closing = line.indexOf(quote, end + 1);
    const behind = line.slice(end + 1, closing === -1 ? undefined : closing).trimStart();
    if (behind.startsWith("#") || (behind === "" && closing === -1)) return line.slice(1, end);
  }
  return undefined;
}

/** A comment begins at the start of a line, or behind a blank. */
export function withoutComment(line: string): string {
  for (let at = line.indexOf("#"); at !== -1; at = line.indexOf("#", at + 1)) {
    if (at === 0 || (line[at - 1] ?? "").trim() === "") return line.slice(0, at);
  }
  return line;
}

/** `[a, b]`, over one line or several, or an item on each line. */
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
  return digits === undefined ? usualPriority : Number(digits);
}

/** The first heading above all sections. */
function titleOf(body: string): string {
  const end = sectionStarts(body).starts[0] ?? body.length;
  const [, title = ""] = /^#[ \t]+(.*)$/m.exec(body.slice(0, end)) ?? [];
  return title.trim();
}

const byteOrderMark = 0xfeff;
