import { firstStatement, joinedLines, sentence, sentences } from "../text.ts";
import { conditionText, type Dependency } from "./dependency.ts";
import { heldAdvice } from "./held-advice.ts";
import {
  type Asked,
  isMergedFrom,
  isPersonsTurn,
  isStartedByApproval,
  leadsElsewhere,
  personsVerbs,
  seeRun,
  startOf,
  waysBack,
} from "./persons-turn.ts";
import { whyFixed } from "./plan-edit.ts";
import { textForPerson } from "./prompt.ts";
import { dialogueQuestion, isTalking, type Question, stateQuestion } from "./questions.ts";
import type { Activity } from "./reconcile.ts";
import { failedTests } from "./review-words.ts";
import { undecidedFindings, unfixedFindings } from "./reviewing.ts";
import type { Task } from "./task.ts";
import type { Action, State, Workflow } from "./workflow.ts";

/** Why a task needs a person. The configuration can choose the reasons for which the person is called. */
export const needReasons = {
  disk: "nothing can be saved: the disk of the home is full or not writable",
  question: "an agent asks something, and continues with the answer",
  approval: "the task waits for a person to merge, approve or decide",
  held: "no rule of the workflow covers what happened",
  effect: "an effect of the task has failed, and is not retried",
  budget: "the budget is used up",
  agent: "an agent is dead, waits in a dialog, or cannot continue",
  message: "a message did not reach its agent",
  limit: "a provider's rate limit lasts long, or has no known end",
  merge: "a merge waits for a file of the user's, or was refused",
  dependency: "the task waits for something of another task that will never happen",
  workflow: "the task's workflow can no longer be read",
  workspace: "the task's workspace, its branch or the repository was deleted, moved or broken",
} as const;

export type NeedReason = keyof typeof needReasons;

/** One thing that a task needs a person for. */
export interface Need {
  readonly reason: NeedReason;
  /** The problem, in sentences. */
  readonly text: string;
  /** What the person can do about it, a line each. */
  readonly fix: string;
  /** The first command of Signalbox in `fix`; where there is none, the command that explains the task. */
  readonly command: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** Identifies the need: task, stay and reason. A need with the same key is not reported again. */
  readonly key: string;
  /** What the person is asked; missing where the need is no question. */
  readonly question?: Question;
}

/** Everything about a task and its surroundings that can make it need a person. */
export interface NeedFacts {
  readonly task: Task;
  /** Undefined where it can no longer be read. */
  readonly workflow: Workflow | undefined;
  /** When the task last changed. */
  readonly changedAt: number;
  /** When these facts were gathered. */
  readonly now: number;
  /** The runs that the task wants and that were started. */
  readonly runs: readonly SeenRun[];
  /** Messages that could not be delivered to them. */
  readonly messages: readonly UntoldMessage[];
  /** Its merge, where that is under way, waits for the person, or was refused since the task last changed. */
  readonly merge:
    | { readonly state: "under-way" | "waits" | "tests" | "refused"; readonly target: string; readonly reason: string }
    | undefined;
  /** The first owed effect that failed and is not retried. The fault's code is empty where it was not recorded. */
  readonly failure: { readonly code: string } | undefined;
  /** It still owes effects, so it continues by itself. */
  readonly isOwing: boolean;
  /** The provider's rate limit that stops its runs, where it lasts long or has no known end. */
  readonly limit: { readonly harness: string; readonly text: string } | undefined;
  /** Runs of its tree that its budget does not let start without a person: why, and what to do. */
  readonly budget?: { readonly text: string; readonly fix: string } | undefined;
  /** Why no named agent could do a run of it, and what to do; undefined where one could. */
  readonly lack?: { readonly text: string; readonly fix: string } | undefined;
  /** Dependencies that will never be met, because their tasks have ended otherwise. */
  readonly hopeless: readonly { readonly name: string; readonly status: string; readonly dependency?: Dependency }[];
  /** The questions that an agent has written down; empty where there are none. */
  readonly questions: string;
  /** The role that wrote them; missing or empty where that is not known. */
  readonly asker?: string;
  /** What the task's state needs from a person; consent where that is not known. */
  readonly asked?: Asked;
  /** The problem with its workspace, and what to do; undefined where there is none. */
  readonly trouble?: { readonly reason: string; readonly fix: string; readonly allowsMerge?: boolean } | undefined;
  /** A slot is free and the task is the next one, but the scheduler will not start it. */
  readonly isNextLeft?: boolean;
  /** Why nothing can be saved, and what to do; undefined where it can. */
  readonly unsaved?: { readonly reason: string; readonly fix: string } | undefined;
  /** When each need that is already known began, by key. */
  readonly known: ReadonlyMap<string, number>;
}

