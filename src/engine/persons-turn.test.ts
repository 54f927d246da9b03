import { describe, expect, test } from "vitest";
import { atWork, builtIn } from "../../test/engine/drive.ts";
import { load } from "../../test/language/workflow-texts.ts";
import { withSection } from "../documents/task-document.ts";
import { whyNobodyAsks, whyNoDialogue, whyNothingToApprove } from "./allowance.ts";
import { decide } from "./decide.ts";
import { stateOf } from "./enter.ts";
import { explain } from "./explain.ts";
import { personActions } from "./person-actions.ts";
import { answerTarget, askedOf, isMergedFrom, isPersonsTurn, personsVerbs, wantsAnswer } from "./persons-turn.ts";
import type { Task } from "./task.ts";
import type { Workflow } from "./workflow.ts";

const { task: working, facts } = atWork();
const around = {
  terminals: [],
  alive: [],
  hasWorked: true,
  hasFailed: false,
  isMerging: false,
  hasWork: true,
  hasRemote: false,
};

function at(name: string, status: string) {
  const workflow = builtIn(name);
  const task: Task = { ...working, workflowHash: workflow.hash, status, phase: "waiting", workspace: "/w" };
  const state = workflow.states[status];
  if (state === undefined) throw new Error(status);
  const seen = facts();
  const unmerged = { ...seen, numbers: { ...seen.numbers, workspace: 1, commits: 2, merged: 0 } };
  return { workflow, task, state, facts: unmerged };
}

test.each([
  ["default", ["clarification", "reviewing", "stuck"]],
  ["classic", ["clarification", "reviewing", "stuck"]],
  ["minimal", ["reviewing"]],
  ["crew", []],
])("in %s it is a person's turn in %j, and in no other state", (name, states) => {
  const { states: all } = builtIn(name);
  expect(Object.values(all).flatMap((state) => (isPersonsTurn(state) ? [state.name] : []))).toEqual(states);
});

test.each([
  ["classic", "clarification"],
  ["classic", "reviewing"],
  ["classic", "stuck"],
  ["minimal", "reviewing"],
])("in %s an agent that is idle in %s gets no reminder, and its task is not held", (name, status) => {
  const { workflow, task, facts: seen } = at(name, status);
  const tired = { ...task, wait: { ...task.wait, reminded: 9 } };
  for (const each of [task, tired])
    expect(decide(workflow, each, { kind: "idle", run: "worker#1" }, seen)).toMatchObject({ kind: "ignored" });
});

test("in classic and minimal an idle agent in working is told what is missing", () => {
  for (const name of ["classic", "minimal"]) {
    const { workflow, task, facts: seen } = at(name, "working");
    expect(decide(workflow, task, { kind: "idle", run: "worker#1" }, seen)).toMatchObject({ kind: "stayed" });
  }
});

test.each(["classic", "minimal"])(
  "in %s work that is not merged is offered to be merged, not to be moved to its end",
  (name) => {
    const { workflow, task, facts: seen } = at(name, "reviewing");
    const actions = personActions(workflow, task, seen, around);
    expect(actions[0]).toMatchObject({ name: "merge", allowed: true, to: "done" });
    expect(actions.find(({ name: which, to }) => which === "move" && to === "done")).toMatchObject({
      allowed: false,
      why: `The work is not merged. Merge it: signalbox task merge ${task.id}`,
    });
    expect(actions.find(({ name: which }) => which === "approve")).toMatchObject({ allowed: true, to: "done" });
    expect(explain(workflow, task, seen).moves.find(({ to }) => to === "done")).toMatchObject({
      command: `signalbox task merge ${task.id}`,
    });
  },
);

test("an answer in classic's clarification leads to the one state in which an agent continues with it", () => {
  const { workflow, task, state, facts: seen } = at("classic", "clarification");
  expect(answerTarget(workflow, state, seen.document)).toBe("working");
  expect(whyNobodyAsks(workflow, task, seen.document)).toBeUndefined();
  const [first] = personActions(workflow, task, seen, around);
  expect(first).toMatchObject({ name: "answer", allowed: true, to: "working" });
});

