import { expect, test } from "vitest";
import type { Surroundings } from "../../src/engine/allowance.ts";
import { explain } from "../../src/engine/explain.ts";
import { emptyLedger, type Ledger } from "../../src/engine/findings.ts";
import { needsOf } from "../../src/engine/needs.ts";
import { personActions } from "../../src/engine/person-actions.ts";
import { takeDecision } from "../../src/engine/person-findings.ts";
import { takeReview } from "../../src/engine/review.ts";
import type { Task } from "../../src/engine/task.ts";
import { builtIn, drive } from "./drive.ts";

const workflow = builtIn("pipeline");
const { task: created, facts } = drive(workflow);
const id = created.id;
const reported = [
  { title: "It is cold", file: "cup.ts" },
  { title: "No lid", file: "lid.ts" },
];
const { ledger: undecided } = takeReview(emptyLedger, reported, {
  ...{ role: "judge", commit: "c1" },
  hasChanged: () => true,
});

function decided(states: Readonly<Record<string, "approved" | "dismissed">>): Ledger {
  return Object.entries(states).reduce((ledger, [finding, state]) => {
    const taken = takeDecision(ledger, [finding], state, "");
    return "ledger" in taken ? taken.ledger : ledger;
  }, undecided);
}

function at(ledger: Ledger): Task {
  return { ...created, status: "PR_HUMAN_REVIEW", phase: "waiting", runs: {}, ledger };
}

function needOf(ledger: Ledger) {
  const [need] = needsOf({
    ...{ task: at(ledger), workflow, changedAt: 5, now: 9, runs: [], messages: [], merge: undefined },
    ...{ failure: undefined, isOwing: false, limit: undefined, hopeless: [], questions: "", known: new Map() },
  });
  return need;
}

const around: Surroundings = {
  ...{ terminals: [], alive: [], hasWorked: true, hasFailed: false, isMerging: false, canStopMerge: false },
  ...{ hasWork: true, hasRemote: false },
};

function actionsFor(ledger: Ledger) {
  const actions = personActions(workflow, at(ledger), facts(), around);
  const named = (name: string) => actions.find((action) => action.name === name);
  return { first: actions[0], approve: named("approve"), goOn: named("continue") };
}

function movesFor(ledger: Ledger) {
  const { moves } = explain(workflow, at(ledger), facts());
  return Object.fromEntries(moves.map(({ to, ...move }) => [to, move]));
}

const approve = `signalbox task approve ${id}`;

test("while findings are undecided, the person is told to decide about them, and no approval is offered", () => {
  const need = needOf(undecided);
  expect(need?.text).toMatch(/^Launch fixer\. 2 findings are undecided: F1 .*F2 /);
  expect(need?.command).toBe(`signalbox task findings ${id}`);
  expect(need?.fix).toContain(`signalbox task findings ${id} approve F1`);
  expect(need?.fix).not.toContain(approve);
  const half = needOf(decided({ F2: "dismissed" }));
  expect(half?.text).toContain("1 finding is undecided: F1");
  expect(half?.text).not.toContain("F2");
  const { first, approve: yes, goOn } = actionsFor(undecided);
  expect(first).toMatchObject({ name: "findings", command: `signalbox task findings ${id}`, allowed: true });
  expect(yes).toMatchObject({ allowed: false, why: expect.stringContaining("2 findings are undecided") });
  expect(goOn).toMatchObject({ command: `signalbox task continue ${id} --yes` });
  for (const to of ["FIXER", "TESTING"])
    expect(movesFor(undecided)[to]).toMatchObject({
      ...{ open: false, command: "", missing: [expect.stringContaining("2 findings are undecided")] },
    });
});

test("once they are decided, only the state that an approval leads to is offered", () => {
  const some = decided({ F1: "approved", F2: "dismissed" });
  expect(needOf(some)).toMatchObject({ text: "Launch fixer", fix: `Approve, which moves it to FIXER: ${approve}` });
  expect(actionsFor(some).approve).toMatchObject({ label: "Approve: Launch fixer", to: "FIXER" });
  expect(movesFor(some)).toMatchObject({
    FIXER: { open: true, command: approve },
    TESTING: { open: false, command: "", missing: ['An approval leads to "FIXER".'] },
  });
  const none = decided({ F1: "dismissed", F2: "dismissed" });
  expect(needOf(none)).toMatchObject({
    text: "No finding is approved, so the task goes on in TESTING.",
    fix: `Approve, which moves it to TESTING: ${approve}`,
  });
  expect(actionsFor(none).approve).toMatchObject({ label: "Approve, and go on in TESTING", to: "TESTING" });
  expect(movesFor(none)).toMatchObject({
    FIXER: { open: false, command: "", missing: ["No finding is approved."] },
    TESTING: { open: true, command: approve },
  });
});

test("a move of the engine whose evidence is missing is not open", () => {
  const moves = (documents: number) => {
    const task: Task = { ...created, status: "CONTEXT_PACK", phase: "waiting", entry: 3 };
    const numbers = { ...facts().numbers, documents };
    return explain(workflow, task, { ...facts(), numbers }).moves.find(({ to }) => to === "CONTEXT_REVIEW");
  };
  expect(moves(0)).toMatchObject({ open: false, missing: [expect.stringMatching(/^No document was handed over/)] });
  expect(moves(1)).toMatchObject({ open: true });
});
