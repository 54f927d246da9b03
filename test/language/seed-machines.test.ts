import { describe, expect, test } from "vitest";
import type { Finding } from "../../src/engine/verify/finding.ts";
import { play, started } from "./stage.ts";
import { builtIn, check, edit, faults, fixture, load } from "./workflow-texts.ts";

// The workflows of the seeds as their documents describe them, without our repairs. Each test names one defect; where
// the language makes the defect impossible, the test's name says so and shows what happens instead.

const machine = (seed: string) => fixture(`seed-machines/${seed}.yml`);
const plan = { Plan: "APPROACH: small steps" };
const handoff = (round: number) => ({ Handoff: `DONE: round ${round}` });
const review = (verdict: "PASS" | "FAIL", round: number) => ({ Review: `Verdict: ${verdict}\n\nRound ${round}.` });

describe("seed 000: a persistent worker and a background reviewer", () => {
  const text = machine("000");
  const workflow = load(text);
  const { verification } = check(text);

  test("its nine states and twenty transitions load as they are", () => {
    expect(Object.keys(workflow.states)).toHaveLength(9);
    expect(workflow.ways.filter((way) => way.implied === undefined)).toHaveLength(20);
  });

  test("the worker alone takes unreviewed work from working through stuck to the merge gate", () => {
    expect(faults(verification)).toContain("warning bypass stuck");
    const stage = reachWorking();
    expect(stage.ask("worker", "stuck")).toBe("stuck");
    expect(stage.ask("worker", "reviewing")).toBe("reviewing");
    expect(stage.task.counters.review_round).toBeUndefined();
  });

  test("the worker may write the verdict on its own work", () => {
    expect(faults(verification)).toContain("warning self-review agent-review");
    const stage = reachReview();
    expect(stage.ask("worker", "reviewing", review("PASS", 1))).toBe("reviewing");
  });

  test("an agent alone can cycle between planning and clarification", () => {
    expect(saying(verification.findings, "planning → clarification → planning")).toMatchObject({
      level: "warning",
      code: "agent-cycle",
    });
  });

  test("the clarification prompt tells the agent to ask for working, to which the table has no way", () => {
    expect(workflow.prompts.clarification).toContain("--status working");
    const stage = play(workflow);
    stage.ask("human", "planning");
    stage.ask("worker", "clarification");
    expect(stage.refusals("worker", "working", plan)).toEqual(["no-transition"]);
  });

  test("after a person asks for changes in round 2, the first failing review makes the task stuck", () => {
    const stage = reachReview();
    stage.ask("reviewer", "working", review("FAIL", 1));
    stage.ask("worker", "agent-review", handoff(2));
    stage.ask("reviewer", "reviewing", review("PASS", 2));
    stage.ask("human", "working");
    stage.ask("worker", "agent-review", handoff(3));
    expect(stage.refusals("reviewer", "working", review("FAIL", 3))).toEqual(["guard"]);
    expect(stage.ask("reviewer", "stuck", review("FAIL", 3))).toBe("stuck");
  });

  test("no hook starts the stuck session that should start by itself: the old worker gets no message", () => {
    const stage = reachWorking();
    stage.ask("worker", "stuck");
    expect(stage.effects).toEqual([]);
    expect(Object.keys(stage.task.runs)).toEqual(["worker"]);
  });

  test("written as a plain rule, `two crashes in agent-review lead to stuck` is refused by the gate and never taken", () => {
    const plainRule = edit(
      text,
      "{ status: agent-review, no_artifact: true, action: crash, stuck_after: 2 }",
      "{ status: agent-review, no_artifact: true, when: crash_count >= 2, then: stuck }",
    );
    const { findings } = check(plainRule).verification;
    expect(saying(findings, 'of "agent-review" (to "stuck") is never taken')).toMatchObject({ code: "dead-rule" });
  });

  test("cannot be written: `stuck_after` declares its way, so two crashes in planning lead to stuck though the table has no such row", () => {
    expect(
      workflow.ways.some((way) => way.from === "planning" && way.to === "stuck" && way.implied === undefined),
    ).toBe(false);
    expect(workflow.ways).toContainEqual(
      expect.objectContaining({ from: "planning", to: "stuck", implied: "escalation" }),
    );
    const stage = play(workflow);
    stage.ask("human", "planning");
    expect(stage.end("worker", "exit")).toBe("planning");
    stage.take({ what: "respawn", by: "human" });
    expect(stage.end("worker", "exit")).toBe("stuck");
  });

  test("cannot be written: the limit on crashes goes past the gate, so two crashes in agent-review lead to stuck without a verdict", () => {
    const stage = reachReview();
    expect(stage.end("reviewer", "exit")).toBe("agent-review");
    stage.take({ what: "respawn", by: "human" });
    expect(stage.end("reviewer", "exit")).toBe("stuck");
  });

  test("cannot be written: each run ends by itself, so a reviewer's death is noticed while the worker's session lives", () => {
    const stage = reachReview();
    stage.end("reviewer", "exit");
    expect(Object.keys(stage.task.runs)).toEqual(["worker"]);
    expect(stage.task.held).toMatchObject({ word: "exit" });
    expect(stage.task.crashCount).toBe(1);
  });

  test("cannot be written: a worker that died while it waited is started again when it gets a message", () => {
    const stage = reachReview();
    stage.end("worker", "exit");
    expect(stage.ask("reviewer", "working", review("FAIL", 1))).toBe("working");
    expect(started(stage.effects)).toEqual(["worker worker_respawn"]);
  });

  test("a plan left by a dead worker leads to working, where no agent is at work; our default starts the worker there", () => {
    expect(faults(verification)).toContain("error silent-wait working");
    const stage = play(workflow);
    stage.ask("human", "planning");
    expect(stage.end("worker", "exit", { sections: plan })).toBe("working");
    expect(stage.task.runs).toEqual({});
    const ours = play(load(builtIn("default")));
    ours.take({ what: "continue", by: "engine" });
    expect(ours.end("worker", "exit", { sections: plan })).toBe("working");
    expect(started(ours.effects)).toEqual(["worker worker_respawn"]);
  });

  test("cannot be written: evidence counts once, so a second reviewer that writes nothing does not repeat the first one's verdict", () => {
    const stage = reachReview();
    stage.ask("reviewer", "working", review("FAIL", 1));
    stage.ask("worker", "agent-review", handoff(2));
    expect(stage.refusals("reviewer", "stuck")).toEqual(["gate-spent"]);
    expect(stage.end("reviewer", "exit")).toBe("agent-review");
    expect(stage.task.held).toBeDefined();
  });

  test("cannot be written: evidence counts once, so a worker that dies while fixing does not go straight back to review", () => {
    const stage = reachReview();
    stage.ask("reviewer", "working", review("FAIL", 1));
    expect(stage.refusals("worker", "agent-review")).toEqual(["gate-spent"]);
    expect(stage.end("worker", "exit")).toBe("working");
    expect(stage.task.crashCount).toBe(1);
  });

  test("cannot be written: counters move before the spawn, so the reviewer's window is named after its own round", () => {
    const stage = reachReview();
    const windows = stage.effects.flatMap(({ agent }) => (agent?.role === "reviewer" ? [agent.window] : []));
    expect(windows).toEqual(["review-1"]);
  });

  function reachWorking() {
    const stage = play(workflow);
    stage.ask("human", "planning");
    stage.ask("worker", "working", plan);
    return stage;
  }

  function reachReview() {
    const stage = reachWorking();
    stage.ask("worker", "agent-review", handoff(1));
    return stage;
  }
});