test("where nothing can be answered or approved, the refusal names the command that works", () => {
  const stuck = at("classic", "stuck");
  const { document } = stuck.facts;
  expect(answerTarget(stuck.workflow, stuck.state, document)).toBeUndefined();
  const { id } = stuck.task;
  const both = ["working", "agent-review"].map((to) => `signalbox task request-changes ${id} --status ${to}`);
  for (const reason of [
    whyNobodyAsks(stuck.workflow, stuck.task, document),
    whyNothingToApprove(stuck.workflow, stuck.task, stuck.facts.document),
  ])
    for (const command of both) expect(reason?.fix).toContain(command);
  const clarification = at("classic", "clarification");
  expect(whyNothingToApprove(clarification.workflow, clarification.task, clarification.facts.document)?.fix).toBe(
    `Answer: signalbox task answer ${id}`,
  );
});

test("a reply where no agent asks in a dialogue is refused with the commands that work there", () => {
  const fixAt = (name: string, state: string, hasTerminal = false) => {
    const { workflow, task, facts: seen } = at(name, state);
    return whyNoDialogue(workflow, task, seen.document, hasTerminal)?.fix;
  };
  expect(fixAt("default", "clarification")).toContain("signalbox task answer");
  expect(fixAt("default", "reviewing")).toContain("signalbox task request-changes");
  expect(fixAt("default", "working", true)).toMatch(/signalbox task send .*\n.*signalbox task attach/);
  expect(fixAt("default", "working")).toContain("signalbox task explain");
  expect(fixAt("default", "done")).toContain("signalbox task create --from");
  const { workflow, task, facts: seen } = at("team", "CLARIFYING");
  const talking = { ...task, wait: { ...task.wait, turn: "confirm" as const } };
  expect(whyNoDialogue(workflow, talking, seen.document, false)).toBeUndefined();
});

test("while an agent has open questions, approving is neither offered nor accepted, and answering is named", () => {
  const { workflow, task, state, facts: seen } = at("default", "clarification");
  const asked = { ...seen, document: withSection(seen.document, "Questions", "Arabica or Robusta?") };
  const approve = (which: typeof seen) =>
    personActions(workflow, task, which, around).find(({ name }) => name === "approve");
  expect(approve(seen)).toMatchObject({ allowed: true, to: "planning" });
  expect(approve(asked)).toMatchObject({
    allowed: false,
    why: `The agent has questions, and an approval does not answer them. Answer them: signalbox task answer ${task.id} -m "Your answer"`,
  });
  const verbs = personsVerbs(workflow, state, task, askedOf(workflow, state, asked.document));
  expect(verbs.join()).not.toContain("approve");
});

test("a task whose agent has open questions goes on without an answer only where the person says so", () => {
  const { workflow, task, facts: seen } = at("default", "clarification");
  const asked = { ...seen, document: withSection(seen.document, "Questions", "Arabica or Robusta?") };
  const actor = { role: "human" };
  const continued = (facts: typeof seen, which = task) =>
    decide(workflow, which, { kind: "continue", actor, word: { answered: true } }, facts);
  expect(continued(seen).kind).toBe("moved");
  expect(continued(asked)).toMatchObject({
    kind: "rejected",
    reasons: [{ code: "unanswered", fix: expect.stringContaining(`signalbox task answer ${task.id}`) }],
  });
  // To try again what failed is no answer to anything.
  const held = { reason: "The disk is full.", word: "error" as const, again: "wait" as const };
  expect(continued(asked, { ...task, held }).kind).not.toBe("rejected");
  const goOn = personActions(workflow, task, asked, around).find(({ name }) => name === "continue");
  expect(goOn).toMatchObject({ allowed: true, command: `signalbox task continue ${task.id} --yes` });
  expect(decide(workflow, task, { kind: "continue", actor, word: {} }, asked).kind).toBe("moved");
});

test("answered questions do not forbid an approval in another state", () => {
  const { workflow, state, facts: seen } = at("default", "clarification");
  const answered = withSection(withSection(seen.document, "Questions", "Which?"), "Answers", "Both.");
  expect(wantsAnswer(workflow, state, answered)).toBe(true);
  expect(wantsAnswer({ ...workflow, unclear: "pending" }, state, answered)).toBe(false);
});

test("the first state is never merged from, whatever its ways; later a person's way to the end merges", () => {
  const workflow = load(`
version: 1
states: { ideas: { waits_for: human }, checking: { waits_for: human }, done: { terminal: true } }
transitions:
  - { from: ideas, to: checking, by: human }
  - { from: ideas, to: done, by: human }
  - { from: checking, to: done, by: human }`);
  const merged = Object.values(workflow.states).filter((state) => isMergedFrom(workflow, state));
  expect(merged.map(({ name }) => name)).toEqual(["checking"]);
});

