import { expect, test } from "vitest";
import { decide } from "../../src/engine/decide.ts";
import { explain } from "../../src/engine/explain.ts";
import { emptyLedger, type Finding } from "../../src/engine/findings.ts";
import type { PersonsWord } from "../../src/engine/request.ts";
import type { Task } from "../../src/engine/task.ts";
import { builtIn, drive, loadText, reasonsOf } from "./drive.ts";

const findings = { findings: [{ title: "Leak", severity: "high", file: "a.ts" }] };

function crewAtWork() {
  const task = drive(builtIn("crew"));
  task.continue("engine");
  task.did("ok");
  return task;
}

test("crew: steps continue in one session until DONE, then come tests, merge and clean-up in that order", () => {
  const task = crewAtWork();
  expect(task.status).toBe("working");
  expect(task.effects).toMatchObject([
    { action: "spawn_agent", agent: { prompt: "init", resume: "", spec: { mode: "steps", marker: "DONE" } } },
  ]);
  task.ended("worker", "step");
  expect(task.effects).toMatchObject([{ action: "spawn_agent", agent: { prompt: "step", resume: "worker#1" } }]);
  task.ended("worker", "ok");
  expect(task.status).toBe("testing");
  expect(task.actions).toEqual(["harvest_uncommitted", "run_tests"]);
  task.fact("commits", 2).did("ok");
  expect(task.status).toBe("merging");
  task.did("ok");
  expect(task.status).toBe("done");
  expect(task.actions).toEqual(["kill_session", "release_workspace", "delete_branch", "close_ticket"]);
});

test("crew: the step limit leads to the tests like DONE", () => {
  const task = crewAtWork();
  for (let step = 0; step < 20; step++) task.ended("worker", "step");
  expect(task.status).toBe("testing");
  expect(task.events.some((event) => event.type === "agent.stepped" && event.data.step === 20)).toBe(true);
});

