import { readBudget } from "../../engine/budget.ts";
import { Fault } from "../../fault.ts";
import { offerHarnesses, offerProjects, offerStates, offerTasks, offerWorkflows } from "../offers.ts";

/** Parameters that several commands share. */

export const json = { kind: "boolean", brief: "Print one JSON document", default: false, withNegated: false } as const;

export const reference = {
  parse: String,
  proposeCompletions: offerWorkflows,
  placeholder: "NAME|FILE",
  brief: "A workflow's name, or a path to its file (anything with a / or ending in .yml)",
} as const;

export const oneWorkflow = { kind: "tuple", parameters: [reference] } as const;

/** For commands that take several workflows. */
export const workflows = { kind: "array", parameter: reference, minimum: 1 } as const;

export function wholeNumber(min: number, max: number): (input: string) => number {
  return (input) => {
    const number = /^-?\d+$/.test(input) ? Number(input) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new Error(`"${input}" is not a whole number from ${min} to ${max}.`);
  };
}

function budgetWord(input: string): string {
  const read = readBudget([input]);
  if ("problem" in read) throw new Error(`${read.problem} ${read.fix}`);
  return input;
}

/** An optional argument of a command. */
export function optionalWord(placeholder: string, brief: string) {
  return { parse: String, optional: true, placeholder, brief } as const;
}

export function flag(brief: string) {
  return { kind: "boolean", brief, default: false, withNegated: false } as const;
}

/** A flag that takes a text. */
export function textFlag<const P extends string>(placeholder: P, brief: string) {
  return { kind: "parsed", parse: String, optional: true, placeholder, brief } as const;
}

/** A flag that takes a text and may be given several times. */
export function listFlag<const P extends string>(placeholder: P, brief: string) {
  return { ...textFlag(placeholder, `${brief}; may be given several times`), variadic: true } as const;
}

export function numberFlag(placeholder: string, brief: string, min: number, max: number) {
  return { kind: "parsed", parse: wholeNumber(min, max), optional: true, placeholder, brief } as const;
}

/** The last line of a command's help. */
export const exitCodeHelp = (failed: string) => `Exit codes: 0 ok, 1 ${failed}, 2 wrong usage, 3 no such workflow`;

/** Parameters that commands about tasks share. */

export const task = {
  parse: String,
  proposeCompletions: offerTasks,
  placeholder: "TASK",
  brief:
    "A task: its id, project#number, or its number or branch in this folder's project; . is the task of this folder",
} as const;

/** For commands that take several tasks. */
export const tasks = { kind: "array", parameter: task, minimum: 1 } as const;

export const oneTask = { kind: "tuple", parameters: [task] } as const;

export const taskFlag = (name: string, brief: string) =>
  ({ ...textFlag(name, brief), proposeCompletions: offerTasks }) as const;

export const project = {
  ...textFlag("P", "The project; otherwise this folder's project"),
  proposeCompletions: offerProjects,
} as const;

/** For commands that only show something. */
export const projectToShow = {
  ...textFlag("P", "The project; otherwise this folder's project, or outside of git the only one"),
  proposeCompletions: offerProjects,
} as const;

export const onlyProject = { ...textFlag("P", "Only of this project"), proposeCompletions: offerProjects } as const;

export const status = (brief: string) => ({ ...textFlag("S", brief), proposeCompletions: offerStates }) as const;

export const workflow = (brief: string) => ({ ...textFlag("W", brief), proposeCompletions: offerWorkflows }) as const;

/** How a task is made. */
export const makeFlags = {
  harness: { ...textFlag("H", "The harness of its agents"), proposeCompletions: offerHarnesses },
  "review-harness": { ...textFlag("H", "The harness of its reviewers"), proposeCompletions: offerHarnesses },
  model: textFlag("M", "The model to ask the harness for"),
  label: listFlag("L", "A label"),
  priority: numberFlag("N", "Its priority; tasks with a higher one start first; the default is 0", -1_000, 1_000),
  "depends-on": {
    ...listFlag("TASK", "A task that must be done first, TASK:state=S that it must reach, or TASK:section=NAME"),
    proposeCompletions: offerTasks,
  },
  "hand-down": listFlag("NAME", "A section that is copied from those tasks when this one starts"),
  budget: {
    ...listFlag(
      "N",
      "What the task and its children may use: US dollars, such as 5, or tokens, such as 200k; none for no budget",
    ),
    parse: budgetWord,
  },
} as const;

/** Flags that choose among the variants of a task's workflow. */
export const choiceFlags = {
  preset: textFlag("P", "A preset of its workflow"),
  set: listFlag("NAME=VALUE", "A setting of its workflow"),
} as const;

/** The name and the text of `--set NAME=VALUE`. */
export function readSettingFlag(flag: string): readonly [name: string, text: string] {
  const [, name, text] = /^([^=]+)=(.*)$/s.exec(flag) ?? [];
  if (name !== undefined && text !== undefined) return [name, text];
  throw new Fault("usage", `--set ${flag} has no value.`, { hint: "Write --set NAME=VALUE." });
}

/** A change of a task, as the API returns it. */
export const changeForm = "{ kind, from, task, why, entry, effects }";

/** A task, as the API returns it. */
export const taskForm = `{ id, project, number, branch, base, summary, workflow, workflowHash, status, previousStatus, phase, outcome, needsPerson,
  needs: [{ reason, text, brief, command, since }], held: { reason, word, again }, reason, session, waiting, harness, reviewHarness, model, workspace, prUrl, ticket, protectedChanges, parent, part: { item, try, slot, title, files, size }, children: { checkpoint, waiting, running, done, failed, skipped, needPerson, parts: [{ id, number, item, title, try, status, state, needsPerson, why, earlier }] }, dependsOn, handDown, budgets: [{ of, kind, limit, spent, reserved, left, unknown }], labels,
  priority, autostart, counters, crashCount, runs: [{ role, key, mode }], revision, createdAt, updatedAt,
  unread, snoozedUntil }`;

/** A pull request, as the API returns it. */
export const pullRequestForm = "{ number, url, state, head, base, title, isDraft, review, checks, seenAt }";

export const eventForm = "{ position, task, project, revision, type, by, data, at }";

/** The output for several tasks. */
export const severalForm = "With several tasks: { results: [{ reference, answer, error }] }";

/** The last line of a command's help. */
export const taskExitCodes = (failed: string) => `Exit codes: 0 ok, 1 ${failed}, 2 wrong usage, 3 no such task`;

export const color = flag("Keep colours and styles; other control sequences are still removed");

export const raw = flag(
  "For an agent without a terminal: print its program's standard output unchanged, without standard error",
);

/** Parameters that commands about named agents share. */

export const agent = { parse: String, placeholder: "NAME", brief: "A named agent, such as A" } as const;

export const oneAgent = { kind: "tuple", parameters: [agent] } as const;

/** Usage, as the API returns it. */
export const usageForm = "{ inputTokens, outputTokens, cachedTokens, cost }";

/** A named agent, as the API returns it. */
export const agentForm = `{ name, project, harness, model, state, task, reason, runs, usage: ${usageForm} }`;

/** The last line of a command's help. */
export const agentExitCodes = (failed: string) =>
  `Exit codes: 0 ok, 1 ${failed}, 2 wrong usage, 3 no such agent or project`;
