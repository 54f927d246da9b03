import { expect, test } from "vitest";
import { atWork, builtIn, loadText } from "../../test/engine/drive.ts";
import { explain } from "./explain.ts";

const workflow = builtIn("default");

test("an explanation names what the task waits for, its ways, who may ask for them, and what is missing", () => {
  const { task, facts } = atWork();
  const { where, moves, blocked } = explain(workflow, task, { ...facts(), document: emptyDocument() });
  expect(where).toBe('The task is in "working" and waits for worker.');
  // An agent that is at work blocks nothing.
  expect(blocked).toEqual([]);
  expect(moves).toContainEqual({
    to: "agent-review",
    by: ["worker"],
    open: false,
    command: "",
    missing: ["## Handoff is missing from the task file."],
  });
  expect(moves.find(({ to }) => to === "cancelled")).toMatchObject({ by: ["human"], open: true, missing: [] });
});

test("a move that a promise forbids to people is not offered to them", () => {
  const text = (promises: string) => `version: 1
initial: a
states: { a: { waits_for: human, next: b }, b: { waits_for: human, next: c }, c: { terminal: true } }
transitions: [{ from: a, to: b, by: [human, engine] }, { from: b, to: a, by: [human, engine] }]
${promises}`;
  const commandsOf = (promises: string) => {
    const forbidding = loadText(text(promises));
    const { task, facts } = atWork();
    const here = { ...task, workflow: "flow", status: "b", phase: "waiting" as const };
    return explain(forbidding, here, { ...facts(), document: emptyDocument() }).moves.map(({ command }) => command);
  };
  expect(commandsOf("").join()).toContain("--status a");
  expect(commandsOf("promises: [{ to: a, never_by: human }]").join()).not.toContain("--status a");
});

test("a state whose rules only mark its agent as dead is explained as waiting for a person", () => {
  const { task, facts } = atWork();
  const at = (name: string, status: string) =>
    explain(builtIn(name), { ...task, status, phase: "waiting" }, { ...facts(), document: emptyDocument() });
  expect(at("default", "reviewing").moves.find(({ to }) => to === "done")).toMatchObject({
    open: false,
    by: ["human"],
  });
  for (const status of ["clarification", "reviewing", "stuck"])
    expect(at("classic", status)).toMatchObject({
      where: `The task is in "${status}" and waits for a person.`,
      blocked: [],
    });
});

test("a task that waits for another one is not explained as waiting for a slot", () => {
  const { task, facts } = atWork();
  const at = (isDependent: boolean) => {
    const state = Object.values(workflow.states).find(({ wait }) => wait.kind === "slot")?.name ?? "";
    return explain(workflow, { ...task, status: state, phase: "waiting" }, facts(), "human", { isDependent }).where;
  };
  expect(at(false)).toMatch(/waits for a free slot\.$/);
  expect(at(true)).toMatch(/waits for what it depends on\.$/);
});

test("a task that is over has no moves", () => {
  const { task, facts } = atWork();
  const { where, moves, blocked } = explain(workflow, { ...task, status: "done", phase: "over" }, facts());
  expect({ where, moves, blocked }).toEqual({
    where: 'The task is over: it ended in "done" (done).',
    moves: [],
    blocked: [],
  });
});

test("a command is shown only to readers who may ask for the state", () => {
  const { task, facts } = atWork();
  const commands = (role: string) =>
    Object.fromEntries(explain(workflow, task, facts(), role).moves.map(({ to, command }) => [to, command]));
  const update = (to: string) => `signalbox task update ${task.id} --status ${to}`;
  expect(commands("human")).toMatchObject({
    clarification: "",
    stuck: update("stuck"),
    cancelled: update("cancelled"),
  });
  expect(commands("worker")).toMatchObject({
    ...{ clarification: update("clarification"), "agent-review": update("agent-review"), cancelled: "" },
  });
});

