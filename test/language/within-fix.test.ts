import { describe, expect, test } from "vitest";
import { check, edit } from "./workflow-texts.ts";

/** A workflow that works again after failed tests, as long as the tests have run less than three times. */
const file = (within: number, guard: string) => `name: bounded
version: 1
initial: todo
roles:
  coder: { mode: turn, prompt: build }
states:
  todo: { waits_for: slot, do: [acquire_workspace], next: build }
  build: { agent: { role: coder }, next: testing }
  testing:
    do: [run_tests, release_workspace]
    outcomes: [{ on: tests, when: ${guard}, then: build }, { on: tests, then: cancelled }]
    next: done
  done: { terminal: true }
  cancelled: { terminal: true }
prompts: { build: Build it. }
promises: [{ within: ${within}, of: build }]
`;

const fixOf = (text: string) => check(text).verification.findings.find(({ code }) => code === "promise")?.fix ?? "";
const verify = (text: string) => check(text).verification;

describe("the proposed fix for a state that is entered too often is enough", () => {
  test("a bound that is too large by one is replaced by the proposed one", () => {
    for (const within of [2, 3]) {
      const guard = `visits < ${within + 1}`;
      const broken = file(within, guard);
      expect(verify(broken).proved).toBe(false);
      const [proposed = ""] = /visits [<=]+ \d+/.exec(fixOf(broken)) ?? [];
      const { proved, findings } = verify(edit(broken, guard, proposed));
      expect(proved).toBe(true);
      expect(findings.filter(({ level, code }) => level === "error" || code === "dead-rule")).toEqual([]);
    }
  });

  test("a state that may be entered once loses its way back, as no bound could open it", () => {
    const broken = file(1, "visits < 2");
    expect(fixOf(broken)).toMatch(/^Remove the way back/);
    const { proved, findings } = verify(edit(broken, "{ on: tests, when: visits < 2, then: build }, ", ""));
    expect(proved).toBe(true);
    expect(findings.filter(({ level, code }) => level === "error" || code === "dead-rule")).toEqual([]);
  });
});
