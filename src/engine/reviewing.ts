import { apply, type Decision, type TaskEvent } from "./decision.ts";
import { stateOf } from "./enter.ts";
import { emptyLedger, isUnsettled, reportedFindings, takeDecision, takeReview } from "./findings.ts";
import { givenCommit } from "./judging.ts";
import { rejected, standing } from "./move.ts";
import type { Facts, Request } from "./request.ts";
import type { Task } from "./task.ts";
import type { RunSpec, Workflow } from "./workflow.ts";

/** Takes the findings of a reviewer's valid answer into the ledger; undefined where the answer has no list of them. */
export function reviewed(
  workflow: Workflow,
  task: Task,
  spec: RunSpec,
  answer: unknown,
  { head, changedSince = {} }: Facts,
): TaskEvent | undefined {
  const reported = reportedFindings(workflow, spec, answer);
  if (reported === undefined) return undefined;
  const commit = givenCommit(task) || head;
  const { ledger, changed } = takeReview(task.ledger ?? emptyLedger, reported, {
    role: spec.role,
    commit,
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
    data: { round: ledger.round, findings, open, quiet: ledger.quiet },
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
  const taken = takeDecision(task.ledger ?? emptyLedger, findings, state, reason);
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
