import { describe, expect, test } from "vitest";
import { builtIn, builtInNames, load } from "../../../test/language/workflow-texts.ts";
import { configurationsOf } from "../explore/configurations.ts";
import { checkExplored } from "./check-coverage.ts";
import { type Progress, verify } from "./verify.ts";

const tail = `
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: any, to: dropped, by: human, hooks: [kill_session, release_workspace] }
`;
const turn = "agent: { role: coder, mode: turn, prompt: p, result: r }";
const schema = (field: string) =>
  `prompts: { p: x }\nschemas: { r: { type: object, required: [v], properties: { v: ${field} } } }\n`;

function unexploredOf(text: string): readonly string[] {
  const workflow = load(text);
  return checkExplored(workflow, configurationsOf(workflow)).map(({ message }) => message);
}

describe("a workflow with a part that is not explored is not proved", () => {
  const many = ["a", "b", "c", "d", "e", "f", "g"];
  test.each([
    [
      "a seventh switch",
      `version: 1\nsettings: { ${many.map((name) => `is_${name}: { default: false }`).join(", ")} }\nstates:
  a: { waits_for: human, outcomes: [{ when: [${many.map((name) => `is_${name} == true`).join(", ")}], then: done }], next: done }${tail}`,
      "explored up to 8 configurations) is not explored.",
    ],
    [
      "so many fields in answers that they are not combined",
      `version: 1\nstates:
  a: { agent: { role: coder, mode: turn, prompt: p, result: r }, outcomes: [{ result: { ${many.map((name) => `${name}: true`).join(", ")} }, then: done }, { on: ok, then: done }] }${tail}prompts: { p: x }\nschemas: { r: { type: object, required: [${many.join(", ")}], properties: { ${many.map((name) => `${name}: { type: boolean }`).join(", ")} } } }\n`,
      'Every combination of the 7 fields that the rules of "a" compare is not explored.',
    ],
  ])("%s", (_what, text, message) => {
    expect(unexploredOf(text)).toEqual([expect.stringContaining(message)]);
    const { proved, findings } = verify(load(text));
    expect(proved).toBe(false);
    expect(findings).toContainEqual(expect.objectContaining({ code: "unexplored", level: "warning" }));
  });
});

describe("a workflow whose parts are all explored is proved", () => {
  test.each([
    [
      "a setting of 3",
      `version: 1\nsettings: { rounds: { default: 3 } }\nstates:
  a: { ${turn}, outcomes: [{ result: { v: false }, when: "visits < {rounds}", then: a }, { result: { v: true }, then: done }] }${tail}${schema("{ type: boolean }")}`,
    ],
    [
      "a large setting that is only printed",
      `version: 1\nsettings: { size: { default: 50 } }\nstates:
  a: { ${turn}, next: done }${tail}${schema("{ enum: [x, y] }")}`,
    ],
    [
      "a turn with work behind it, and an enum",
      `version: 1\nstates:
  a: { ${turn}, do: [harvest_uncommitted], outcomes: [{ result: { v: x }, then: done }] }${tail}${schema("{ enum: [x, y] }")}`,
    ],
    [
      "a setting above 3 that a condition compares",
      `version: 1\nsettings: { rounds: { default: 5 } }\nstates:
  a: { ${turn}, outcomes: [{ result: { v: false }, when: "visits < {rounds}", then: a }, { result: { v: true }, then: done }] }${tail}${schema("{ type: boolean }")}`,
    ],
    [
      "a preset's value above 3",
      `version: 1\nsettings: { rounds: { default: 1 } }\npresets: { long: { rounds: 9 } }\nstates:
  a: { ${turn}, outcomes: [{ result: { v: false }, when: "visits < {rounds}", then: a }, { result: { v: true }, then: done }] }${tail}${schema("{ type: boolean }")}`,
    ],
    [
      "a setting that a task may raise above a larger constant",
      `version: 1\nsettings: { rounds: { default: 2 } }\nstates:
  a:
    ${turn}
    outcomes:
      - { result: { v: false }, when: "visits < {rounds}", then: a }
      - { result: { v: false }, when: visits < 6, then: a }
      - { result: { v: true }, then: done }${tail}${schema("{ type: boolean }")}`,
    ],
    [
      "a setting above 3 by which a wait is skipped",
      `version: 1\nsettings: { rounds: { default: 5 } }\nstates:
  a: { waits_for: human, unless: "visits < {rounds}", next: done }${tail}`,
    ],
    [
      "a setting above 3 that a way compares",
      `version: 1\nsettings: { rounds: { default: 5 } }\nstates:
  a: { waits_for: human, next: done }${tail}  - { from: a, to: done, by: human, when: "visits < {rounds}" }\n`,
    ],
    [
      "a session with work behind it",
      `version: 1\nstates:
  a: { agent: { role: coder, prompt: p }, do: [harvest_uncommitted], next: done }${tail}  - { from: a, to: done, by: coder, gate: { section: "## Handoff" } }\nprompts: { p: x }\n`,
    ],
    [
      "a panel whose answer is compared after work",
      `version: 1\nstates:
  a:
    panel: { members: { role: m, mode: turn, prompt: p, result: r }, judge: { role: j, mode: turn, prompt: p, result: r } }
    do: [notify]
    outcomes: [{ result: { v: true }, then: done }, { result: { v: false }, then: b }]
  b: { waits_for: human, next: done }${tail}${schema("{ type: boolean }")}`,
    ],
    [
      "a number in an answer",
      `version: 1\nstates:
  a: { ${turn}, outcomes: [{ result: { v: 7 }, then: done }] }${tail}${schema("{ type: integer }")}`,
    ],
    [
      "a text in an answer",
      `version: 1\nstates:
  a: { ${turn}, outcomes: [{ result: { v: good }, then: done }] }${tail}${schema("{ type: string }")}`,
    ],
    [
      "time that can end during work",
      `version: 1\nstates:
  a: { ${turn}, limits: { time: 1h }, do: [harvest_uncommitted], next: done }${tail}${schema("{ type: boolean }")}`,
    ],
    [
      "a fifth switch",
      `version: 1\nsettings: { ${["a", "b", "c", "d", "e"].map((name) => `is_${name}: { default: false }`).join(", ")} }\nstates:
  a: { waits_for: human, outcomes: [{ when: [${["a", "b", "c", "d", "e"].map((name) => `is_${name} == true`).join(", ")}], then: done }], next: done }${tail}`,
    ],
  ])("%s", (_what, text) => {
    expect(unexploredOf(text)).toEqual([]);
  });

  test.each(builtInNames)("the built-in workflow %s", (name) => {
    expect(unexploredOf(builtIn(name))).toEqual([]);
  });
});

