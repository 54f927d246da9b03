import { expect, test } from "vitest";
import { readAnswer } from "../answers/read-answer.ts";
import { frontmatterValues } from "../documents/frontmatter.ts";
import { bodyOf, parseTaskDocument, takeSections } from "../documents/task-document.ts";
import { failingTests, summariseOutput } from "../project-tests/output.ts";
import { plainOutput } from "../text.ts";
import { changeTicket, readTicket, ticketOfIssue } from "../tickets/ticket.ts";
import { gateReason } from "./gate.ts";
import type { Facts } from "./request.ts";
import type { Task } from "./task.ts";
import type { Gate, Workflow } from "./workflow.ts";

/**
 * The daemon's single thread reads what agents write. Each test takes milliseconds if the time is linear in the text,
 * and minutes if it is quadratic: then the test times out.
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

test("ten thousand sections are merged into a document with ten thousand others", () => {
  const sections = (name: string) =>
    Array.from({ length: 10_000 }, (_, i) => `## ${name} ${i}\n\nText ${i}\n`).join("\n");
  const document = parseTaskDocument(sections("Old"));
  const from = parseTaskDocument(sections("New"));
  const taken = takeSections(document, from, [...from.byHeading.keys()]);
  expect(taken.sections).toHaveLength(20_000);
  expect(bodyOf(taken).endsWith("## New 9999\n\nText 9999\n")).toBe(true);
});

test("a frontmatter field with a hundred thousand lines is read", () => {
  expect(frontmatterValues(`labels:\n${" - a\n".repeat(100_000)}`).labels?.length).toBe(400_000 - 1);
});

test("a terminal line that is overwritten a million times is read", () => {
  expect(plainOutput(`${"\r".repeat(million)}x`)).toBe("x");
  expect(plainOutput(`${"a\r".repeat(million / 2)}\r\r`)).toBe("a");
  expect(summariseOutput(`${"\r".repeat(million)}x`)).toBe("x");
});

test("long lines that almost look like failing tests are read", () => {
  const lines = [" > ", "[ERROR] a.a", " Failed a [", "<testcase ", "1) test a ("].map((part) =>
    `${part.repeat(900 / part.length)}\n`.repeat(1_000),
  );
  expect(lines.flatMap(failingTests)).toEqual([]);
});

for (const part of ["{", "[", '{"a":', '"', ",", "}{x", "[1,", "\\", "```json\n", ' {"a" ']) {
  test(`an answer is searched for in a million characters of ${JSON.stringify(part)}`, () => {
    expect(readAnswer(part.repeat(million / part.length)).ok).toBe(false);
  });
}

test("a ticket with fields of a hundred thousand blanks, quotes and comments is read", () => {
  const blanks = " ".repeat(100_000);
  const quotes = '"'.repeat(100_000);
  const text = `---\nstatus: open${blanks}x\ntype: ${quotes}x\ndeps: [a${blanks}b\u2028${" #".repeat(50_000)}\n---\n`;
  expect(readTicket("a", text)).toMatchObject({ ok: true });
  expect(changeTicket(text, { status: "closed" })).toContain("status: closed\n");
});

test("an issue that names its blocker after a hundred thousand blanks is read", () => {
  const body = `Blocked by${" ".repeat(100_000)}\u2028#7`;
  const issue = { number: 1, isOpen: true, title: "", body, labels: [], assignee: "", created: "" };
  expect(ticketOfIssue(issue).deps).toEqual(["7"]);
});

for (const part of ["```\n## h\n", "````\n## x\n```\n", "~~~\n## h\n```a\n", "## a\n"]) {
  test(`a document that repeats ${JSON.stringify(part)} a hundred thousand times is read`, () => {
    const text = part.repeat(100_000);
    expect(bodyOf(parseTaskDocument(text))).toBe(text);
  });
}