interface UntoldMessage {
  readonly to: string;
  readonly text: string;
  readonly problem: string;
  /** What the person can do; attaching to the agent where it is left out. */
  readonly fix?: string;
}

export interface SeenRun {
  readonly key: string;
  readonly activity: Activity;
  /** What the agent is doing, or asks. */
  readonly what: string;
  /** Why the run needs a person; empty where it does not. */
  readonly raised: string;
  /** The error of its provider or program that stops the run; empty where there is none. */
  readonly error: string;
}

/**
 * Everything that a task needs a person for, the most urgent first; empty where it continues without one. This is the
 * only place that decides it: lists, the guide, `explain`, `doctor` and the calls all show these needs.
 */
export function needsOf(facts: NeedFacts): readonly Need[] {
  const { unsaved } = facts;
  const own = ownNeeds(facts);
  return unsaved === undefined ? own : [need(facts, "disk", unsaved.reason, unsaved.fix), ...own];
}

function ownNeeds(facts: NeedFacts): readonly Need[] {
  const { task, workflow } = facts;
  const state = workflow?.states[task.status];
  if (task.phase === "over" || state?.terminal === true) return afterTheEnd(facts);
  if (workflow === undefined || state === undefined) return [lostWorkflow(facts)];
  // Owed effects, such as the start of an agent, make a missing workspace again.
  const trouble = facts.isOwing ? undefined : facts.trouble;
  return [
    ...(trouble === undefined ? [] : [need(facts, "workspace", trouble.reason, trouble.fix)]),
    ...mergeNeeds(facts, workflow, state),
    ...dialogueNeeds(facts),
    ...facts.runs.flatMap((run) => runNeeds(facts, run)),
    ...messageNeeds(facts),
    ...limitNeeds(facts),
    ...(facts.lack === undefined ? [] : [need(facts, "agent", facts.lack.text, facts.lack.fix, "lack")]),
    ...(facts.budget === undefined ? [] : [need(facts, "budget", facts.budget.text, facts.budget.fix, "tree")]),
    ...standingNeeds(facts, workflow, state),
    ...hopelessNeeds(facts, workflow),
    ...leftNeeds(facts, workflow),
  ];
}

function need(
  { task, changedAt, now, known, failure }: NeedFacts,
  reason: NeedReason,
  text: string,
  fix: string,
  detail = "",
): Need {
  const key = [task.id, task.entry, reason, ...(detail === "" ? [] : [detail])].join(":");
  // Text of an agent, a program or a file name must never become a command to copy: only our own messages may name one.
  const isOurs = ownFailures.has(failure?.code ?? "") && task.held?.reason === text;
  const [, own] = (isOurs && endsWithCommand.exec(text)) || [];
  const [command = `signalbox task explain ${task.id}`] = /signalbox [^\n]+/.exec(own ?? fix) ?? [];
  // Needs that do not come from the task's state may have begun after it last changed.
  const since = known.get(key) ?? (isStanding.has(reason) ? changedAt : now);
  return { reason, text, fix, command, since, key };
}

const isStanding = new Set<NeedReason>(["question", "approval", "held", "effect", "budget", "workflow"]);

const ownFailures: ReadonlySet<string> = new Set(["permissions.unasked", "agents.budget", "model.unmapped"]);
/** The last command of the first line that ends with one. */
const endsWithCommand = /^.*: (signalbox [^\n]+?)\.?$/m;

