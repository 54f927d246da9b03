import type { AnswerSchema } from "../answer.ts";
import { variablesOf } from "../template.ts";
import type { Context, Fix } from "./context.ts";
import { didYouMean, suggest } from "./nearest.ts";
import type { Path } from "./problem.ts";

/** What `{name}` can stand for besides settings, counters and results. The reference documents each. */
export const builtInVariables: Readonly<Record<string, string>> = {
  id: "the task's id",
  number: "the task's number in its project",
  project: "the project's name",
  branch: "the task's branch",
  default_branch: "the project's default branch",
  base: "the commit or branch the work starts from",
  summary: "the task's summary",
  title: "the subtask's title",
  description: "the subtask's description",
  workflow: "the workflow's name",
  status: "the state the task is in",
  previous_status: "the state it was in before",
  harness: "the worker's harness",
  review_harness: "the reviewer's harness",
  review_round: "how many reviews there have been",
  crash_count: "failures in a row in this state",
  workspace: "the folder of the workspace",
  tmux_session: "the terminal session's name",
  pr_url: "the pull request",
  labels: "the task's labels",
  priority: "the task's priority",
  cli: "the command that agents call",
  task_file: "the run's own task file",
  slug: "the summary as a short word for names",
  uuid8: "eight random characters, the same for the whole task",
  agent_number: "the number of the agent slot",
  port: "the port leased to the workspace",
  reason: "why the last thing ended as it did",
  log: "the talk so far",
  diff: "the change against the base",
  conflicts: "the files in conflict",
  tests: "what the tests printed",
  documents: "the documents handed over",
  messages: "the messages of earlier stages",
  approved: "the findings a person approved",
  ticket: "the ticket's id",
};

/** Reports variables that nothing gives a value to. */
export function checkVariables(context: Context, text: string, path: Path): void {
  for (const { name } of variablesOf(text)) {
    const problem = variableProblem(context, name);
    if (problem !== undefined) context.error(path, problem.message, problem.fix, { find: `{${name}}` });
  }
}

function variableProblem(context: Context, name: string): { message: string; fix: Fix } | undefined {
  const [head = "", ...rest] = name.split(".");
  if (rest.length > 0 && context.schemas.includes(head)) {
    const schema = context.source.schemas?.[head] as AnswerSchema | undefined;
    const fields = Object.keys(schema?.properties ?? {});
    const [field = ""] = rest;
    if (fields.length === 0 || fields.includes(field)) return undefined;
    return { message: `The schema "${head}" has no field "${field}".`, fix: suggest(field, fields) };
  }
  const isParents = head === "parent" && rest.length === 1;
  const plain = isParents ? (rest[0] ?? "") : name;
  const known = [
    ...Object.keys(builtInVariables),
    ...Object.keys(context.settings),
    ...context.counters,
    ...(isParents ? [] : context.schemas),
  ];
  if (known.includes(plain)) return undefined;
  return {
    message: `There is no variable "${name}".`,
    fix: () => `${didYouMean(plain, known)} To print it as it stands, write {{${name}}}.`,
  };
}
