import { expect, test } from "vitest";
import { lineOfState, notesOf } from "./notes.ts";

const text = `name: flow
roles:
  review: { model: large }
# states: a remark
states:
  plan:
    agent: worker
  "review": # a person
    human: true
  'in work':
    agent: review
ways:
  plan: review
`;

test("a state is found where it begins, whatever else has its name", () => {
  expect(lineOfState(text, "plan")).toBe(6);
  expect(lineOfState(text, "review")).toBe(8);
  expect(lineOfState(text, "in work")).toBe(10);
  expect(lineOfState(text, "worker")).toBe(0);
  expect(lineOfState("", "plan")).toBe(0);
});

test("what is worst comes first, each at its line", () => {
  const problems = [{ level: "warning", line: 2, column: 1, message: "odd", fix: "" }] as const;
  const finding = { code: "x", fix: "", route: [], steps: ["created"], message: "stuck" };
  const findings = [
    { ...finding, level: "error" as const, state: "review" },
    { ...finding, level: "note" as const, state: "" },
  ];
  const result = { proved: false, positions: 1, steps: 1, variants: 1, findings };
  const notes = notesOf({ text, problems, proof: { state: "done", reason: "", result } });
  expect(notes.map(({ level, line }) => [level, line])).toEqual([
    ["error", 8],
    ["warning", 2],
    ["note", 0],
  ]);
});
