// Parses texts of agents at two lengths in one run: the time for 2n against the time for n. Two is linear, four is quadratic;
// parsing blocks the daemon. Prints ratios against a limit, and the time for a text of the maximum size.

import { readAnswer } from "../src/answers/read-answer.ts";
import { writeDocument } from "../src/daemon/task-documents.ts";
import { parseTaskDocument } from "../src/documents/task-document.ts";
import { gateReason } from "../src/engine/gate.ts";
import type { Facts } from "../src/engine/request.ts";
import type { Task } from "../src/engine/task.ts";
import type { Gate, Workflow } from "../src/engine/workflow.ts";
import { failingTests, summariseOutput } from "../src/project-tests/output.ts";
import { readTicket } from "../src/tickets/ticket.ts";

const limit = 3;
const rounds = 15;
/** The maximum size of a task file. */
const largest = 1024 * 1024;

const workflow = { owners: {} } as unknown as Workflow;
const worker = { role: "worker" };
const cases: Readonly<Record<string, (size: number) => () => unknown>> = {
  "a task file of sections": (size) => {
    const text = sections(size);
    return () => writeDocument(workflow, { text: "## Context\n\nBrew\n", authors: {} }, text, worker, "");
  },
  "sections with forgotten fences": (size) => {
    const text = repeated("````\n## x\n```\n", size);
    return () => parseTaskDocument(text);
  },
  "fields of a gate in one line": (size) => judge(`a${"_".repeat(size)}`, { fields: ["DONE"] }),
  "a verdict in one line": (size) => judge(`Verdict:${"_".repeat(size)}x`, { verdict: "PASS", firstLine: true }),
  "an answer that is none": (size) => {
    const text = repeated('{"a":[1, ', size);
    return () => readAnswer(text);
  },
  "output that is written over": (size) => {
    const text = `${"\r".repeat(size)}x`;
    return () => summariseOutput(text);
  },
  "output of tests": (size) => {
    const text = repeated(`${"a > ".repeat(100)}\n`, size);
    return () => failingTests(text);
  },
  "a ticket": (size) => {
    const text = `---\nstatus: open${" ".repeat(size / 2)}x\ndeps:\n${repeated(" - a\n", size / 2)}---\n`;
    return () => readTicket("a", text);
  },
};

let failed = false;
print("text", "2n / n", "limit", "ms for 1 MB");
for (const [name, make] of Object.entries(cases)) {
  const [half, whole, most] = [make(largest / 4), make(largest / 2), make(largest)];
  const ratio = median(
    Array.from({ length: rounds }, () => [timed(half), timed(whole)]).map(([a = 1, b = 1]) => b / a),
  );
  failed ||= ratio > limit;
  print(name, `${ratio.toFixed(2)} ×`, `≤ ${limit} × ${ratio > limit ? "MISSED" : "ok"}`, timed(most).toFixed(0));
}
process.exit(failed ? 1 : 0);

function timed(run: () => unknown): number {
  const start = performance.now();
  run();
  return performance.now() - start;
}

function repeated(part: string, size: number): string {
  return part.repeat(Math.ceil(size / part.length));
}

function sections(size: number): string {
  let text = "";
  for (let i = 0; text.length < size; i++) text += `## Section ${i}\n\nText ${i}\n\n`;
  return text;
}

function judge(body: string, gate: Partial<Gate>): () => unknown {
  const full = { section: "A", fields: [], verdict: undefined, firstLine: false, ...gate } as Gate;
  const section = { heading: "A", body, fingerprint: "f", source: "" };
  const facts = { head: "", artifacts: {}, document: { byHeading: new Map([["A", section]]) } } as unknown as Facts;
  const task = { spent: { sections: [], head: "" }, status: "a" } as unknown as Task;
  return () => gateReason(full, workflow, task, facts);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function print(...cells: readonly string[]): void {
  process.stdout.write(`${cells.map((cell, i) => (i === 0 ? cell.padEnd(34) : cell.padStart(14))).join("")}\n`);
}
