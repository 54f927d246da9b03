import { expect, test } from "vitest";
import { builtIn } from "../../test/engine/drive.ts";
import { heldAdvice, notInstalled, takeAnother, unreviewedAdvice } from "./held-advice.ts";
import { loadWorkflow } from "./language/load.ts";
import type { Task } from "./task.ts";
import type { Workflow } from "./workflow.ts";

function flow(...ways: readonly string[]): Workflow {
  const text = `
version: 1
roles: { coder: { mode: turn, permissions: full, prompt: build } }
states:
  build: { agent: { role: coder }, next: land }
  polish: { agent: { role: coder }, next: land }
  land: { waits_for: human, do: [merge], next: done }
  done: { terminal: true }
transitions:
  - { from: land, to: build, by: engine }
${ways.map((to) => `  - { from: land, to: ${to}, by: human }`).join("\n")}
prompts: { build: Build it. }
`;
  const { workflow, problems } = loadWorkflow(text, "flow.yml");
  if (workflow === undefined) throw new Error(JSON.stringify(problems));
  return workflow;
}

const task = (held?: Task["held"]) => ({ id: "k2m4p", status: "land", phase: "waiting", held }) as unknown as Task;
const conflict = { reason: 'The task\'s work conflicts with "main".', word: "conflict", again: "do" } as const;

test("a task that is held for a conflict is given to its agent with sync, where there is a way back", () => {
  expect(heldAdvice(flow("build"), task(conflict)).fix).toBe(
    "Let its agent resolve it: signalbox task sync k2m4p\nOnce it is resolved: signalbox task continue k2m4p",
  );
  expect(heldAdvice(flow(), task(conflict)).fix).toContain(
    "See how to resolve it in the workspace: signalbox task sync k2m4p",
  );
  const other = { ...conflict, word: "tests" };
  expect(heldAdvice(flow("build"), task(other)).fix).toBe(
    'Fix the cause, then try again: signalbox task continue k2m4p\nOr send it back to build: signalbox task request-changes k2m4p -m "What should change"',
  );
  expect(heldAdvice(flow(), task(other)).fix).toBe("Fix the cause, then try again: signalbox task continue k2m4p");
});

test("a task whose agent the workflow cannot start again is moved elsewhere, because to continue it is refused", () => {
  const held = { reason: "It was ended by SIGKILL.", word: "exit", again: "wait" } as const;
  const ended = (status: string) => ({ ...task(held), status, wait: { skipped: false } }) as unknown as Task;
  const classic = builtIn("classic");
  expect(heldAdvice(classic, ended("clarification")).fix).toBe(
    "Its agent cannot be started again here, so move it to working: signalbox task update k2m4p --status working",
  );
  expect(heldAdvice(classic, ended("reviewing")).fix).toBe(
    "Its agent cannot be started again here, so merge its work: signalbox task merge k2m4p",
  );
  expect(heldAdvice(classic, ended("working")).fix).toContain("try again: signalbox task continue k2m4p");
});

test("unreviewed work is sent back only where a person can do so, and to a named state where there are several", () => {
  const sent = (...ways: readonly string[]) =>
    unreviewedAdvice(flow(...ways), task()).flatMap(
      (line) => /request-changes k2m4p( --status \w+)?/.exec(line)?.[0] ?? [],
    );
  expect(sent()).toEqual([]);
  expect(sent("build")).toEqual(["request-changes k2m4p"]);
  expect(sent("build", "polish")).toEqual([
    "request-changes k2m4p --status build",
    "request-changes k2m4p --status polish",
  ]);
});

test("unreviewed work is not sent back to be handed over as it is, where the agent must bring a new commit", () => {
  const pipeline = builtIn("pipeline");
  const at = { ...task(), status: "MERGE_READY" };
  expect(unreviewedAdvice(pipeline, at).at(-1)).toBe(
    'Or send it back, if its agent has something to change: signalbox task request-changes k2m4p -m "What should change"',
  );
  expect(unreviewedAdvice(flow("build"), task()).at(-1)).toContain('-m "Hand over the newest commit."');
});

test("a task whose tests have failed too often names the agent that it can be sent back to", () => {
  const held = { reason: "The tests fail.", word: "tests", again: "do" } as const;
  expect(heldAdvice(builtIn("pipeline"), { ...task(held), status: "TESTING" }).fix).toContain(
    'Or send it back to IMPLEMENT: signalbox task request-changes k2m4p -m "What should change"',
  );
});

test("a specification that was sent back too often can be accepted as it is, or sent back with what a person says", () => {
  const held = { reason: "Sent back three times.", word: "ok", again: "wait" } as const;
  expect(
    heldAdvice(builtIn("pipeline"), { ...task(held), status: "SPEC_REVIEW" })
      .fix.split("\n")
      .slice(1),
  ).toEqual([
    "Or move it to IMPLEMENT: signalbox task update k2m4p --status IMPLEMENT",
    "Or move it to SPEC: signalbox task update k2m4p --status SPEC",
  ]);
});

test("a task that is held for a promise can be migrated to a file with another one", () => {
  const broken = {
    reason: "The move would break the promise { to: done, after: { merged: true } }.",
    word: "promise",
    again: "wait",
  } as const;
  expect(heldAdvice(flow(), task(broken)).fix).toContain("signalbox task migrate k2m4p --apply");
  expect(heldAdvice(flow(), task({ ...broken, word: "error" })).fix).not.toContain("migrate");
});

test("a task that was held for a missing harness, and has another one since, is told to try again", () => {
  const reason = (flags: string) =>
    `${notInstalled({ title: "Claude Code", name: "claude" })}\nBuy it.\n${takeAnother}k2m4p ${flags}\nThen: signalbox task continue k2m4p`;
  const about = (flags: string, harness: string, reviewHarness: string) =>
    heldAdvice(flow(), {
      ...task({ reason: reason(flags), word: "error", again: "effects" }),
      harness,
      reviewHarness,
    });
  const both = "--harness NAME --review-harness NAME";
  expect(about(both, "claude", "claude").text).toContain("Claude Code is not installed");
  expect(about(both, "scripted", "claude").text).toContain("Claude Code is not installed");
  expect(about("--harness NAME", "scripted", "claude")).toEqual({
    text: "Claude Code was not installed. The task has another harness since then: scripted.",
    fix: "Try again: signalbox task retry k2m4p",
  });
  expect(about("--review-harness NAME", "claude", "scripted").fix).toBe("Try again: signalbox task retry k2m4p");
});
