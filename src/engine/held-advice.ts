import { firstStatement } from "../text.ts";
import { isUnsettled } from "./findings.ts";
import { isMergedFrom, mergesOnWord, waysBack } from "./persons-turn.ts";
import { promiseWord } from "./promises.ts";
import type { Task } from "./task.ts";
import type { Way, Workflow } from "./workflow.ts";

/** What a refusal of unreviewed work says; `heldAdvice` recognises it. */
export const notReviewed = "Nobody has reviewed the difference.";

/** What a run says whose harness is missing, and the line with the command that gives its task another; `heldAdvice` recognises them. */
export const notInstalled = ({ title, name }: { readonly title: string; readonly name: string }) =>
  `${title} is not installed (harness ${name}).`;
export const takeAnother = "Or take another harness: signalbox task update ";

/** Why a task is held, and what a person can do about it, one line for each possibility. */
export function heldAdvice(
  workflow: Workflow | undefined,
  task: Task,
): { readonly text: string; readonly fix: string } {
  const { id, held } = task;
  const why = held?.reason ?? "";
  // The hint of a failed effect names the same command.
  const verb = held?.again === "effects" ? "retry" : "continue";
  if (workflow !== undefined && why.includes(notReviewed))
    return { text: firstStatement(why), fix: unreviewedAdvice(workflow, task).join("\n") };
  const replaced = replacedHarness(task);
  if (replaced !== "") return { text: replaced, fix: `Try again: signalbox task ${verb} ${id}` };
  const elsewhere = onlyElsewhere(workflow, task);
  if (elsewhere !== undefined) return { text: why, fix: elsewhere.join("\n") };
  const again = `signalbox task ${verb} ${id}`;
  if (held?.word === "conflict" && held.again === "do")
    return {
      text: why,
      fix: `${whoResolves(workflow, task)}: signalbox task sync ${id}\nOnce it is resolved: ${again}`,
    };
  const isOfRun = held?.word === "missing" || held?.word === "invalid";
  const look = isOfRun
    ? [`See all that its agent said: signalbox task logs ${id}`]
    : held?.word === promiseWord
      ? [`If the promise is wrong, change it in the workflow's file: signalbox task migrate ${id} --apply`]
      : [];
  const lines = [`Fix the cause, then try again: ${again}`, ...look, ...dismissals(task), ...otherWays(workflow, task)];
  return { text: why, fix: lines.join("\n") };
}

/** That the missing harness for which the task is held is not the task's any more; empty where it still is. */
function replacedHarness({ held, harness, reviewHarness }: Task): string {
  const reason = held?.reason ?? "";
  const [, title, missing] = /^(.+) is not installed \(harness ([\w-]+)\)\./.exec(reason) ?? [];
  const [, flags] = reason.split(takeAnother);
  if (missing === undefined || flags === undefined) return "";
  const line = flags.split("\n")[0] ?? "";
  const ofReview = reviewHarness || harness;
  const used = [
    ...(/ --harness /.test(line) ? [harness] : []),
    ...(line.includes("--review-harness") ? [ofReview] : []),
  ];
  if (used.includes(missing)) return "";
  return `${title} was not installed. The task has another harness since then: ${[...new Set(used)].join(" and ")}.`;
}

/**
 * What a person can do where the workflow cannot start the state's agent again, so that the engine refuses to continue
 * the held task. One line for each possibility.
 */
export function onlyElsewhere(
  workflow: Workflow | undefined,
  { id, status, held, wait }: Task,
): readonly string[] | undefined {
  const state = workflow?.states[status];
  if (workflow === undefined || state?.wait.kind !== "open" || state.respawn !== undefined) return undefined;
  if (held?.again !== "wait" || wait.skipped) return undefined;
  const moves = waysBack(workflow, state).all.map(
    (to) => `move it to ${to}: signalbox task update ${id} --status ${to}`,
  );
  const merge = isMergedFrom(workflow, state) ? [`merge its work: signalbox task merge ${id}`] : [];
  const [first = `end the task: signalbox task cancel ${id}`, ...others] = [...merge, ...moves];
  return [`Its agent cannot be started again here, so ${first}`, ...others.map((other) => `Or ${other}`)];
}

/**
 * The engine refuses a review that leaves findings without an answer. A person can dismiss them, then retry the review.
 */
function dismissals({ id, held, ledger }: Task): readonly string[] {
  const open = (ledger?.findings ?? []).filter(({ state }) => isUnsettled(state));
  const isNamed = (finding: string) => new RegExp(`\\b${finding}\\b`).test(held?.reason ?? "");
  const [first] = open.filter((finding) => held?.word === "invalid" && isNamed(finding.id));
  const dismiss = `signalbox task findings ${id} dismiss ${first?.id}`;
  return first === undefined ? [] : [`If ${first.id} is not a defect, dismiss it first: ${dismiss}`];
}

/** The states that a person can move the task to instead. */
function otherWays(workflow: Workflow | undefined, task: Task): readonly string[] {
  const state = workflow?.states[task.status];
  if (workflow === undefined || state === undefined || task.held === undefined || task.held.again === "effects")
    return [];
  const isFree = ({ by, gates, when }: Way) => by?.includes("human") === true && gates.length + when.length === 0;
  const { all, toAgents } = waysBack(workflow, state);
  // If the state's own work failed, such as its tests, an agent can only fix that if somebody tells it what is wrong.
  const tells = task.held.again === "do" ? toAgents : [];
  return all
    .filter((to) => state.out[to]?.some(isFree))
    .map((to) =>
      tells.includes(to)
        ? `Or send it back to ${to}: signalbox task request-changes ${task.id}${toAgents.length > 1 ? ` --status ${to}` : ""} -m "What should change"`
        : `Or move it to ${to}: signalbox task update ${task.id} --status ${to}`,
    );
}

function whoResolves(workflow: Workflow | undefined, { status }: Task): string {
  const state = workflow?.states[status];
  const back = workflow === undefined || state === undefined ? [] : waysBack(workflow, state).toAgents;
  return back.length === 1 ? "Let its agent resolve it" : "See how to resolve it in the workspace";
}

/** What a person can do about work that has changed since its verdict, one line for each possibility. */
export function unreviewedAdvice(workflow: Workflow, task: Task): readonly string[] {
  const { id, status, held, phase } = task;
  const state = workflow.states[status];
  const back = state === undefined ? [] : waysBack(workflow, state).toAgents;
  // A refusal while the state's own work is being done holds the task.
  const isToBeHeld = held !== undefined || phase === "doing";
  const isWorkflows = mergesOnWord(workflow, isToBeHeld ? { ...task, held: held ?? pending } : task);
  const then = isWorkflows
    ? `Then let it be merged: signalbox task ${isToBeHeld ? "continue" : "approve"} ${id}`
    : `Then merge it without a review: signalbox task merge ${id} --unreviewed`;
  return [
    `See the difference: signalbox task diff ${id} --since-review`,
    then,
    ...back.map((to) => {
      const request = `signalbox task request-changes ${id}${back.length > 1 ? ` --status ${to}` : ""} -m`;
      return workflow.states[to]?.evidence.some(({ field }) => field === "new_commits")
        ? `Or send it back, if its agent has something to change: ${request} "What should change"`
        : `Or let its agent hand it over again: ${request} "Hand over the newest commit."`;
    }),
  ];
}

const pending = { reason: "", word: "", again: "do" } as const;
