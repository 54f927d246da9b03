import { apply, type Decision, type TaskEvent } from "./decision.ts";
import { rejected } from "./move.ts";
import {
  type Deed,
  deedOf,
  freshProofs,
  givenInPlace,
  mergesTask,
  noteProofs,
  promisesToCheck,
  runsTests,
} from "./proofs.ts";
import type { Facts, Request } from "./request.ts";
import { hold } from "./take-rule.ts";
import type { Proof, Task } from "./task.ts";
import type { AuthorsPromise, PromisedEvidence, Workflow } from "./workflow.ts";

/** The word that a task is held with because a move would break a promise. */
export const promiseWord = "promise";

/**
 * Checks a decision against the promises of the workflow: a move that breaks one is not made. A person is refused; for anybody
 * else the task is held where it is. For a workflow that `verify` has proved, nothing of this ever happens.
 */
export function keepPromises(
  workflow: Workflow,
  before: Task,
  request: Request,
  decision: Decision,
  facts: Facts,
): Decision {
  if (workflow.promises.length === 0 || (decision.kind !== "moved" && decision.kind !== "stayed")) return decision;
  const deed = deedOf(workflow, before, decision.events, facts);
  const noted = noteProofs(deed, decision);
  const early = brokenByMerging(workflow, noted, facts);
  const broken = brokenPromise(deed, noted.task) ?? early;
  if (broken === undefined) return noted;
  const what = broken === early ? `Merging in "${before.status}"` : whatItDoes(before, decision);
  const text = `${what} would break the promise ${broken.written}: ${whyBroken(broken)}`;
  if ("actor" in request && request.actor.role === "human")
    return rejected({ code: "promise", text, fix: `See which promises are kept: signalbox task explain ${before.id}` });
  const held = heldInstead(workflow, before, decision, text);
  return held.kind === "stayed" ? noteProofs(deedOf(workflow, before, held.events, facts), held) : held;
}

/** The first promise that a decision breaks; undefined where it breaks none. `after` is the task with its proofs noted. */
export function brokenPromise(deed: Deed, after: Task): AuthorsPromise | undefined {
  const { workflow, move } = deed;
  for (const promise of promisesToCheck(workflow, move && after.status))
    if (isBroken(deed, promise, after)) return promise;
  return undefined;
}

function isBroken(deed: Deed, promise: AuthorsPromise, after: Task): boolean {
  switch (promise.kind) {
    case "never_same_run_as":
      return givenInPlace(deed, promise);
    case "within":
      return (after.visits[promise.of] ?? 0) > promise.visits;
    case "never_by":
      return deed.move !== undefined && promise.roles.includes(deed.move.by);
    case "after":
      return !isGiven(promise.evidence, after, deed.facts);
  }
}

/**
 * The promise that the work of a state will break if it merges: the states that it leads to ask for what is not there. Found
 * before the work begins, because a merge is not taken back.
 */
function brokenByMerging(workflow: Workflow, decision: Decision, facts: Facts): AuthorsPromise | undefined {
  if (decision.kind !== "stayed") return undefined;
  const { task, events } = decision;
  const state = workflow.states[task.status];
  if (!state?.do.some(mergesTask) || !events.some(({ type }) => type === "task.working")) return undefined;
  const targets = state.rules.flatMap(({ on, does }) =>
    does.kind === "then" && (on === undefined || on.includes("ok")) ? [does.to] : [],
  );
  const broken = targets.map((to) =>
    workflow.promises.find((promise) => {
      if (promise.kind !== "after" || promise.to !== to || promise.evidence.kind === "merged") return false;
      const isTested = promise.evidence.kind === "tests" && state.do.some(runsTests);
      return !isTested && !isGiven(promise.evidence, task, facts);
    }),
  );
  return broken.every((promise) => promise !== undefined) ? broken[0] : undefined;
}

/** Whether what a promise asks for has happened, and the work has not moved since. */
export function isGiven(wanted: PromisedEvidence, { proofs, tested }: Task, { head }: Pick<Facts, "head">): boolean {
  if (proofs?.[wanted.key] !== undefined) return true;
  // Tests may also have run as hooks.
  return wanted.kind === "tests" && tested?.word === "ok" && head !== "" && tested.commit === head;
}

/** How a task stands to one promise of its workflow. */
interface PromiseStanding {
  readonly promise: string;
  /** open: what it asks for has not happened yet, so a move that needs it would be held. */
  readonly state: "kept" | "open";
  /** By what it is kept, or what is still missing. */
  readonly evidence: string;
}