describe("seed 001: the configurable engine (its own file is our classic)", () => {
  const workflow = load(builtIn("classic"));

  test("cannot be written: the limit on crashes goes past the gate, so a silent reviewer does not wait for ever", () => {
    const stage = play(workflow);
    stage.ask("human", "working");
    stage.ask("worker", "agent-review", handoff(1));
    stage.end("reviewer", "exit");
    stage.take({ what: "respawn", by: "human" });
    expect(stage.end("reviewer", "exit")).toBe("stuck");
  });

  test("an agent alone can cycle, and the worker may judge itself by way of stuck, which kills no agent", () => {
    expect(faults(check(builtIn("classic")).verification)).toEqual([
      "warning agent-cycle working",
      "warning self-review agent-review",
      "warning bypass stuck",
    ]);
    const stage = play(workflow);
    stage.ask("human", "working");
    stage.ask("worker", "stuck");
    stage.ask("worker", "agent-review");
    expect(stage.ask("worker", "reviewing", review("PASS", 1))).toBe("reviewing");
  });

  test.each([
    ["clarification", "worker"],
    ["agent-review", "reviewer"],
  ])("cannot be written: a task created in %s has a workspace and an agent", (status, role) => {
    const stage = play(workflow, status);
    expect(stage.world.workspace).toBe(true);
    expect(Object.keys(stage.task.runs)).toEqual([role]);
    expect(stage.task.runCount).toBe(1);
  });

  test("minimal's `stuck_after` without a state stuck is a warning, and the task is held in its state", () => {
    const minimal = load(builtIn("minimal"));
    const stage = play(minimal);
    stage.ask("human", "working");
    stage.end("worker", "exit");
    stage.take({ what: "respawn", by: "human" });
    expect(stage.end("worker", "exit")).toBe("working");
    expect(stage.task.held).toBeDefined();
    expect(stage.task.crashCount).toBe(2);
  });
});