/** A task in its last state can still owe effects, such as releasing its workspace. */
function afterTheEnd(facts: NeedFacts): readonly Need[] {
  const { id, held, phase } = facts.task;
  if (held === undefined || phase === "over") return [];
  const again = `Fix the cause, then retry: signalbox task retry ${id}`;
  const forget = `Or delete the task; its workspace is saved first: signalbox task delete ${id}`;
  return [{ ...heldNeed(facts), fix: `${again}\n${forget}` }];
}

function lostWorkflow(facts: NeedFacts): Need {
  const { id, workflow, status } = facts.task;
  const text =
    facts.workflow === undefined
      ? `The task's workflow "${workflow}" can no longer be read.`
      : `The task's workflow "${workflow}" has no state "${status}".`;
  return need(facts, "workflow", text, `Move the task to another version: signalbox task migrate ${id}`);
}

function mergeNeeds(facts: NeedFacts, workflow: Workflow, turn: State): readonly Need[] {
  const { merge, task } = facts;
  if (merge === undefined || merge.state === "under-way") return [];
  const { state, target, reason } = merge;
  if (state === "waits") return [need(facts, "merge", `It waits to be merged into "${target}". ${reason}`, "", state)];
  const text = firstStatement(reason);
  const again = `Fix the cause, then merge again: signalbox task merge ${task.id}`;
  const others = personsVerbs(workflow, turn, task, "consent").filter((line) => !/ task (merge|approve) /.test(line));
  // The task's agent can mend failing tests; other causes are mostly a person's.
  const back = waysBack(workflow, turn).toAgents;
  const said = `-m "With ${target} merged in, the tests fail."`;
  const sent = back.map(
    (to) =>
      `Send it back to its agent: signalbox task request-changes ${task.id}${back.length > 1 ? ` --status ${to}` : ""} ${said}`,
  );
  const rest = others.filter((line) => !line.includes(" task request-changes "));
  const fix = state === "tests" ? [...sent, again, ...rest] : [again, ...others];
  return [need(facts, "merge", text, fix.join("\n"), state)];
}

/** The question that an agent asks in a dialogue. */
function dialogueNeeds(facts: NeedFacts): readonly Need[] {
  const { task, workflow } = facts;
  const { id, wait, log, held } = task;
  if (held !== undefined || !isTalking(task)) return [];
  const question = dialogueQuestion(task, workflow?.states[task.status]);
  const answer =
    wait.turn === "confirm"
      ? `Confirm, or say what should change: signalbox task reply ${id} yes`
      : `Reply to it: signalbox task reply ${id} "Your answer"`;
  const text = question.text === "" ? "The agent waits for an answer." : `The agent asks: ${question.text}`;
  const found = need(facts, "question", text, answer, `${wait.turn}-${wait.round}-${log.length}`);
  return [{ ...found, question }];
}

function runNeeds(facts: NeedFacts, { key, activity, what, raised, error }: SeenRun): readonly Need[] {
  const { project, number } = facts.task;
  const fix = `Look at it: ${seeRun(facts.task, key, key)}`;
  const orEnd = `${fix}\nOr end it, and its workflow goes on: signalbox agent kill ${project}#${number}/${key}`;
  const asks = activity === "asks";
  const said = error === "" ? "" : `Its program reports: ${error}`;
  if (raised !== "") {
    const question = asks && what !== "" ? `It asks: ${what}` : "";
    return [need(facts, "agent", sentences([`${key}: ${raised}`, question, said]), asks ? fix : orEnd, key)];
  }
  if (asks) return [need(facts, "agent", sentences([`${key} asks: ${what || "see its screen"}`, said]), fix, key)];
  // A busy agent gets over the error by itself, or is raised later.
  return error === "" || activity === "busy" || activity === "starting"
    ? []
    : [need(facts, "agent", `${key} reports: ${error}`, orEnd, key)];
}

