import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { renderTaskDocument } from "./render-task-document.ts";
import { bodyOf, parseTaskDocument } from "./task-document.ts";
import { type FrontmatterTask, readFrontmatter, tamperedFields } from "./task-frontmatter.ts";

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

test("writes the frontmatter in front of the body and leaves the body alone", () => {
  const body = "\nHello.\n\n##  Odd heading \nkept   \n\n\n## Plan\r\nAPPROACH: x";
  expect(renderTaskDocument(task, parseTaskDocument(body))).toBe(rendered + body);
});

test("repairs what an agent did to the frontmatter", () => {
  const edited = rendered.replace("brewing", "served").replace("parent:", "???:").replace("---\n", "---\nmood: good\n");
  expect(renderTaskDocument(task, parseTaskDocument(`${edited}\n## Plan\n`))).toBe(`${rendered}\n## Plan\n`);
});

test("keeps the lines of a frontmatter that lost its end, as body", () => {
  expect(renderTaskDocument(task, parseTaskDocument("---\nid: x\n## Plan\n"))).toBe(`${rendered}---\nid: x\n## Plan\n`);
});

test("a document with CRLF stays one", () => {
  const crlf = `${rendered}\n## Plan\n\nAPPROACH: x\n`.replaceAll("\n", "\r\n");
  expect(renderTaskDocument(task, parseTaskDocument(crlf))).toBe(crlf);
});

test("whatever the body is, it comes back with the same sections, and a second time nothing changes", () => {
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

test("whatever the fields are, a YAML parser and we read them back", () => {
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