/** How a task stands to the promises of its workflow. A task that is over has nothing to do with those about other states. */
export function promisesOf(workflow: Workflow, task: Task, facts: Facts): readonly PromiseStanding[] {
  const proofs = freshProofs(workflow, task, facts);
  const isOver = workflow.states[task.status]?.terminal === true;
  const concerned = workflow.promises.filter((promise) => !isOver || !("to" in promise) || promise.to === task.status);
  return concerned.map((promise): PromiseStanding => {
    const { written } = promise;
    if (promise.kind !== "after") return { promise: written, state: "kept", evidence: alwaysKept(promise, task) };
    const { evidence } = promise;
    if (!isGiven(evidence, { ...task, proofs }, facts))
      return { promise: written, state: "open", evidence: `So far ${whatIsMissing(evidence)}.` };
    const proof = proofs?.[evidence.key] ?? { role: "engine", commit: task.tested?.commit ?? "" };
    return { promise: written, state: "kept", evidence: whatIsGiven(evidence, proof) };
  });
}

function whatIsGiven(wanted: PromisedEvidence, { role, commit }: Proof): string {
  const at = commit === "" ? "" : commit.slice(0, 10);
  const about = at === "" ? "" : ` for ${at}`;
  switch (wanted.kind) {
    // Also true of a task without commits of its own.
    case "merged":
      return `The target branch has every commit of the work${at === "" ? "" : `, which is at ${at}`}.`;
    case "tests":
      return `Tests passed${about}.`;
    case "gate":
      if (role === "human") return `A person decided${about}.`;
      return `${role} wrote ## ${wanted.section}${wanted.verdict === undefined ? "" : ` with ${wanted.verdict}`}${about}.`;
    case "result":
      if (role === "human") return `A person decided${about}.`;
      return `${role} answered with ${JSON.stringify(wanted.fields)}${about}.`;
  }
}

function alwaysKept(promise: Exclude<AuthorsPromise, { kind: "after" }>, { visits, status }: Task): string {
  if (promise.kind !== "within") return "Checked before each move.";
  const count = visits[promise.of] ?? (status === promise.of ? 1 : 0);
  return `Entered ${count} of ${promise.visits} times since a person last acted.`;
}

function whatItDoes({ status }: Task, decision: Extract<Decision, { kind: "moved" | "stayed" }>): string {
  return decision.kind === "moved" ? `The move from "${status}" to "${decision.task.status}"` : `What "${status}" got`;
}

/** Why a move that breaks a promise breaks it, as a sentence. */
export function whyBroken(promise: AuthorsPromise): string {
  switch (promise.kind) {
    case "after":
      return `${whatIsMissing(promise.evidence)} since the work last moved.`;
    case "never_by":
      return `${promise.roles.join(" or ")} must not decide that.`;
    case "never_same_run_as":
      return `${promise.other} gave what ${promise.role} is there to give.`;
    case "within":
      return `"${promise.of}" was entered more than ${promise.visits} ${promise.visits === 1 ? "time" : "times"} since a person last acted.`;
  }
}

function whatIsMissing(wanted: PromisedEvidence): string {
  switch (wanted.kind) {
    case "merged":
      return "the work was not merged";
    case "tests":
      return "no tests have passed";
    case "gate":
      return `no gate with ${wanted.verdict === undefined ? "" : `${wanted.verdict} in `}## ${wanted.section}${byWhom(wanted.by)} was passed`;
    case "result":
      return `no answer with ${JSON.stringify(wanted.fields)}${byWhom(wanted.by)} was given`;
  }
}

function byWhom(by: readonly string[] | undefined): string {
  return by === undefined ? "" : ` by ${by.join(" or ")}`;
}

/** The decision up to the step that breaks the promise, and the task held there. */
function heldInstead(
  workflow: Workflow,
  before: Task,
  { events, effects }: Extract<Decision, { kind: "moved" | "stayed" }>,
  reason: string,
): Decision {
  const cut = events.findIndex(({ type }) => type === "task.moved" || type === "task.working");
  const kept: readonly TaskEvent[] = cut < 0 ? events : events.slice(0, cut);
  const task = kept.reduce(apply, before);
  // A run that is over must still be ended; all other effects belong to the step that is not made.
  const alive = new Set(Object.values(task.runs).map(({ key }) => key));
  const gone = new Set(Object.values(before.runs).flatMap(({ key }) => (alive.has(key) ? [] : [key])));
  const ends = effects.filter(({ action, params }) => action === "kill_agent" && gone.has(String(params.run)));
  const again = task.phase === "doing" ? "do" : "wait";
  const held = hold(workflow, task, { word: promiseWord, reason, answer: undefined, again });
  if (held.kind !== "stayed") return held;
  return { ...held, events: [...kept, ...held.events], effects: cut < 0 ? effects : ends };
}