function messageNeeds(facts: NeedFacts): readonly Need[] {
  return facts.messages.map(({ to, text, problem, fix }) => {
    const start = text.trim().split("\n")[0]?.slice(0, 80);
    const what = sentences([`A message to ${to} did not arrive.`, problem, `It begins: ${start}`]);
    const look = `Look at it: ${seeRun(facts.task, to, to)}`;
    return need(facts, "message", what, fix ?? look, to);
  });
}

function limitNeeds(facts: NeedFacts): readonly Need[] {
  if (facts.limit === undefined) return [];
  const { harness, text } = facts.limit;
  return [need(facts, "limit", text, `If the limit is over: signalbox resume --harness ${harness}`)];
}

/** The needs that come from the task's state. */
function standingNeeds(facts: NeedFacts, workflow: Workflow, state: State): readonly Need[] {
  const { task, runs, isOwing, merge } = facts;
  if (task.held !== undefined) return [heldNeed(facts)];
  // A merge was requested: it continues by itself, or has a need of its own.
  if (merge?.state === "under-way" || merge?.state === "waits") return [];
  if (task.phase !== "waiting" || isTalking(task)) return [];
  // A merge that was refused is a need of its own, with everything that a person can do.
  if (merge !== undefined && isMergedFrom(workflow, state)) return [];
  if (isPersonsTurn(state)) return [turnNeed(facts, workflow, state)];
  if (isOwing || Object.keys(task.runs).length > 0 || runs.length > 0) return [];
  const role = state.wait.kind === "agent" ? state.wait.run.role : state.respawn?.role;
  if (role !== undefined && (state.wait.kind === "agent" || state.wait.kind === "open")) {
    const fix = `Start it again: signalbox task respawn ${task.id}`;
    return [need(facts, "agent", `The task waits for ${role}, which is not running.`, fix, role)];
  }
  // No agent is at work, and nothing happens by itself.
  const isStill = state.wait.kind === "open" && startOf(workflow, task) === undefined;
  return isStill ? [turnNeed(facts, workflow, state)] : [];
}

function heldNeed(facts: NeedFacts): Need {
  const { held } = facts.task;
  const isSpent = facts.failure?.code === "agents.budget" || held?.word === "cost";
  const reason = isSpent ? "budget" : held?.again === "effects" ? "effect" : isAgents(facts) ? "agent" : "held";
  const { text, fix } = heldAdvice(facts.workflow, facts.task);
  return need(facts, reason, text, fix);
}

/** The task is held because its agent ended, or stopped without a result. */
function isAgents({ task: { held } }: NeedFacts): boolean {
  return held?.again === "wait" && ["exit", "idle", "stall", "error", "login", "lost"].includes(held.word);
}

/** A person who is asked to start the work on a plan sees the plan first. */
function withPlan(verbs: readonly string[], { id }: Task): readonly string[] {
  const approve = `signalbox task approve ${id}`;
  return [
    `See the plan: signalbox task plan ${id}`,
    ...verbs.map((verb) => verb.replace(approve, `signalbox task plan ${id} --approve`)),
  ];
}

function turnNeed(facts: NeedFacts, workflow: Workflow, state: State): Need {
  const { task, questions, asked = "consent", asker = "" } = facts;
  const wantsWords = asked !== "consent";
  const open = wantsWords && questions !== "" ? `The agent asks:\n${questions}` : "";
  const said = state.ask === undefined ? undefined : textForPerson(workflow, task, state.ask);
  const asks = isStartedByApproval(workflow, task)
    ? `The task starts only once you approve it${said === undefined ? "." : `: ${said}`}`
    : (said ?? (wantsWords ? "The task waits for your answer." : plainTurn(workflow, state)));
  const undecided = (undecidedFindings(workflow, task) ?? unfixedFindings(workflow, task))?.text ?? "";
  const other = leadsElsewhere(state, task);
  const first =
    undecided === "" && other !== undefined ? `No finding is approved, so the task goes on in ${other}.` : asks;
  const text = sentences([first, undecided, failedTests(workflow, task)]);
  const verbs = personsVerbs(workflow, state, task, asked);
  const fix = (whyFixed(workflow, task) === undefined ? withPlan(verbs, task) : verbs).join("\n");
  // A merge is refused until then.
  const isBlocked = facts.trouble !== undefined && !facts.trouble.allowsMerge && isMergedFrom(workflow, state);
  const whole = isBlocked ? `${sentence(text)} First solve the problem with its workspace.` : text;
  const told = open === "" ? whole : `${sentence(whole)}\n${open}`;
  const look = `See what can be done: signalbox task explain ${task.id}`;
  const question = stateQuestion(workflow, task, state, { asked, questions, asker });
  return {
    ...need(facts, wantsWords ? "question" : "approval", told, fix || look),
    ...(question === undefined ? {} : { question }),
  };
}

