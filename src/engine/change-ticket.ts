import { sectionStarts } from "./section-starts.ts";
import { ticketBlock, withoutComment } from "./ticket.ts";

export interface TicketChange {
  readonly status?: string;
  /** Goes under `## Notes`, with the time; only once, however often it is asked for. */
  readonly note?: { readonly text: string; readonly at: string };
}

/** The text of a ticket with something changed, and everything else byte for byte as it was. */
export function changeTicket(text: string, { status, note }: TicketChange): string {
  const changed = status === undefined ? text : withField(text, "status", status);
  return note === undefined ? changed : withNote(changed, note.text, note.at);
}

function withField(text: string, key: string, value: string): string {
  const block = ticketBlock(text);
  if (block === undefined) return text;
  const lines = text.slice(block.start, block.end).split("\n");
  const isKey = (line: string) => line.startsWith(`${key}:`);
  // Where `tk` puts a field that is not there: at the top.
  const written = lines.some(isKey)
    ? lines.map((line) => (isKey(line) ? withValue(line, key, value) : line))
    : [`${key}: ${value}${eolOf(text).slice(0, -1)}`, ...lines];
  return text.slice(0, block.start) + written.join("\n") + text.slice(block.end);
}

/** A comment behind the value stays, and so does the line's end. */
function withValue(line: string, key: string, value: string): string {
  const end = line.endsWith("\r") ? "\r" : "";
  const rest = line.slice(key.length + 1, line.length - end.length);
  const before = withoutComment(rest);
  const comment = before === rest ? "" : rest.slice(before.trimEnd().length);
  return `${key}: ${value}${comment}${end}`;
}

/** Behind the other notes, in the form of `tk add-note`. */
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

/** Whatever its time: one that says the same, from a time in bold to the next one. */
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
