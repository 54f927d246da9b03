import fc from "fast-check";
import { expect, test } from "vitest";
import { changeTicket, readTicket, ticketBlock } from "./ticket.ts";

const at = "2026-02-03T04:05:06Z";

test("only the status changes; a comment after it stays", () => {
  const text = "---\nid: t\nmood:   good  \nstatus: open  # soon\ndeps: [a,b]\n---\n# T\nstatus: open\n\n\n";
  expect(changeTicket(text, { status: "closed" })).toBe(text.replace("status: open  # soon", "status: closed  # soon"));
});

test("a repeated field gets the same value on every line, whichever a reader takes", () => {
  expect(changeTicket("---\nstatus: open\nid: t\nstatus: open\n---\n", { status: "closed" })).toBe(
    "---\nstatus: closed\nid: t\nstatus: closed\n---\n",
  );
});

test("line endings and a byte order mark stay, and added lines use the same line endings", () => {
  const text = "\ufeff---\r\nid: t\r\nstatus: open\r\n---\r\n# T\r\n";
  expect(changeTicket(text, { status: "closed", note: { text: "Done.", at } })).toBe(
    `\ufeff---\r\nid: t\r\nstatus: closed\r\n---\r\n# T\r\n\r\n## Notes\r\n\r\n**${at}**\r\n\r\nDone.\r\n`,
  );
});

test("a note is written in tk's format", () => {
  const text = "---\nid: t\nstatus: open\n---\n# T\n\n";
  const once = changeTicket(text, { note: { text: "One.", at } });
  expect(once).toBe(`${text}\n## Notes\n\n**${at}**\n\nOne.\n`);
  expect(changeTicket(once, { note: { text: "Two.", at: "later" } })).toBe(`${once}\n**later**\n\nTwo.\n`);
});

test("a note is added after the other notes, not into the section below them", () => {
  const text = `---\nid: t\nstatus: open\n---\n# T\n\n## Notes\n\n**then**\n\nOne.\n\n## Design\n\nRound.\n`;
  const changed = changeTicket(text, { note: { text: "Two.", at } });
  expect(changed).toBe(text.replace("## Design", `\n**${at}**\n\nTwo.\n\n## Design`));
});

test("a note with the same text is not added again, whatever its time", () => {
  const once = changeTicket("---\nid: t\nstatus: open\n---\n# T", { note: { text: "One.", at } });
  const twice = changeTicket(once, { note: { text: "Two.\nAnd a half.", at } });
  expect(changeTicket(twice, { note: { text: "One.", at: "later" } })).toBe(twice);
  expect(changeTicket(twice, { note: { text: "Two.\nAnd a half.", at: "later" } })).toBe(twice);
  expect(changeTicket(twice, { note: { text: "Two.", at: "later" } })).not.toBe(twice);
});

const fields = fc.array(
  fc.constantFrom(
    "deps: [a, b]",
    "links:",
    "  - x",
    "mood: [",
    "# why",
    "assignee: @jo: 'x",
    "type: bug  ",
    "tags:\t[]",
  ),
);
const bodies = fc.array(
  fc.constantFrom("# T", "", "---", "status: open", "## Notes", "## Design", "```", "é\u2028", "\t x "),
);

test("the rest of a ticket stays byte for byte the same", () => {
  const files = fc.record({ before: fields, after: fields, body: bodies, eol: fc.constantFrom("\n", "\r\n") });
  fc.assert(
    fc.property(files, ({ before, after, body, eol }) => {
      const write = (status: string) => ["---", ...before, `status: ${status}`, ...after, "---", ...body].join(eol);
      const text = write("open");
      // A comment or an item may break the block; a text that is not a ticket is not changed.
      if (!readTicket("t", text).ok) return expect(changeTicket(text, { status: "closed" })).toBe(text);
      expect(changeTicket(text, { status: "closed" })).toBe(write("closed"));
      expect(changeTicket(text, { status: "open" })).toBe(text);
      const noted = changeTicket(text, { note: { text: "Seen.", at } });
      expect(isInserted(text, noted)).toBe(true);
      expect(changeTicket(noted, { note: { text: "Seen.", at: "later" } })).toBe(noted);
    }),
    { numRuns: 300 },
  );
});

/** Whether `longer` is `text` with one insertion after the fields. */
function isInserted(text: string, longer: string): boolean {
  const body = ticketBlock(text)?.body ?? 0;
  let same = 0;
  while (same < text.length && text[same] === longer[same]) same++;
  return longer.length > text.length && same >= body && longer.endsWith(text.slice(same));
}