function plainTurn(workflow: Workflow, state: State): string {
  return isMergedFrom(workflow, state) ? "The work is ready to be reviewed and merged." : "The task needs a person.";
}

function hopelessNeeds(facts: NeedFacts, workflow: Workflow): readonly Need[] {
  if (facts.task.held !== undefined || startOf(workflow, facts.task) === undefined) return [];
  return facts.hopeless.map(({ name, status, dependency }) => {
    const isPlain = (dependency?.state ?? dependency?.section) === undefined;
    const text =
      dependency === undefined || isPlain
        ? `The task depends on ${name}, which is in "${status}" and will never be done.`
        : `The task waits until ${conditionText(dependency, name)}, but ${name} has ended in "${status}".`;
    const rest = `signalbox task update ${facts.task.id} --depends-on ""`;
    return need(facts, "dependency", text, `Remove the dependency: ${rest}`, name);
  });
}

/**
 * Why a task waits although a slot is free: only spawn_next in its workflow starts the next task, and it has not run.
 */
export function leftReason(workflow: Workflow): string {
  const { starting } = endsThatStart(workflow);
  const when = starting.length === 0 ? "after certain ends" : `when another ends in ${starting.join(" or ")}`;
  return `A slot is free, but this task does not start by itself: the next task is started only ${when}. A task that ends in another way frees its slot, but starts nothing.`;
}

/** The ends after which the next task starts by itself, and the others. */
export function endsThatStart(workflow: Workflow): Readonly<Record<"starting" | "others", readonly string[]>> {
  const { ways, states } = workflow;
  const isAlways = !saysWhenNext(workflow);
  const starts = ({ name, do: own }: State) =>
    isAlways || startsNext(own) || ways.some(({ to, hooks }) => to === name && startsNext(hooks));
  const ends = Object.values(states).filter(({ terminal }) => terminal);
  const names = (isMeant: (end: State) => boolean) => ends.filter(isMeant).map(({ name }) => name);
  return { starting: names(starts), others: names((end) => !starts(end)) };
}

/**
 * Whether spawn_next in the workflow decides when the next task starts. Then a freed slot starts nothing by itself, so
 * that the file shows every way that does.
 */
export function saysWhenNext({ ways, states }: Workflow): boolean {
  return ways.some(({ hooks }) => startsNext(hooks)) || Object.values(states).some((state) => startsNext(state.do));
}

function startsNext(actions: readonly Action[]): boolean {
  return actions.some(({ name }) => name === "spawn_next");
}

function leftNeeds(facts: NeedFacts, workflow: Workflow): readonly Need[] {
  const { task, isNextLeft = false } = facts;
  if (!isNextLeft || task.held !== undefined || startOf(workflow, task) === undefined) return [];
  return [need(facts, "approval", leftReason(workflow), `Start it: signalbox task spawn ${task.id}`, "slot")];
}

/** A need's text on one line, without the command at its end, which is shown beside it. */
export function briefNeed({ text, command }: Pick<Need, "text" | "command">): string {
  const ended = text.replace(/\.$/, "");
  const isNamed = command !== "" && ended.endsWith(command);
  const why = isNamed ? ended.slice(0, -command.length).replace(/[^.:]*: ?$/, "") : text;
  return joinedLines(why);
}
