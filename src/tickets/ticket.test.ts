import { expect, test } from "vitest";
import { readTicket, type Ticket } from "./ticket.ts";

/** In the format of `tk create`. */
const written = `---
id: c-abc1
status: open
deps: [c-def2, c-0001]
links: []
created: 2026-01-25T19:11:47Z
type: feature
priority: 1
assignee: Jo Doe
parent: c-0000
---
# Brew the coffee

Hot.

## Acceptance Criteria

It is hot.

`;

test("tickets written by tk are read", () => {
  expect(readTicket("c-abc1", written)).toEqual({
    ok: true,
    ticket: {
      id: "c-abc1",
      status: "open",
      deps: ["c-def2", "c-0001"],
      links: [],
      created: "2026-01-25T19:11:47Z",
      type: "feature",
      priority: 1,
      assignee: "Jo Doe",
      labels: [],
      parent: "c-0000",
      title: "Brew the coffee",
      body: "# Brew the coffee\n\nHot.\n\n## Acceptance Criteria\n\nIt is hot.\n\n",
    },
  });
});

test("a ticket edited by hand is read the same, even with other line endings and a byte order mark", () => {
  const edited = `---
status:   "open"   # soon
deps:
  - c-def2 # the mill
  - 'c-0001'
created: 2026-01-25T19:11:47Z
type: feature
priority: P1
mood: good
assignee: Jo Doe
parent: c-0000  # Kitchen
---

# Brew the coffee
`;
  const expected = { ...ticket(written), body: "\n# Brew the coffee\n" };
  expect(ticket(edited)).toEqual(expected);
  const elsewhere = ticket(`\ufeff${edited.replaceAll("\n", "\r\n")}`);
  expect(elsewhere).toEqual({ ...expected, body: "\r\n# Brew the coffee\r\n" });
});

test("a ticket needs only a status: then it has the default priority and no dependencies", () => {
  expect(ticket("---\nstatus: open\n---\n")).toEqual({
    ...{ id: "c-abc1", status: "open", deps: [], links: [], created: "", type: "task", priority: 2 },
    ...{ assignee: "", labels: [], parent: "", title: "", body: "" },
  });
  expect(ticket("---\nstatus: open\npriority: soon\ndeps:\n---").priority).toBe(2);
});

test.each([
  ["deps: [a]", ["a"]],
  ["deps: [ a , b ,]", ["a", "b"]],
  ["deps: a, b", ["a", "b"]],
  ["deps: [a,\n  b]", ["a", "b"]],
  ["deps:\n- a\n- b", ["a", "b"]],
  ["deps: [a, a]", ["a"]],
  ["deps: []", []],
])("dependencies: %s", (line, deps) => {
  expect(ticket(`---\nstatus: open\n${line}\n---\n`).deps).toEqual(deps);
});

test("an unknown status is kept", () => {
  expect(ticket("---\nstatus: needs_testing\n---\n").status).toBe("needs_testing");
});

test("a heading in a section or in a field is not the title", () => {
  expect(ticket("---\nstatus: open\n---\n## Notes\n\n# Loud\n").title).toBe("");
  expect(ticket("---\nstatus: open\n# Not this\n---\nText\n\n# This\n").title).toBe("This");
});

test.each([
  ["# Brew", "does not begin with fields"],
  ["", "does not begin with fields"],
  ["---\nstatus: open\n# Brew", "does not begin with fields"],
  ["---\nid: c-abc1\n---\n# Brew", "no status"],
  ["---\nid: c-abc1\nstatus:\n---\n# Brew", "no status"],
  ["---\nid: c-abc1\nstatus:closed\n---\n# Brew", "no status"],
  ["---\nid: c-abc2\nstatus: open\n---\n# Brew", 'Its id is "c-abc2"'],
])("an ambiguous ticket is a problem: %j", (text, problem) => {
  const read = readTicket("c-abc1", text);
  expect(read.ok ? "" : read.problem).toContain(problem);
});

function ticket(text: string): Ticket {
  const read = readTicket("c-abc1", text);
  if (!read.ok) throw new Error(read.problem);
  return read.ticket;
}
