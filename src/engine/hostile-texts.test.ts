import { expect, test } from "vitest";
import { changeTicket } from "./change-ticket.ts";
import { failingTests } from "./failing-tests.ts";
import { frontmatterValues } from "./frontmatter-block.ts";
import { gateReason } from "./gate.ts";
import { ticketOfIssue } from "./issue-ticket.ts";
import { plainOutput } from "./plain-output.ts";
import { readAnswer } from "./read-answer.ts";
import type { Facts } from "./request.ts";
import { summariseOutput } from "./summarise-output.ts";
import type { Task } from "./task.ts";
import { bodyOf, parseTaskDocument, takeSections } from "./task-document.ts";
import { readTicket } from "./ticket.ts";
import type { Gate, Workflow } from "./workflow.ts";

/**
 * What agents write is read by the daemon, which does nothing else meanwhile. Each of these takes milliseconds where the
 * time grows with the text, and minutes where it grows with its square: then the test never ends.
 */
const million = 1_000_000;

function judged(body: string, gate: Partial<Gate>): string | undefined {
  const full = { section: "A", fields: [], verdict: undefined, firstLine: false, ...gate } as Gate;
  const section = { heading: "A", body, fingerprint: "f", source: "" };
  const facts = { head: "", artifacts: {}, document: { byHeading: new Map([["A", section]]) } } as unknown as Facts;
  const task = { spent: { sections: [], head: "" }, status: "a" } as unknown as Task;
  return gateReason(full, {} as Workflow, task, facts)?.code;
}

for (const [name, line] of [
  ["underscores", "_".repeat(million)],
  ["a letter and underscores", `a${"_".repeat(million)}`],
  ["a field and underscores", `Commands${"_".repeat(million)}x`],
  ["blanks", `-${" ".repeat(million)}x`],
] as const) {
  test(`a gate judges the fields of a line of a million characters: ${name}`, () => {
    expect(judged(line, { fields: ["Commands"] })).toBe("gate-field");
  });
}

for (const [name, line] of [
  ["underscores", `Verdict:${"_".repeat(million)}x`],
  ["blanks", `Verdict:${" ".repeat(million)}x`],
  ["both", `Verdict:${" _".repeat(million / 2)}x`],
  ["behind the verdict", `Verdict: PASS${"*".repeat(million)}x`],
] as const) {
  test(`a gate judges a verdict of a million characters: ${name}`, () => {
    expect(judged(line, { verdict: "PASS", firstLine: true })).toBe("gate-verdict");
  });
}

test("ten thousand sections are taken into a document that has ten thousand others", () => {
  const sections = (name: string) =>
    Array.from({ length: 10_000 }, (_, i) => `## ${name} ${i}\n\nText ${i}\n`).join("\n");
  const document = parseTaskDocument(sections("Old"));
  const from = parseTaskDocument(sections("New"));
  const taken = takeSections(document, from, [...from.byHeading.keys()]);
  expect(taken.sections).toHaveLength(20_000);
  expect(bodyOf(taken).endsWith("## New 9999\n\nText 9999\n")).toBe(true);
});

test("a field of the frontmatter has a hundred thousand lines", () => {
  expect(frontmatterValues(`labels:\n${" - a\n".repeat(100_000)}`).labels?.length).toBe(400_000 - 1);
});

test("a line is written over a million times", () => {
  expect(plainOutput(`${"\r".repeat(million)}x`)).toBe("x");
  expect(plainOutput(`${"a\r".repeat(million / 2)}\r\r`)).toBe("a");
  expect(summariseOutput(`${"\r".repeat(million)}x`)).toBe("x");
});

test("a program prints long lines in which a failing test could be, but is not", () => {
  const lines = [" > ", "[ERROR] a.a", " Failed a [", "<testcase ", "1) test a ("].map((part) =>
    `${part.repeat(900 / part.length)}\n`.repeat(1_000),
  );
  expect(lines.flatMap(failingTests)).toEqual([]);
});

for (const part of ["{", "[", '{"a":', '"', ",", "}{x", "[1,", "\\", "```json\n", ' {"a" ']) {
  test(`an answer is looked for in a million characters of ${JSON.stringify(part)}`, () => {
    expect(readAnswer(part.repeat(million / part.length)).ok).toBe(false);
  });
}

test("a ticket has fields of a hundred thousand blanks, quotes and comments", () => {
  const blanks = " ".repeat(100_000);
  const quotes = '"'.repeat(100_000);
  const text = `---\nstatus: open${blanks}x\ntype: ${quotes}x\ndeps: [a${blanks}b\u2028${" #".repeat(50_000)}\n---\n`;
  expect(readTicket("a", text)).toMatchObject({ ok: true });
  expect(changeTicket(text, { status: "closed" })).toContain("status: closed\n");
});

test("an issue names what blocks it behind a hundred thousand blanks", () => {
  const body = `Blocked by${" ".repeat(100_000)}\u2028#7`;
  const issue = { number: 1, isOpen: true, title: "", body, labels: [], assignee: "", created: "" };
  expect(ticketOfIssue(issue).deps).toEqual(["7"]);
});

for (const part of ["```\n## h\n", "````\n## x\n```\n", "~~~\n## h\n```a\n", "## a\n"]) {
  test(`a document consists of ${JSON.stringify(part)} a hundred thousand times`, () => {
    const text = part.repeat(100_000);
    expect(bodyOf(parseTaskDocument(text))).toBe(text);
  });
}
