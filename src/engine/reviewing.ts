import { apply, type Decision, type Reason, type TaskEvent } from "./decision.ts";
import { stateOf } from "./enter.ts";
import { asksForFindings, emptyLedger, isUnsettled, ledgerNumber, reportedFindings } from "./findings.ts";
import { givenCommit } from "./judging.ts";
import { rejected, standing } from "./move.ts";
import { addOwn, takeDecision } from "./person-findings.ts";
import type { Facts, Request } from "./request.ts";
import { takeReview } from "./review.ts";
import type { Task } from "./task.ts";
import { compare, covers } from "./when.ts";
import type { RunSpec, State, Workflow } from "./workflow.ts";

/** Takes the findings of a reviewer's valid answer into the ledger; undefined where the answer has no list of them. */
export function reviewed(
  workflow: Workflow,
  task: Task,
  spec: RunSpec,
  { run, answer }: Pick<Extract<Request, { kind: "ended" }>, "run" | "answer">,
  { head, changedSince = {} }: Facts,
): TaskEvent | undefined {
  const reported = reportedFindings(workflow, spec, answer);
  if (reported === undefined) return undefined;
  const commit = givenCommit(task) || head;
  const { ledger, changed } = takeReview(task.ledger ?? emptyLedger, reported, {
    ...{ role: spec.role, run, commit },
    // Where git did not say, any file may have changed once the branch has moved.
    hasChanged: (file, since) => changedSince[since]?.includes(file) ?? since !== commit,
  });
  const findings = changed.map(({ id, state, severity, file, line, title }) => ({
    ...{ id, state, severity, file, line, title },
  }));
  const open = ledger.findings.filter(({ state }) => isUnsettled(state)).length;
  return {
    type: "finding.reviewed",
    by: spec.role,
    data: { run, round: ledger.round, findings, open, quiet: ledger.quiet },
    set: { ledger },
  };
}

/** Only a person decides about findings here: the author of the work would close its own, and reviewers answer in their reviews. */
export function decideFindings(
  workflow: Workflow,
  task: Task,
  { actor, findings, state, reason }: Extract<Request, { kind: "finding" }>,
): Decision {
  const refusal = standing({ ...stateOf(workflow, task.status), wait: { kind: "none" } }, task, actor);
  if (refusal !== undefined) return rejected(refusal);
  if (actor.role !== "human") {
    const text = "Only a person can approve or dismiss findings.";
    return rejected({ code: "only-human", text, fix: "A reviewer answers about findings in its review." });
  }
  const taken = takeDecision(task.ledger ?? emptyLedger, findings, state, reason, liveRuns(task));
  if ("problem" in taken) return rejected({ code: "bad-value", text: taken.problem, fix: taken.fix });
  if (taken.changed.length === 0) return { kind: "ignored", why: "Nothing would change." };
  const event: TaskEvent = {
    type: state === "approved" ? "finding.approved" : "finding.dismissed",
    by: "human",
    data: { findings: taken.changed.map(({ id }) => id), reason },
    set: { ledger: taken.ledger },
  };
  return { kind: "stayed", task: apply(task, event), events: [event], effects: [] };
}

/** A person adds a finding: an agent fixes it, and only a reviewer says that it is fixed. */
export function addFinding(
  workflow: Workflow,
  task: Task,
  { actor, finding: given }: Extract<Request, { kind: "own_finding" }>,
  { head }: Facts,
): Decision {
  const refusal = standing({ ...stateOf(workflow, task.status), wait: { kind: "none" } }, task, actor);
  if (refusal !== undefined) return rejected(refusal);
  if (actor.role !== "human") {
    const text = "Only a person can add findings.";
    return rejected({ code: "only-human", text, fix: "A reviewer reports findings in its review." });
  }
  if (!hasReviewers(workflow)) {
    const text = `No reviewer of the workflow "${workflow.name}" answers with findings, so none would say that this one is fixed.`;
    return rejected({ code: "bad-value", text, fix: `See what can be done: signalbox task explain ${task.id}` });
  }
  const added = addOwn(task.ledger ?? emptyLedger, given, head, liveRuns(task));
  if ("problem" in added) return rejected({ code: "bad-value", text: added.problem, fix: added.fix });
  const event: TaskEvent = {
    type: "finding.added",
    by: "human",
    data: {
      findings: added.changed.map(({ id, severity, file, line, title }) => ({ id, severity, file, line, title })),
    },
    set: { ledger: added.ledger },
  };
  return { kind: "stayed", task: apply(task, event), events: [event], effects: [] };
}

function liveRuns({ runs }: Task): readonly string[] {
  return Object.values(runs).map(({ key }) => key);
}

export function hasReviewers(workflow: Workflow): boolean {
  return Object.values(workflow.states).some(({ wait }) => {
    const spec = wait.kind === "agent" ? wait.run : wait.kind === "panel" ? wait.judge : undefined;
    return spec !== undefined && asksForFindings(workflow, spec);
  });
}