describe("seed 002: clarify, plan, build in parallel, merge", () => {
  const text = machine("002");
  const workflow = load(text);
  const { findings } = check(text).verification;

  test("its nineteen steps load as they are", () => {
    expect(Object.keys(workflow.states)).toHaveLength(19);
  });

  test("nothing says what happens when the iterations are used up: the task is held", () => {
    expect(saying(findings, '"SUBTASK_REVIEWING" can be held for a person after it ended with')).toMatchObject({
      level: "note",
      code: "held",
    });
    const stage = reachTesting();
    stage.end("swe", "ok", { answer: { passed: true } });
    for (let i = 1; i < 3; i++) {
      expect(stage.end("architect", "ok", { answer: { approved: false } })).toBe("SUBTASK_IMPLEMENTING");
      backToReview(stage);
    }
    expect(stage.end("architect", "ok", { answer: { approved: false } })).toBe("SUBTASK_REVIEWING");
    expect(stage.task.held).toMatchObject({ word: "ok" });
  });

  test("if the document means no limit at all, reviews repeat for ever", () => {
    const unbounded = edit(
      text,
      "{ result: { approved: false }, when: visits < 3, then:",
      "{ result: { approved: false }, then:",
    );
    expect(faults(check(unbounded).verification)).toContain("error rule-cycle SUBTASK_IMPLEMENTING");
  });

  test("after feedback on failing tests the review follows without testing again: red work is approved", () => {
    const stage = reachTesting();
    expect(stage.end("swe", "ok", { answer: { passed: false } })).toBe("SUBTASK_FEEDBACK");
    expect(stage.end("swe", "ok")).toBe("SUBTASK_REVIEWING");
    stage.end("architect", "ok", { answer: { approved: true } });
    expect(stage.task.status).toBe("MERGING_AGENTS");
    expect(stage.task.results.tests).toEqual({ passed: false });
  });

  test("no step leads to FAILED, so neither cancelling nor the policy `stop` has anywhere to go", () => {
    expect(saying(findings, 'No task can ever reach "FAILED".')).toMatchObject({
      level: "warning",
      code: "unreachable",
    });
  });

  test("conflicts between the agents' branches are not mentioned: the task is held", () => {
    expect(saying(findings, '"MERGING_AGENTS" can be held for a person after it ended with')?.message).toContain(
      "conflict",
    );
  });

  function reachTesting() {
    const stage = play(workflow, "QUEUED", { skip_clarification: true });
    stage.take({ what: "continue", by: "engine" });
    for (const state of ["REPO_SYNC", "WORKSPACE_CREATED", "BRANCH_CREATED"]) {
      expect(stage.task.status).toBe(state);
      stage.take({ what: "did", by: "engine", word: "ok" });
    }
    expect(stage.task.status).toBe("PLANNING");
    stage.end("architect", "ok");
    stage.end("swe", "ok");
    expect(stage.take({ what: "did", by: "engine", word: "ok" })).toBe("SUBTASK_TESTING");
    return stage;
  }

  function backToReview(stage: ReturnType<typeof reachTesting>): void {
    stage.end("swe", "ok");
    stage.take({ what: "did", by: "engine", word: "ok" });
    expect(stage.end("swe", "ok", { answer: { passed: true } })).toBe("SUBTASK_REVIEWING");
  }
});

