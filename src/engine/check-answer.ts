import { type AnswerSchema, answerProblems } from "../answers/read-answer.ts";
import { show } from "../answers/schema.ts";
import { isJsonObject } from "../json.ts";
import { itemFields, readItems } from "./fan-out.ts";
import { asksForFindings, emptyLedger, reportedFindings } from "./findings.ts";
import { nearest } from "./language/problem.ts";
import { findingsProblem } from "./review.ts";
import type { Task } from "./task.ts";
import type { FanOut, RunSpec, Workflow } from "./workflow.ts";

/** Why the answer of a run cannot be used: it does not fit its schema, or holds a plan that could never be finished. */
export function answerProblem(
  workflow: Workflow,
  { result }: Pick<RunSpec, "result">,
  answer: unknown,
  by: "agent" | "person" = "agent",
): string | undefined {
  const schema = result === undefined ? undefined : workflow.schemas[result];
  if (schema === undefined) return undefined;
  const problems = answerProblems(schema, answer);
  if (problems.length > 0) return problems.join(" ");
  for (const { wait } of Object.values(workflow.states)) {
    if (wait.kind !== "fan_out" || wait.from.result !== result) continue;
    const problem = planProblem(wait, answer) ?? fieldProblem(schema, wait, answer, by);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Why the findings in a reviewer's answer cannot be taken into the ledger. `run` is the run that answers. */
export function reviewProblem(
  workflow: Workflow,
  task: Task,
  spec: RunSpec,
  answer: unknown,
  run = "",
): string | undefined {
  const { ledger = emptyLedger } = task;
  if (!asksForFindings(workflow, spec)) return undefined;
  return findingsProblem(ledger, reportedFindings(workflow, spec, answer) ?? [], run);
}

/** Why a fan-out cannot begin with this result. */
export function planProblem({ from }: FanOut, result: unknown): string | undefined {
  const read = readItems(isJsonObject(result) ? result[from.field] : undefined, from.field);
  return read.ok ? undefined : read.problem;
}

/** What agents call needs if they do not use the name that they were given. */
const otherNames: Readonly<Record<string, string>> = {
  ...{ depends_on: "needs", dependsOn: "needs", dependencies: "needs", depends: "needs" },
};

/**
 * A field that no item has would be dropped silently, and with a misspelled `needs` the order of the work. A person may
 * write no other field. Agents add fields of their own, which do no harm unless one is mistaken for another.
 */
function fieldProblem(
  { properties = {} }: AnswerSchema,
  { from: { field } }: FanOut,
  answer: unknown,
  by: "agent" | "person",
): string | undefined {
  const items = isJsonObject(answer) ? answer[field] : undefined;
  const known = [...new Set([...itemFields, ...Object.keys(properties[field]?.items?.properties ?? {})])];
  for (const [place, item] of (Array.isArray(items) ? items : []).entries()) {
    for (const name of isJsonObject(item) ? Object.keys(item) : []) {
      if (known.includes(name)) continue;
      const meant = Object.hasOwn(otherNames, name) ? otherNames[name] : nearest(name, known);
      const offer = meant === undefined ? `Known: ${known.join(", ")}.` : `Did you mean "${meant}"?`;
      if (meant !== undefined || by === "person")
        return `${field}[${place}] has a field ${show(name)}, which items do not have. ${offer}`;
    }
  }
  return undefined;
}
