import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { bodyOf, parseTaskDocument } from "../documents/task-document.ts";
import { type FrontmatterTask, readFrontmatter, renderTaskDocument, tamperedFields } from "./task-frontmatter.ts";

const task: FrontmatterTask = {
  model: "",
  autostart: true,
  id: "a1b2",
  project: "coffee",
  number: 12,
  branch: "feature/login",
  base: "",
  summary: "Add a login flow",
  workflow: "default",
  status: "brewing",
  harness: "claude",
  reviewHarness: "codex",
  workspace: "coffee-2",
  tmuxSession: "coffee/feature/login",
  prUrl: "",
  ticket: "",
  parent: "",
  dependsOn: ["c3d4"],
  labels: ["bug", "area:ui"],
  priority: 0,
  createdAt: "2026-01-01T00:00:00Z",
  updatedAt: "2026-01-01T00:00:00Z",
  counters: {},
  crashCount: 1,
};

const rendered = `---
id: a1b2
project: coffee
branch: feature/login
summary: Add a login flow
workflow: default
status: brewing
harness: claude
review_harness: codex
review_round: 0
crash_count: 1
workspace: coffee-2
tmux_session: coffee/feature/login
pr_url: ""
parent: ""
depends_on: [c3d4]
labels: [bug, "area:ui"]
priority: 0
created_at: "2026-01-01T00:00:00Z"
updated_at: "2026-01-01T00:00:00Z"
---
`;

const line = fc.oneof(
  fc.constantFrom(
    "---",
    "id: x",
    "## Plan",
    "## Handoff ",
    "##  Odd",
    "### Part",
    "```",
    "```ts",
    "~~~~",
    "",
    "text",
    "\r",
  ),
  fc.string({ unit: "binary" }),
);
const text = fc
  .tuple(fc.constantFrom("", "\ufeff", "---\n"), fc.array(line), fc.constantFrom("\n", "\r\n"))
  .map(([start, lines, eol]) => start + lines.join(eol));

test("rendering writes the frontmatter before the body and leaves the body unchanged", () => {
  const body = "\nHello.\n\n##  Odd heading \nkept   \n\n\n## Plan\r\nAPPROACH: x";
  expect(renderTaskDocument(task, parseTaskDocument(body))).toBe(rendered + body);
});

test("rendering repairs a frontmatter that an agent changed", () => {
  const edited = rendered.replace("brewing", "served").replace("parent:", "???:").replace("---\n", "---\nmood: good\n");
  expect(renderTaskDocument(task, parseTaskDocument(`${edited}\n## Plan\n`))).toBe(`${rendered}\n## Plan\n`);
});

test("rendering keeps the lines of an unterminated frontmatter as body", () => {
  expect(renderTaskDocument(task, parseTaskDocument("---\nid: x\n## Plan\n"))).toBe(`${rendered}---\nid: x\n## Plan\n`);
});

test("a document with CRLF keeps its line endings", () => {
  const crlf = `${rendered}\n## Plan\n\nAPPROACH: x\n`.replaceAll("\n", "\r\n");
  expect(renderTaskDocument(task, parseTaskDocument(crlf))).toBe(crlf);
});

test("rendering keeps the sections of any body, and is idempotent", () => {
  fc.assert(
    fc.property(text, (source) => {
      const document = parseTaskDocument(source);
      const once = renderTaskDocument(task, document);
      const again = parseTaskDocument(once);
      expect(again.sections).toEqual(document.sections);
      expect(bodyOf(again)).toBe(bodyOf(document));
      expect(tamperedFields(again, task)).toEqual([]);
      expect(renderTaskDocument(task, again)).toBe(once);
    }),
    { numRuns: 500 },
  );
});

test("a YAML parser and our own reader both read any fields back", () => {
  const field = fc.string({ unit: "binary" });
  fc.assert(
    fc.property(field, field, fc.array(field), fc.integer(), fc.nat(), (summary, branch, labels, priority, round) => {
      const changed = { ...task, summary, branch, labels, priority, counters: { review_round: round } };
      const source = renderTaskDocument(changed, parseTaskDocument("## Plan\n"));
      const document = parseTaskDocument(source);
      expect(parse(source.split("\n---\n")[0] ?? "")).toMatchObject({
        summary,
        branch,
        labels,
        priority,
        review_round: round,
      });
      expect(readFrontmatter(document)).toMatchObject({ summary, branch, labels, priority, reviewRound: round });
      expect(document.sections).toHaveLength(1);
    }),
  );
});