test("crew: failing tests go back into the same session with five more steps, at most three times", () => {
  const task = crewAtWork();
  task.fact("commits", 1);
  for (let round = 1; round <= 3; round++) {
    task.ended("worker", "ok");
    task.did("tests", "1 failed");
    expect(task.status).toBe("working");
    expect(task.effects).toMatchObject([
      { action: "spawn_agent", agent: { prompt: "test_failure", resume: expect.stringMatching(/^worker#/) } },
    ]);
    expect(task.task.wait.stepLimit).toBe(5);
  }
  for (let step = 0; step < 5; step++) task.ended("worker", "step");
  expect(task.status).toBe("testing");
  task.did("tests");
  expect(task.status).toBe("stuck");
});

test("crew: errors are retried after 2, 4, 8, 16 seconds; the fifth makes the task stuck; a good step resets them", () => {
  const task = crewAtWork();
  const delays: (number | undefined)[] = [];
  for (let i = 0; i < 4; i++) {
    task.ended("worker", "error");
    delays.push(task.effects[0]?.delay);
  }
  expect(delays).toEqual([2, 4, 8, 16]);
  task.ended("worker", "step");
  expect(task.task.crashCount).toBe(0);
  for (let i = 0; i < 5; i++) task.ended("worker", "error");
  expect(task.status).toBe("stuck");
});

test("crew: an agent that says DONE without a change is told once, then the task is stuck; research may end so", () => {
  const task = crewAtWork();
  task.fact("commits", 0).ended("worker", "ok");
  task.did("ok");
  expect(task.status).toBe("working");
  expect(task.effects).toMatchObject([{ action: "spawn_agent", agent: { prompt: "no_change" } }]);
  task.ended("worker", "ok");
  task.did("ok");
  expect(task.task).toMatchObject({ status: "stuck", reason: expect.stringContaining("no change") });

  const research = drive(builtIn("crew"), { settings: { allow_empty: true } });
  research.continue("engine");
  research.did("ok");
  research.fact("commits", 0).ended("worker", "ok");
  research.did("ok");
  expect(research.status).toBe("merging");
});

test("crew: a stuck task recovers twice, depending on its workspace; then a person is asked, who can start it anew", () => {
  const task = crewAtWork();
  const fail = () => {
    for (let i = 0; i < 5; i++) task.ended("worker", "stall");
  };
  fail();
  expect(task.status).toBe("stuck");
  task.fact("dirty", 1).continue("engine");
  expect(task.status).toBe("working");
  // The session was dropped on the way: the next step opens a new one.
  expect(task.effects).toMatchObject([{ agent: { prompt: "init", resume: "" } }]);
  fail();
  task.fact("dirty", 0).continue("engine");
  expect(task.status).toBe("working");
  fail();
  task.continue("engine");
  expect(task.status).toBe("stuck");
  expect(task.task.held).toBeDefined();
  expect(reasonsOf(task.continue("engine"))).toMatchObject([{ code: "only-human" }]);
  task.fact("workspace", 0).continue();
  expect(task.status).toBe("queued");
});

test("crew: an agent resolves a conflict, the result is tested again, and the task is not held", () => {
  const task = crewAtWork();
  task.fact("commits", 1).ended("worker", "ok");
  task.did("ok");
  task.did("conflict", "a.ts");
  expect(task.status).toBe("resolving");
  expect(task.effects).toMatchObject([
    { action: "spawn_agent", agent: { role: "resolver", prompt: "merge_conflict" } },
  ]);
  task.ended("resolver", "ok");
  expect(task.status).toBe("testing");
});

test("team: the dialogue asks, takes answers, and ends with a whole-message yes", () => {
  const task = drive(builtIn("team"));
  task.continue("engine");
  for (let i = 0; i < 3; i++) task.did("ok");
  expect(task.status).toBe("CLARIFYING");
  task.ended("architect", "ok", { status: "questions", message: "Which beans?" });
  expect(task.task.wait.turn).toBe("reply");
  expect(reasonsOf(task.continue())).toMatchObject([{ code: "not-waiting" }]);
  task.reply("Arabica");
  expect(task.effects).toMatchObject([{ action: "spawn_agent", agent: { prompt: "clarify" } }]);
  task.ended("architect", "ok", { status: "ready", message: "Brew arabica." });
  expect(task.task.wait.turn).toBe("confirm");
  task.reply("yes, but stronger");
  task.ended("architect", "ok", { status: "ready", message: "Brew strong arabica." });
  task.reply("Yes.");
  expect(task.status).toBe("PLANNING");
  expect(task.task.log.map((entry) => entry.from)).toEqual(["agent", "human", "agent", "human", "agent", "human"]);
});

test("team: after the last round the dialogue ends with the last answer, and the reason says so", () => {
  const task = drive(builtIn("team"), { settings: { max_clarification_rounds: 1 } });
  task.continue("engine");
  for (let i = 0; i < 3; i++) task.did("ok");
  task.ended("architect", "ok", { status: "questions", message: "Which beans?" });
  task.reply("Arabica");
  expect(task.status).toBe("PLANNING");
  expect(task.events.some((event) => event.type === "task.moved" && event.data.to === "CLARIFIED")).toBe(true);
});

test("team: an answer that does not fit its schema is asked for again, then the task fails", () => {
  const task = drive(builtIn("team"), { settings: { skip_clarification: true } });
  task.continue("engine");
  for (let i = 0; i < 3; i++) task.did("ok");
  expect(task.status).toBe("PLANNING");
  task.ended("architect", "ok", { subtasks: "none" });
  expect(task.task.reason).toContain("subtasks must be a list");
  expect(task.actions).toEqual(["spawn_agent"]);
  task.ended("architect", "ok", {});
  task.ended("architect", "invalid");
  expect(task.status).toBe("FAILED");
  expect(task.actions).toEqual(["notify", "release_workspace"]);
});

test("team: a plan with a dependency cycle goes back to the architect three times, and never starts", () => {
  const task = drive(builtIn("team"), { settings: { skip_clarification: true } });
  task.continue("engine");
  for (let i = 0; i < 3; i++) task.did("ok");
  const part = (id: string, needs: string[]) => ({ id, title: id, description: id, needs });
  const answer = () => task.ended("architect", "ok", { subtasks: [part("a", ["b"]), part("b", ["a"])] });
  for (let i = 0; i < 2; i++) {
    answer();
    expect(task.status).toBe("PLANNING");
    expect(task.actions).toEqual(["spawn_agent"]);
    expect(task.task.reason).toMatch(/^a needs b, b needs a\. Remove one of these needs/);
  }
  answer();
  expect(task.status).toBe("FAILED");
  expect(task.task.reason).toMatch(/needs/);
});

test("team: with plan_approval a person edits and approves the plan before the engineers start", () => {
  const task = drive(builtIn("team"), { settings: { skip_clarification: true, plan_approval: true } });
  const change = (items: unknown, role = "human") => {
    const decision = decide(builtIn("team"), task.task, { kind: "plan", actor: { role }, items }, task.facts());
    return decision.kind === "rejected" ? decision.reasons.map(({ text }) => text).join() : decision;
  };
  const part = (id: string, ...needs: readonly string[]) => ({ id, title: id, description: id, needs });
  task.continue("engine");
  for (let i = 0; i < 3; i++) task.did("ok");
  expect(change([part("a")])).toBe("The task has no plan yet.");
  task.ended("architect", "ok", { subtasks: [part("a"), part("b", "a")] });
  expect(task.status).toBe("PLANNED");
  const before = task.task;
  expect(change([part("a", "a")])).toBe("a needs itself. Remove a from its needs.");
  expect(change([])).toBe("The plan must have at least 1 item, but has 0.");
  expect(change([{ ...part("a"), files: ["/etc"] }])).toMatch(/^a names the file "\/etc", which is absolute/);
  expect(change([{ id: "a" }])).toMatch(/title of item 1 is missing/);
  expect(change([part("a")], "architect")).toMatch(/This run of architect is over/);
  expect(task.task).toBe(before);
  expect(change([part("c")])).toMatchObject({
    kind: "stayed",
    events: [{ type: "plan.edited", by: "human", data: { items: 1 } }],
    task: { status: "PLANNED", results: { plan: { subtasks: [{ id: "c" }] } } },
  });
  task.continue();
  task.did("ok");
  expect(task.status).toBe("SUBTASK_IMPLEMENTING");
  expect(change([part("c")])).toBe("The work on the plan has begun; it cannot be changed any more.");
});

test("team: without plan_approval the plan waits for nobody, and cannot be changed", () => {
  const task = drive(builtIn("team"), { settings: { skip_clarification: true } });
  task.continue("engine");
  for (let i = 0; i < 3; i++) task.did("ok");
  task.ended("architect", "ok", { subtasks: [{ id: "a", title: "A", description: "A" }] });
  expect(task.events.map(({ data }) => data.to)).toContain("PLANNED");
  expect(task.status).not.toBe("PLANNED");
});

test("team: the end of the children leads to merging, or fails the task where none is done", () => {
  const start = () => {
    const task = drive(builtIn("team"), { settings: { skip_clarification: true } });
    task.continue("engine");
    for (let i = 0; i < 3; i++) task.did("ok");
    task.ended("architect", "ok", { subtasks: [{ id: "a", title: "A", description: "A" }] });
    task.did("ok");
    expect(task.status).toBe("SUBTASK_IMPLEMENTING");
    expect(task.actions).toContain("start_children");
    return task;
  };
  const good = start();
  good.fact("children_done", 1).children("ok");
  expect(good.status).toBe("MERGING_AGENTS");
  expect(good.actions).not.toContain("stop_children");
  const bad = start();
  bad.fact("children_done", 0).children("ok");
  expect(bad.status).toBe("FAILED");
  const stopped = start();
  stopped.ask("human", "CANCELLED");
  expect(stopped.actions).toEqual(["stop_children", "release_workspace"]);
});

test.each(["conflict", "tests"])("team: an engineer mends the joined work after %s, three times at most", (word) => {
  const task = drive(builtIn("team"), { settings: { skip_clarification: true } });
  task.continue("engine");
  for (let i = 0; i < 3; i++) task.did("ok");
  task.ended("architect", "ok", { subtasks: [{ id: "a", title: "A", description: "A" }] });
  task.did("ok");
  task.fact("children_done", 1).children("ok");
  const join = () => {
    task.continue("engine");
    task.did(word);
    return task.status;
  };
  for (let round = 0; round < 3; round++) {
    expect(join()).toBe("RESOLVING");
    task.ended("swe", "ok");
    expect(task.status).toBe("MERGING_AGENTS");
  }
  expect(join()).toBe("FAILED");
});

function pipelineAt(status: string, settings: Record<string, boolean> = {}, preset = "quick-fix") {
  return pipelineOn(drive(builtIn("pipeline"), { preset, settings }), status);
}

/** Agents and people do their part until the task is in this state. */
function pipelineOn(task: ReturnType<typeof drive>, status: string) {
  const steps: Record<string, () => void> = {
    BACKLOG: () => task.continue(),
    TODO: () => (task.task.phase === "doing" ? task.did("ok") : task.continue("engine")),
    CONTEXT_PACK: () => task.fact("documents", 1).ended("analyst", "ok"),
    CONTEXT_REVIEW: () => task.ended("analyst", "ok"),
    SPEC: () => (task.task.phase === "doing" ? task.did("ok") : task.ended("writer", "ok")),
    SPEC_REVIEW: () => task.ended("analyst", "ok", { outcome: "done" }),
    IMPLEMENT: () =>
      task.fact("new_commits", 1).task.phase === "doing" ? task.did("ok") : task.ended("implementer", "ok"),
    PR_REVIEW: () => {
      if (task.task.phase === "doing") return task.did("ok");
      return task.task.runs.judge ? task.ended("judge", "ok", findings) : task.ended("scout/1", "ok", findings);
    },
    PR_HUMAN_REVIEW: () => task.continue(),
    TESTING: () => (task.task.phase === "doing" ? task.did("ok") : task.ended("implementer", "ok", { passed: true })),
    DOC_REVIEW: () => (task.task.phase === "doing" ? task.did("ok") : task.ended("writer", "ok")),
  };
  for (let i = 0; i < 60 && task.status !== status; i++) steps[task.status]?.();
  expect(task.status).toBe(status);
  return task;
}

test("pipeline: a preset chooses the stages and the models", () => {
  const quick = pipelineAt("IMPLEMENT");
  expect(quick.events.some((event) => event.data.to === "SPEC")).toBe(false);
  expect(quick.effects).toMatchObject([
    { action: "spawn_agent", agent: { model: "small", spec: { tools: expect.arrayContaining(["Bash"]) } } },
  ]);
  const full = pipelineAt("SPEC", {}, "full-pipeline");
  expect(full.effects).toMatchObject([{ agent: { model: "large", spec: { permissions: "full" } } }]);
  expect(full.events.filter((event) => event.data.to === "CONTEXT_PACK")).toHaveLength(1);
});

test("pipeline: scouts run side by side, and the judge's answer is the panel's", () => {
  const task = drive(builtIn("pipeline"), { settings: { spec: false, scouts: ["small", "large"] } });
  pipelineOn(task, "PR_REVIEW");
  expect(task.effects.flatMap(({ action, agent }) => agent?.model ?? action)).toEqual([
    ...["push_branch", "create_pr"],
    ...["small", "large"],
  ]);
  task.ended("scout/2", "ok", findings);
  expect(task.effects).toEqual([]);
  // A scout that never answers is dropped after its attempts; the judge works with the other answers.
  for (let i = 0; i < 3; i++) task.ended("scout/1", "invalid");
  expect(task.effects).toMatchObject([{ action: "spawn_agent", agent: { role: "judge", model: "large" } }]);
  expect(task.task.results.reports).toEqual([findings]);
  task.ended("judge", "ok", findings);
  expect(task.actions).toEqual(["post_comment"]);
  expect(task.task.ledger?.findings).toMatchObject([{ id: "F1", state: "open", by: "judge" }]);
});

test("pipeline: an implementer and a fixer that leave nothing are told once, then a person looks; nothing is pushed", () => {
  const task = pipelineAt("IMPLEMENT");
  const end = () => {
    task.ended("implementer", "ok");
    task.did("ok");
  };
  task.fact("new_commits", 0);
  end();
  expect(task.effects).toMatchObject([{ agent: { message: expect.stringContaining("no new commit") } }]);
  end();
  expect(task.task).toMatchObject({ status: "IMPLEMENT", held: { word: "missing" } });
  task.continue();
  task.fact("new_commits", 1);
  end();
  expect(task.status).toBe("PR_REVIEW");
  const fixer = pipelineAt("PR_HUMAN_REVIEW");
  fixer.fact("approved_findings", 1).continue();
  fixer.fact("new_commits", 0).ended("implementer", "ok");
  fixer.did("ok");
  expect(fixer.effects).toMatchObject([
    { agent: { prompt: "fixer", message: expect.stringContaining("no new commit") } },
  ]);
});

test("pipeline: an answer from which nothing follows any more is told with its reason", () => {
  const life = pipelineAt("SPEC_REVIEW", {}, "full-pipeline");
  for (let i = 0; i < 4; i++) {
    life.ended("analyst", "ok", { outcome: "revise", summary: "Not yet", reason: "Name the burr" });
    if (i < 3) pipelineOn(life, "SPEC_REVIEW");
  }
  expect(life.task.held?.reason).toBe(
    'The answer in "SPEC_REVIEW" was outcome "revise", and the rule for that asks for visits < 4 (it is 4), so a person decides. The reviewer\'s last words: Not yet. Name the burr',
  );
});

test("pipeline: what an agent says that cannot bring its evidence is in the reason of the hold", () => {
  const heldAfter = (end: (life: ReturnType<typeof pipelineAt>) => void) => {
    const life = pipelineAt("IMPLEMENT");
    for (let i = 0; i < 2; i++) {
      life.fact("new_commits", 0);
      end(life);
      life.did("ok");
    }
    return life.task.held?.reason;
  };
  const answer = "The mill\u001b[31m is made of steel\nalready.";
  expect(heldAfter((life) => life.ended("implementer", "ok", answer))).toMatch(
    / no new commit .*\. It said: The mill is made of steel already\.$/,
  );
  const report = { kind: "complete", summary: "Nothing to do", outcome: "done", reason: "", documents: [] } as const;
  const reported = heldAfter((life) => {
    const run = life.task.runs.implementer?.key ?? "";
    life.request({ ...report, actor: { role: "implementer", run } });
    life.ended("implementer", "ok");
  });
  expect(reported).toMatch(/It said: Nothing to do$/);
  expect(heldAfter((life) => life.ended("implementer", "ok"))).toMatch(/It said nothing\.$/);
});

test("pipeline: findings that nobody has decided about are named before the task goes on; a person may insist", () => {
  const life = pipelineAt("PR_HUMAN_REVIEW");
  const { task } = life;
  const go = (seen: Task, word: PersonsWord) =>
    decide(builtIn("pipeline"), seen, { kind: "continue", actor: { role: "human" }, word }, life.facts());
  expect(go(task, { answered: true })).toMatchObject({
    kind: "rejected",
    reasons: [{ code: "undecided", text: expect.stringContaining("1 finding is undecided: F1") }],
  });
  expect(go(task, {})).toMatchObject({ kind: "moved", task: { status: "TESTING" } });
  const decided = (state: "approved" | "dismissed") =>
    go({ ...task, ledger: { ...emptyLedger, ...task.ledger, findings: all(task, state) } }, { answered: true });
  expect(decided("approved")).toMatchObject({ task: { status: "FIXER" } });
  expect(decided("dismissed")).toMatchObject({ task: { status: "TESTING" } });
});

test("pipeline: a fixer with nothing left to fix goes back to the person, at the person's word or when they continue", () => {
  const held = () => {
    const life = pipelineAt("PR_HUMAN_REVIEW");
    life.fact("approved_findings", 1).continue();
    for (let i = 0; i < 2; i++) {
      life.fact("new_commits", 0).ended("implementer", "ok");
      life.did("ok");
    }
    expect(life.task).toMatchObject({ status: "FIXER", held: { word: "missing" } });
    return life;
  };
  const asked = held();
  const { moves } = explain(builtIn("pipeline"), asked.task, asked.facts());
  expect(moves.find(({ to }) => to === "PR_HUMAN_REVIEW")).toMatchObject({
    ...{ open: true, command: "signalbox task update t1 --status PR_HUMAN_REVIEW" },
  });
  asked.ask("human", "PR_HUMAN_REVIEW");
  asked.fact("approved_findings", 0).continue();
  expect(asked.status).toBe("TESTING");
  const again = held();
  again.continue();
  expect(again.task).toMatchObject({ status: "FIXER", held: undefined, runs: { implementer: {} } });
  const dismissed = held();
  dismissed.fact("approved_findings", 0).continue();
  expect([dismissed.status, dismissed.actions.includes("spawn_agent")]).toEqual(["PR_HUMAN_REVIEW", false]);
});

function all({ ledger }: Task, state: Finding["state"]): readonly Finding[] {
  return (ledger?.findings ?? []).map((finding) => ({ ...finding, state }));
}

test("pipeline: commits since the verdict are reviewed once more, then a person looks", () => {
  const task = pipelineAt("MERGE_READY", { auto_merge: true });
  task.did("unreviewed");
  expect(task.task).toMatchObject({ status: "PR_REVIEW", counters: { reviewed_again: 1 } });
  pipelineOn(task, "MERGE_READY").did("unreviewed");
  expect(task.task).toMatchObject({ status: "MERGE_READY", held: { word: "unreviewed" } });
});

test("pipeline: approved findings lead to the fixer, otherwise the task goes to testing", () => {
  const fix = pipelineAt("PR_HUMAN_REVIEW");
  fix.fact("approved_findings", 2).continue();
  expect(fix.status).toBe("FIXER");
  const skip = pipelineAt("PR_HUMAN_REVIEW");
  skip.fact("approved_findings", 0).continue();
  expect(skip.status).toBe("TESTING");
});

test("pipeline: the engine's own tests decide, and send the work back three times at most; a person may once more", () => {
  const task = pipelineAt("TESTING");
  for (let round = 1; round <= 3; round++) {
    task.ended("implementer", "ok", { passed: true });
    task.did("tests");
    expect(task.status).toBe("IMPLEMENT");
    pipelineOn(task, "TESTING");
  }
  task.ended("implementer", "ok", { passed: true });
  task.did("tests");
  expect(task.task).toMatchObject({ status: "TESTING", held: { word: "tests" } });
  task.ask("human", "IMPLEMENT");
  expect(task.task).toMatchObject({ status: "IMPLEMENT", counters: { sent_back: 0 } });
});

test("pipeline: an unapproved pull request holds the task, and the engine may check again", () => {
  const task = pipelineAt("MERGE_READY", { auto_merge: true });
  expect(task.actions).toContain("merge_pr");
  task.did("unapproved", "no reviews");
  expect(task.task.held).toMatchObject({ word: "unapproved", reason: "no reviews" });
  task.continue("engine");
  expect(task.actions).toEqual(["push_branch", "run_tests", "merge_pr"]);
  task.did("ok");
  expect(task.status).toBe("DONE");
});

test("pipeline: a stage that fails three times is held until a person clears it, with 5 and 10 seconds between", () => {
  const task = pipelineAt("CONTEXT_PACK");
  task.ended("analyst", "error");
  expect(task.effects[0]?.delay).toBe(5);
  task.ended("analyst", "error");
  expect(task.effects[0]?.delay).toBe(10);
  task.ended("analyst", "error");
  expect(task.task.held).toMatchObject({ word: "error" });
  task.continue();
  expect(task.actions).toEqual(["spawn_agent"]);
  expect(task.task.crashCount).toBe(0);
});

test("minimal: without a stuck state the task is held after its agent died", () => {
  const task = drive(builtIn("minimal"));
  task.ask("human", "working");
  for (let i = 0; i < 3; i++) {
    task.ended("worker", "exit");
    expect(task.status).toBe("working");
    expect(task.task.held).toBeDefined();
    task.respawn();
  }
});

test("classic: hooks kill and start agents, and the exit rules move the task", () => {
  const task = drive(builtIn("classic"));
  task.ask("human", "working");
  task.write("Handoff", "done it").ended("worker", "exit");
  expect(task.status).toBe("agent-review");
  expect(task.effects.map((effect) => [effect.action, effect.agent?.role])).toEqual([
    ["kill_session", undefined],
    ["spawn_agent", "reviewer"],
  ]);
  task.write("Review", "I say it should FAIL for now").ended("reviewer", "exit");
  expect(task.status).toBe("working");
  task.write("Handoff", "done more").ask("worker", "agent-review");
  task.write("Review", "no verdict here").ended("reviewer", "exit");
  expect(task.task.held).toBeDefined();
  task.respawn();
  task.ended("reviewer", "exit");
  expect(task.status).toBe("stuck");
});

test("a state's time limit ends the agent and takes a rule; the whole task's limit holds it for a person", () => {
  const workflow = loadText(`
version: 1
states:
  build: { agent: { role: coder, mode: turn, prompt: build }, limits: { time: 10m }, outcomes: [{ on: time, then: late }], next: done }
  late: { waits_for: human, next: build }
  done: { terminal: true }
limits: { cost: 5 }
prompts: { build: Build it. }
`);
  const task = drive(workflow);
  task.request({ kind: "limit", word: "time", entry: task.task.entry });
  expect(task.status).toBe("late");
  expect(task.actions).toContain("kill_agent");
  task.continue();
  task.request({ kind: "limit", word: "cost" });
  expect(task.task.held).toMatchObject({ word: "cost" });
  expect(task.task.runs).toEqual({});
});