test("where the engine moves the task after a person's approval, the command is approve, even for unmerged work", () => {
  const pipeline = builtIn("pipeline");
  const { task, facts } = atWork();
  const unmerged = { ...facts(), numbers: { ...facts().numbers, commits: 2, merged: 0 } };
  const at = { ...task, workflowHash: pipeline.hash, status: "MERGE_READY", phase: "waiting" as const };
  const toDone = (seen: typeof at) => explain(pipeline, seen, unmerged).moves.find(({ to }) => to === "DONE");
  expect(toDone(at)).toMatchObject({ by: ["engine"], command: `signalbox task approve ${task.id}` });
  // One approval leads to one state: where another one follows only if the merge fails, that is said, without the command.
  const others = explain(pipeline, at, unmerged).moves.filter(({ command }) => command.includes("task approve"));
  expect(others.map(({ to }) => to)).toEqual(["DONE"]);
  expect(explain(pipeline, at, unmerged).moves.find(({ to }) => to === "PR_REVIEW")).toMatchObject({
    ...{ open: false, command: "" },
    missing: ['An approval leads there only if the work of "MERGE_READY" then ends with "unreviewed".'],
  });
  const held = { word: "unmergeable", reason: "It conflicts.", again: "do" as const };
  expect(toDone({ ...at, held })?.command).toBe(`signalbox task continue ${task.id}`);
});

test("of several ways that an approval could take, only the first whose condition holds is offered", () => {
  const gated = loadText(`version: 1
states:
  asked: { waits_for: human, ask: Go on, outcomes: [{ when: commits > 0, then: large }], next: small }
  large: { waits_for: human, next: done }
  small: { waits_for: human, next: done }
  done: { terminal: true }
`);
  const { task, facts } = atWork();
  const offered = (commits: number) => {
    const seen = { ...facts(), numbers: { ...facts().numbers, commits } };
    const { moves } = explain(gated, { ...task, status: "asked", phase: "waiting", runs: {} }, seen);
    return moves.flatMap(({ to, command }) => (command.includes("task approve") ? [to] : []));
  };
  expect(offered(2)).toEqual(["large"]);
  expect(offered(0)).toEqual(["small"]);
});

test("where a finding was approved that no review calls fixed, a merge is no open move, and its reason is named", () => {
  const pipeline = builtIn("pipeline");
  const { task, facts } = atWork();
  const finding = { id: "F1", state: "approved", severity: "high", file: "cup.md", line: 1, title: "Cold" };
  const ledger = { round: 1, quiet: 0, findings: [finding] } as unknown as typeof task.ledger;
  const at = { ...task, status: "MERGE_READY", phase: "waiting" as const, ledger, runs: {} };
  const { moves } = explain(pipeline, at, facts());
  expect(moves.find(({ to }) => to === "DONE")).toMatchObject({
    open: false,
    missing: ["You approved F1, and no review says that it is fixed."],
  });
  expect(moves.find(({ to }) => to === "PR_REVIEW")).toMatchObject({ open: true });
});

test("while a panel works, or the task is held, no move of the engine is listed as open", () => {
  const pipeline = builtIn("pipeline");
  const { task, facts } = atWork();
  const open = (change: Partial<typeof task>) =>
    explain(pipeline, { ...task, phase: "waiting", ...change }, facts()).moves.flatMap((move) =>
      move.open ? [move.to] : [],
    );
  const judge = { key: "judge#1", mode: "turn" as const };
  expect(open({ status: "PR_REVIEW", runs: { judge } })).toEqual(["CANCELLED"]);
  const held = { word: "missing", reason: "No document.", again: "wait" as const };
  expect(open({ status: "CONTEXT_PACK", runs: {}, held })).toEqual(["CANCELLED"]);
});

test("while a failed run is tried again, the explanation names the attempt and the error; one without a seat waits to be started", () => {
  const pipeline = builtIn("pipeline");
  const { task, facts } = atWork();
  const analyst = { key: "analyst#2", mode: "turn" as const };
  const failed = { crashCount: 1, reason: "The provider is overloaded.", runs: { analyst } };
  const at = (change: Partial<typeof task>, waitsForSeat = false) =>
    explain(pipeline, { ...task, status: "CONTEXT_PACK", ...failed, ...change }, facts(), "human", { waitsForSeat });
  expect(at({ phase: "waiting" }).blocked).toEqual([
    {
      reason: "This is attempt 2 of 3 of analyst. The last one failed: The provider is overloaded.",
      fix: `See what it printed: signalbox task logs ${task.id}`,
    },
  ]);
  expect(at({ phase: "entering" }).blocked).toEqual([]);
  expect(at({ phase: "entering" }, true).where).toBe(
    'The task has entered "CONTEXT_PACK"; an agent waits to be started.',
  );
});

function emptyDocument() {
  return { frontmatter: "", preamble: "", sections: [], byHeading: new Map(), fingerprints: [], eol: "\n" as const };
}
