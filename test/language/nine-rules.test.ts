import { describe, expect, test } from "vitest";
import { editAfter, problemsOf, seedDocuments } from "./workflow-texts.ts";

/** The nine rules of "Workflow Validation" in seed 001, each broken by one edit of the seed's own default.yml. */
interface Broken {
  readonly rule: string;
  /** The edit is made after this text. */
  readonly behind: string;
  readonly from: string;
  readonly to: string;
  /** What the message must name. */
  readonly names: readonly string[];
}

const broken: readonly Broken[] = [
  {
    rule: "1. All `to` targets in transitions exist in `states`",
    behind: "  - from: working",
    from: "to: agent-review",
    to: "to: agent-revew",
    names: ['no state "agent-revew"', 'Did you mean "agent-review"?'],
  },
  {
    rule: "2. All `from` sources exist in `states`",
    behind: "transitions:",
    from: "- from: stuck",
    to: "- from: stuk",
    names: ['no state "stuk"', 'Did you mean "stuck"?'],
  },
  {
    rule: "3. No transitions from terminal states",
    behind: "# reviewing → done",
    from: "- from: reviewing",
    to: "- from: cancelled",
    names: ['"cancelled" is terminal'],
  },
  {
    rule: "4. All `prompt` references in `spawn_agent` hooks exist in `prompts`",
    behind: "transitions:",
    from: "prompt: worker_fix",
    to: "prompt: worker_fx",
    names: ['no prompt "worker_fx"', 'Did you mean "worker_fix"?'],
  },
  {
    rule: "5. All `respawn_prompt` references in states exist in `prompts`",
    behind: "states:",
    from: "respawn_prompt: stuck_fix",
    to: "respawn_prompt: stuck_mend",
    names: ['no prompt "stuck_mend"'],
  },
  {
    rule: "6. All `then` targets in exit monitoring rules exist in `states`",
    behind: "exit_monitoring:",
    from: "then: reviewing",
    to: "then: reviewin",
    names: ['no state "reviewin"', 'Did you mean "reviewing"?'],
  },
  {
    rule: "7. For each `from + to` pair, `when` clauses must be mutually exclusive",
    behind: "transitions:",
    from: "  - from: agent-review\n    to: stuck",
    to: '  - { from: agent-review, to: working, when: "review_round <= 1" }\n  - from: agent-review\n    to: stuck',
    names: ['from "agent-review" to "working"', "review_round <= 1", "review_round < 2", "exclusive"],
  },
  {
    rule: "8. `when` expressions parse correctly",
    behind: "transitions:",
    from: 'when: "review_round >= 2"',
    to: 'when: "review_round => 2"',
    names: ['"review_round => 2" is not a condition', "<field> <op> <value>"],
  },
  {
    rule: "9. Exit monitoring `then_when` clauses must be exhaustive",
    behind: "exit_monitoring:",
    from: 'then_when:\n        - when: "review_round < 2"\n          then: working',
    to: "then_when: # and if it is less?",
    names: ['"agent-review"', "leave out review_round = 0"],
  },
];

const [seed = ""] = seedDocuments();

describe("each of the seed's nine rules, broken by one edit of its own file, is the only problem reported", () => {
  test("the unedited file breaks no rule", () => expect(problemsOf(seed)).toEqual([]));
  test("there are nine rules", () => expect(broken).toHaveLength(9));

  test.each(broken.map((each) => [each.rule, each] as const))("%s", (_rule, { behind, from, to, names }) => {
    const text = editAfter(seed, behind, from, to);
    const edited = firstDifference(seed, text);
    const problems = problemsOf(text, "default.yml");
    expect(problems.map(({ level }) => level)).toEqual(["error"]);
    const [problem] = problems;
    const said = `${problem?.message} ${problem?.fix}`;
    for (const name of names) expect(said).toContain(name);
    expect(problem?.file).toBe("default.yml");
    expect(problem?.line).toBe(edited);
    expect(problem?.column).toBeGreaterThan(1);
  });
});

/** The number of the first line in which two texts differ. */
function firstDifference(a: string, b: string): number {
  const [before, after] = [a.split("\n"), b.split("\n")];
  return after.findIndex((line, i) => line !== before[i]) + 1;
}