test("where the workflow merges after an approval, a request to merge names approve, or continue for a held task", () => {
  const { workflow, task, facts: seen } = at("pipeline", "MERGE_READY");
  const merge = (which: Task) => personActions(workflow, which, seen, around).find(({ name }) => name === "merge");
  expect(merge(task)).toMatchObject({ allowed: false });
  expect(merge(task)?.why).toBe(
    `The workflow itself moves the task from "MERGE_READY" to "DONE" once you approve. Approve: signalbox task approve ${task.id}`,
  );
  const held = { word: "unmergeable", reason: "It conflicts.", again: "do" as const };
  expect(merge({ ...task, held })?.why).toContain(`signalbox task continue ${task.id}`);
});

const mine = load(`
version: 1
roles: { coder: { mode: turn, prompt: p } }
states:
  ideas: { waits_for: human, ask: Start, next: plan }
  plan: { agent: { role: coder }, next: approval }
  approval: { waits_for: human, ask: Build it, next: build }
  build: { agent: { role: coder }, next: merge }
  merge: { waits_for: human, ask: Merge, do: [merge], next: done }
  done: { terminal: true }
prompts: { p: "{summary}" }`);

describe("an answer is not an approval", () => {
  const about = (workflow: Workflow, status: string, document = facts().document) => {
    const task: Task = { ...working, workflowHash: workflow.hash, status, phase: "waiting", workspace: "/w" };
    const seen = { ...facts(), document };
    const there = { ...around, terminals: ["worker#1"] };
    const offered = personActions(workflow, task, seen, there).find(({ name }) => name === "answer");
    const reason = whyNobodyAsks(workflow, task, document, { hasTerminal: true });
    const verbs = personsVerbs(
      workflow,
      stateOf(workflow, status),
      task,
      askedOf(workflow, stateOf(workflow, status), document),
    );
    return { offered, reason, verbs: verbs.join("\n") };
  };

  test.each([
    ["default", "stuck"],
    ["default", "reviewing"],
    ["classic", "stuck"],
    ["classic", "reviewing"],
    ["minimal", "reviewing"],
    ["pipeline", "BACKLOG"],
    ["pipeline", "PR_HUMAN_REVIEW"],
    ["pipeline", "MERGE_READY"],
    ["mine", "ideas"],
    ["mine", "approval"],
    ["mine", "merge"],
  ])(
    "in %s an answer moves nothing in %s, is not offered, and its refusal names a command that works",
    (name, status) => {
      const { offered, reason, verbs } = about(name === "mine" ? mine : builtIn(name), status);
      expect(offered).toMatchObject({ allowed: false });
      expect(reason).toMatchObject({ code: "not-waiting" });
      expect(reason?.fix).toMatch(/signalbox task (approve|merge|request-changes) /);
      expect(reason?.fix).toContain("signalbox task send");
      expect(`${verbs}${reason?.fix}`).not.toContain("task answer");
    },
  );

  test("where an agent has open questions, or the workflow asks what is unclear, an answer moves the task", () => {
    const asked = withSection(facts().document, "Questions", "Which beans?");
    for (const { offered, reason, verbs } of [
      about(mine, "approval", asked),
      about(builtIn("default"), "clarification"),
      about(builtIn("classic"), "clarification"),
    ]) {
      expect(offered).toMatchObject({ allowed: true });
      expect(reason).toBeUndefined();
      expect(verbs).toContain("signalbox task answer");
    }
    // Where a person merges, an answer is never what is needed.
    expect(about(mine, "merge", asked).reason).toBeDefined();
  });

  test("where an agent is at hand, looking at its work and talking to it come before the approval", () => {
    const { verbs } = about(builtIn("default"), "stuck");
    expect(verbs).toMatch(/^Look at its work: .* task diff .*\nTell its agent what to do: .* task send .*\nApprove/);
    expect(about(mine, "approval").verbs).not.toContain("task send");
  });

  test("where the agent is dead, starting it again comes instead of a message that would be refused", () => {
    const { workflow, task, state } = at("default", "stuck");
    const verbs = personsVerbs(workflow, state, { ...task, runs: {} }, "consent").join("\n");
    expect(verbs).toMatch(/^Look at its work: .*\nStart its agent again, .*: signalbox task respawn \S+\nApprove/);
    expect(verbs).not.toContain("task send");
  });

  test("the approval line names the state that it leads to", () => {
    expect(about(builtIn("default"), "stuck").verbs).toContain(
      "Approve, which moves it to reviewing: signalbox task approve",
    );
  });
});