/**
 * Why a task must not go on: where it goes depends on the findings that a person approves, and the person has not decided about
 * all of them. A person who wants that nevertheless says so.
 */
export function undecidedFindings(workflow: Workflow, task: Task): Reason | undefined {
  // Of a held task something else is tried again.
  if (!dependsOnFindings(stateOf(workflow, task.status)) || task.held !== undefined) return undefined;
  const open = (task.ledger?.findings ?? []).filter(({ state }) => state === "open");
  const [first] = open;
  if (first === undefined) return undefined;
  const named = open.slice(0, maxNamed).map(({ id, severity, title }) => `${id} (${severity}) ${title}`);
  const more = open.length > maxNamed ? `; and ${open.length - maxNamed} more` : "";
  const are = open.length === 1 ? "1 finding is" : `${open.length} findings are`;
  const decide = `signalbox task findings ${task.id}`;
  const fix = [
    `Approve what is to be fixed: ${decide} approve ${first.id}`,
    `Dismiss what is not a defect: ${decide} dismiss ${first.id} -m "Why"`,
    `To go on with what is approved so far: signalbox task continue ${task.id} --yes`,
  ].join("\n");
  return { code: "undecided", text: `${are} undecided: ${named.join("; ")}${more}.`, fix };
}

/**
 * What the engine will say instead of merging the task's pull request: a person has approved findings, perhaps after the last review,
 * that no review has called fixed. Undefined where the state merges none, or where nothing is left to be fixed.
 */
export function unfixedFindings(workflow: Workflow, { id, status, ledger }: Task): Reason | undefined {
  const left = (ledger?.findings ?? []).filter(({ state }) => state === "approved").map((finding) => finding.id);
  if (left.length === 0 || !stateOf(workflow, status).do.some(({ name }) => name === "merge_pr")) return undefined;
  const [it, are] = left.length === 1 ? ["it", "is"] : ["they", "are"];
  const text = `You approved ${left.join(", ")}, and no review says that ${it} ${are} fixed.`;
  const dismiss = `signalbox task findings ${id} dismiss ${left.join(" ")} -m "Why"`;
  return { code: "unreviewed", text, fix: `To merge without a fix, dismiss findings that are not defects: ${dismiss}` };
}

/** The state that an approval leads to while findings are unfixed; undefined where it only holds the task. */
export function unfixedLeadTo(workflow: Workflow, task: Task): string | undefined {
  const mayFollow = ({ when }: State["rules"][number]) =>
    when.every(
      ({ source, field, op, value }) =>
        source === "counter" && typeof value === "number" && compare(op, task.counters[field] ?? 0, value),
    );
  const rule = stateOf(workflow, task.status).rules.find((each) => covers(each.on, "unreviewed") && mayFollow(each));
  return rule?.does.kind === "then" ? rule.does.to : undefined;
}

/** Whether a person's approval leads to one state or another by the findings that the person approves. */
function dependsOnFindings({ wait, rules }: State): boolean {
  const depends = rules.some(({ when }) => when.some(({ source, field }) => source === "fact" && field === decided));
  return wait.kind === "human" && depends;
}

/** What a person's request to continue is only meant for: held tasks, or states that ask about findings. */
export type MeantFor = "held" | "findings";

/** Why a request to continue is not for this task, which would be continued past something else than the person means. */
export function notMeant(workflow: Workflow, task: Task, only: MeantFor): Reason | undefined {
  const { id, status, held } = task;
  const look = `See what it waits for, and what you can do: signalbox task explain ${id}`;
  if (only === "held") {
    if (held !== undefined) return undefined;
    return { code: "not-waiting", text: `The task is not held: it is in "${status}", without an error.`, fix: look };
  }
  if (held !== undefined) {
    const fix = `Fix the cause, then: signalbox task clear-error ${id}`;
    return { code: "not-waiting", text: `The task is held: ${held.reason}`, fix };
  }
  if (dependsOnFindings(stateOf(workflow, status))) return undefined;
  return { code: "not-waiting", text: `"${status}" does not wait for a person's decision about findings.`, fix: look };
}

/** The state that an approval leads to by the findings alone; undefined where anything else decides it. */
export function leadsByFindings(state: State, { ledger }: Task): string | undefined {
  if (!dependsOnFindings(state)) return undefined;
  for (const { on, when, does, result, artifact } of state.rules) {
    if (!covers(on, "ok")) continue;
    if (does.kind !== "then" || result !== undefined || artifact !== undefined) return undefined;
    const held = when.map(({ source, field, op, value }) => {
      const number = source === "fact" ? ledgerNumber(ledger, field) : undefined;
      return number === undefined || typeof value !== "number" ? undefined : compare(op, number, value);
    });
    if (held.includes(undefined)) return undefined;
    if (held.every(Boolean)) return does.to;
  }
  return undefined;
}

const decided = "approved_findings";
const maxNamed = 10;