describe("seed 003: an issue goes through stages", () => {
  const text = machine("003");
  const workflow = load(text);
  const { findings } = check(text).verification;

  test("its fourteen stages load as they are", () => expect(Object.keys(workflow.states)).toHaveLength(14));

  // Its reviewers report no findings, so in this engine nobody can approve one: here the fixer is sent for commits.
  const fixing = edit(text, "when: approved_findings > 0", "when: commits > 0");

  test("no reviewer reports findings, so the fixer is never sent for", () => {
    expect(saying(findings, 'No task can ever reach "FIXER".')).toMatchObject({ level: "warning" });
  });

  test("once the fixer has run, no final stage can be reached, in any preset", () => {
    expect(
      saying(check(fixing).verification.findings, 'From "FIXER" no end can be reached by any step.'),
    ).toMatchObject({
      level: "error",
      code: "wedge",
    });
    for (const spec of [true, false]) {
      const onlyOne = fixing
        .replace(/^presets:\n(?: {2}.*\n)+/m, "")
        .replace("spec: { default: true }", `spec: { default: ${spec}, one_of: [${spec}] }`);
      expect(Object.keys(load(onlyOne).presets)).toEqual([]);
      expect(faults(check(onlyOne).verification)).toContain("error wedge FIXER");
    }
  });

  test("with a stage to abandon an issue, an issue can then only be cancelled", () => {
    const cancellable = edit(
      edit(fixing, "  DONE: {", "  CANCELLED: { terminal: true, outcome: cancelled }\n  DONE: {"),
      "transitions:\n",
      "transitions:\n  - { from: any, to: CANCELLED, by: human, hooks: [kill_session, release_workspace] }\n",
    );
    expect(faults(check(cancellable).verification)).toContain("error no-success FIXER");
  });

  test("the specification and its review send each other back for ever", () => {
    expect(saying(findings, "SPEC → SPEC_REVIEW → SPEC")).toMatchObject({ level: "error", code: "rule-cycle" });
  });

  test("tests that fail go back to IMPLEMENT for ever, but a person takes part in that cycle", () => {
    expect(findings.filter(({ code }) => code === "rule-cycle").map(({ message }) => message)).toEqual([
      expect.not.stringContaining("TESTING"),
    ]);
  });

  test("MERGE_READY leads only to DONE: an issue whose pull request cannot be merged cannot be repaired", () => {
    expect(Object.keys(workflow.states.MERGE_READY?.out ?? {})).toEqual(["DONE"]);
    expect(saying(findings, '"MERGE_READY" can be held for a person')?.message).toContain("unmergeable");
    expect(Object.keys(load(builtIn("pipeline")).states.MERGE_READY?.out ?? {})).toContain("IMPLEMENT");
  });
});

describe("seed 004: tickets worked off by stepped agents", () => {
  const text = machine("004");
  const withoutStall = (now: string) =>
    edit(
      now,
      "      - { on: stall, then: ready } # killed, and started again with a new session on the next loop\n",
      "",
    );
  const withBoundedTests = (now: string) =>
    edit(now, "{ on: tests, then: working }", "{ on: tests, when: visits < 4, then: working }");
  const withBoundedRecovery = (now: string) =>
    edit(
      now,
      "      - { when: workspace == false,",
      "      - { when: visits >= 3, action: mark_dead }\n      - { when: workspace == false,",
    );
  const circles = (...fixes: readonly ((now: string) => string)[]) => {
    const { findings } = check(fixes.reduce((now, fix) => fix(now), text)).verification;
    return findings.filter(({ code }) => code === "rule-cycle").map(({ message }) => message);
  };

  test("a stuck agent recovers itself for ever", () => {
    expect(circles(withoutStall, withBoundedTests)).toEqual([
      expect.stringContaining("idle → ready → working → stuck → idle"),
      expect.stringContaining("working → stuck → working"),
    ]);
  });

  test("tests that fail send the work back, the step limit sends it to tests, for ever", () => {
    expect(circles(withoutStall, withBoundedRecovery)).toEqual([expect.stringContaining("working → done → working")]);
  });

  test("an agent that stalls is killed and started again without a count, for ever", () => {
    expect(circles(withBoundedTests, withBoundedRecovery)).toEqual([
      expect.stringContaining("ready → working → ready"),
    ]);
  });

  test("with all three bounded, no cycle runs by itself", () => {
    expect(circles(withoutStall, withBoundedTests, withBoundedRecovery)).toEqual([]);
  });

  test("a merge conflict has no rule, and the worktree is already gone", () => {
    const stage = reachDone();
    expect(stage.take({ what: "did", by: "engine", word: "conflict" })).toBe("done");
    expect(stage.task.held).toMatchObject({ word: "conflict" });
    expect(stage.world.workspace).toBe(false);
  });

  test("DONE with nothing committed is merged, and the ticket closed", () => {
    const stage = reachDone();
    expect(stage.take({ what: "did", by: "engine", word: "ok", facts: { commits: 0 } })).toBe("closed");
  });

  test("our crew merges before it releases the workspace, and does not accept DONE without a commit", () => {
    const crew = load(builtIn("crew"));
    const release = crew.ways
      .filter((way) => way.hooks.some(({ name }) => name === "release_workspace"))
      .map(({ from, to }) => `${from} ${to}`);
    expect(release).toContain("merging done");
    expect(crew.states.testing?.rules[0]?.when.map(({ field }) => field)).toContain("commits");
  });

  function reachDone() {
    const stage = play(load(text));
    stage.take({ what: "continue", by: "engine" });
    stage.take({ what: "did", by: "engine", word: "ok" });
    expect(stage.end("worker", "ok")).toBe("done");
    expect(stage.task.phase).toBe("doing");
    return stage;
  }
});

function saying(findings: readonly Finding[], text: string): Finding | undefined {
  return findings.find(({ message }) => message.includes(text));
}
