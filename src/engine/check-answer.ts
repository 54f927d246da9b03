import { answerProblems } from "../answers/read-answer.ts";
import { isJsonObject } from "../json.ts";
import { readItems } from "./fan-out.ts";
import { asksForFindings, emptyLedger, findingsProblem, reportedFindings } from "./findings.ts";
import type { Task } from "./task.ts";
import type { FanOut, RunSpec, Workflow } from "./workflow.ts";

/** Why the answer of a run cannot be used: it does not fit its schema, or holds a plan that could never be finished. */
export function answerProblem(
  workflow: Workflow,
  { result }: Pick<RunSpec, "result">,
  answer: unknown,
): string | undefined {
  const schema = result === undefined ? undefined : workflow.schemas[result];
  if (schema === undefined) return undefined;
  const problems = answerProblems(schema, answer);
  if (problems.length > 0) return problems.join(" ");
  for (const { wait } of Object.values(workflow.states)) {
    const problem = wait.kind === "fan_out" && wait.from.result === result ? planProblem(wait, answer) : undefined;
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Why the findings in a reviewer's answer cannot be taken into the ledger. */
export function reviewProblem(workflow: Workflow, task: Task, spec: RunSpec, answer: unknown): string | undefined {
  const { ledger = emptyLedger } = task;
  if (!asksForFindings(workflow, spec)) return undefined;
  return findingsProblem(ledger, reportedFindings(workflow, spec, answer) ?? []);
}

/** Why a fan-out cannot begin with this result. */
export function planProblem({ from }: FanOut, result: unknown): string | undefined {
  const read = readItems(isJsonObject(result) ? result[from.field] : undefined, from.field);
  return read.ok ? undefined : read.problem;
}