test("an exploration says how far it is, over all variants", () => {
  const said: Progress[] = [];
  const { positions, variants } = verify(load(builtIn("crew")), [], { progress: (progress) => said.push(progress) });
  expect(said.length).toBeGreaterThan(3);
  expect(said.every((each, i) => each.variants === variants && each.positions > (said[i - 1]?.positions ?? 0))).toBe(
    true,
  );
  expect(said.at(-1)?.positions).toBeLessThanOrEqual(positions);
  expect(new Set(said.map(({ variant }) => variant)).size).toBeGreaterThan(1);
});

describe("findings that would accuse a correct file", () => {
  const review = (by: string, handOver: string, permissions = "reduced") => `version: 1
roles: { worker: { prompt: p }, reviewer: { prompt: p, permissions: ${permissions} }, auditor: { prompt: p, permissions: ${permissions} } }
states:
  working: { agent: { role: worker, keep: true } }
  review: { agent: { role: reviewer } }
  audit: { agent: { role: auditor } }
  merging: { waits_for: human }
  done: { terminal: true }
transitions:
  - { from: working, to: review, by: [worker, human]${handOver} }
  - { from: review, to: audit, by: [${by}, human], gate: { section: "## Review", verdict: PASS } }
  - { from: audit, to: merging, by: [${by}, human], gate: { section: "## Review", verdict: PASS } }
  - { from: merging, to: done, by: human, hooks: [kill_session, release_workspace] }
prompts: { p: x }
`;
  const codes = (text: string) => verify(load(text)).findings.map(({ code, state }) => `${code} ${state}`);

  test.each([', gate: { section: "## Handoff" }', ""])("several roles may judge the work of another%s", (handOver) => {
    expect(codes(review("reviewer, auditor", handOver))).not.toContain("self-review review");
    expect(codes(review("reviewer, auditor", handOver))).not.toContain("self-review audit");
  });
  test.each([', gate: { section: "## Handoff" }', ""])("the author may not be among the judges%s", (handOver) => {
    expect(codes(review("worker, reviewer", handOver))).toContain("self-review review");
  });

  const created = (initial: string) => `version: 1\n${initial}states:
  a: { waits_for: human, next: done }
  b: { waits_for: human, next: a }
  done: { terminal: true }
`;
  test("a state in which tasks are created counts as reached where `initial` names it", () => {
    expect(codes(created("initial: [a, b]\n"))).not.toContain("unreachable b");
    expect(codes(created(""))).toContain("unreachable b");
  });
});
