import { type Asked, isMergedFrom, isPersonsTurn, personsVerbs } from "./persons-turn.ts";
import { textForPerson } from "./prompt.ts";
import type { Activity } from "./reconcile.ts";
import { sentence, sentences } from "./sentence.ts";
import { startOf } from "./start-of.ts";
import type { Task } from "./task.ts";
import type { Action, State, Workflow } from "./workflow.ts";

/** Why a task needs a person, for those who want to be called for some of it only. */
export const needReasons = {
  disk: "nothing can be saved: the disk of the home is full, or cannot be written",
  question: "an agent asks something, and goes on with the answer",
  approval: "the task waits for a person: to merge it, to say yes, or to decide",
  held: "no rule of the workflow covers what happened",
  effect: "something that the task owes has failed for good",
  budget: "what may be spent is spent",
  agent: "an agent is dead, waits in a dialog, or cannot go on",
  message: "a message did not reach its agent",
  limit: "a provider takes no more for long, or does not say until when",
  merge: "a merge waits for a file of the person's, or was refused",
  dependency: "the task depends on one that will never be done",
  workflow: "the task's workflow cannot be read any more",
  workspace: "the task's workspace, its branch or the repository was deleted, moved or broken",
} as const;

export type NeedReason = keyof typeof needReasons;

/** One thing that a task needs a person for. */
export interface Need {
  readonly reason: NeedReason;
  /** What is the matter, in sentences. */
  readonly text: string;
  /** What the person can do, a line each. */
  readonly fix: string;
  /** The first command in it; empty where none helps. */
  readonly command: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** The same for as long as the need is the same: task, stay and reason. */
  readonly key: string;
}

/** What is known of a task and of everything around it that can need a person. */
export interface NeedFacts {
  readonly task: Task;
  /** Undefined where it cannot be read any more. */
  readonly workflow: Workflow | undefined;
  /** When the task last changed. */
  readonly changedAt: number;
  /** When it was looked at. */
  readonly now: number;
  /** The runs that the task wants and that were started. */
  readonly runs: readonly SeenRun[];
  /** What could not be delivered to them. */
  readonly messages: readonly UntoldMessage[];
  /** Its merge, where that waits for the person or was refused since the task last changed. */
  readonly merge: { readonly state: "waits" | "refused"; readonly target: string; readonly reason: string } | undefined;
  /** The first thing it owes that has failed for good: the code of the fault, empty where nobody noted it. */
  readonly failure: { readonly code: string } | undefined;
  /** It still owes something, so it goes on by itself. */
  readonly isOwing: boolean;
  /** The limit of a provider that keeps its runs from going on, where that lasts long or nobody says until when. */
  readonly limit: { readonly harness: string; readonly text: string } | undefined;
  /** Tasks that it depends on and that ended without being done. */
  readonly hopeless: readonly { readonly name: string; readonly status: string }[];
  /** What an agent has written down as its questions; empty where nothing. */
  readonly questions: string;
  /** What the task's state wants of a person; only consent where nobody knows. */
  readonly asked?: Asked;
  /** What is wrong with its workspace, and what to do; undefined where nothing is. */
  readonly trouble?: { readonly reason: string; readonly fix: string } | undefined;
  /** A slot is free, the task is the next one, and nobody is going to start it. */
  readonly isNextLeft?: boolean;
  /** Why nothing can be saved, and what to do; undefined where it can. */
  readonly unsaved?: { readonly reason: string; readonly fix: string } | undefined;
  /** Since when needs are known that are there already, by key. */
  readonly known: ReadonlyMap<string, number>;
}

export interface UntoldMessage {
  readonly to: string;
  readonly text: string;
  readonly problem: string;
  /** What the person can do; to look at the agent where nothing is said. */
  readonly fix?: string;
}

export interface SeenRun {
  readonly key: string;
  readonly activity: Activity;
  /** What it is at, or asks. */
  readonly what: string;
  /** Why it needs a person; empty where it does not. */
  readonly raised: string;
  /** What its provider or program said, where the run cannot go on because of it; empty where nothing. */
  readonly error: string;
}

/**
 * Everything that a task needs a person for, the most pressing first; nothing where it goes on without one. This is the only
 * place that decides it: lists, the guide, `explain`, `doctor` and the calls all show what it says.
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
  // What the task still owes, such as the start of an agent, makes a workspace again where it has to.
  const trouble = facts.isOwing ? undefined : facts.trouble;
  return [
    ...(trouble === undefined ? [] : [need(facts, "workspace", trouble.reason, trouble.fix)]),
    ...mergeNeeds(facts),
    ...dialogueNeeds(facts),
    ...facts.runs.flatMap((run) => runNeeds(facts, run)),
    ...messageNeeds(facts),
    ...limitNeeds(facts),
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
  // What an agent, a program or a file name says never becomes a command to copy: only failures whose words are all ours name one.
  const isOurs = ownFailures.has(failure?.code ?? "") && task.held?.reason === text;
  const [, own] = (isOurs && endsWithCommand.exec(text)) || [];
  const [command = ""] = /signalbox [^\n]+/.exec(own ?? fix) ?? [];
  // What is not the task's own has begun since it last changed.
  const since = known.get(key) ?? (isStanding.has(reason) ? changedAt : now);
  return { reason, text, fix, command, since, key };
}

const isStanding = new Set<NeedReason>(["question", "approval", "held", "effect", "budget", "workflow"]);

const ownFailures: ReadonlySet<string> = new Set(["permissions.unasked", "agents.budget"]);
const endsWithCommand = /(signalbox [^\n]+?)\.?$/;

/** A task in its last state can still owe something, such as giving its workspace back. */
function afterTheEnd(facts: NeedFacts): readonly Need[] {
  const { id, held, phase } = facts.task;
  if (held === undefined || phase === "over") return [];
  const again = `Mend the cause, then try again: signalbox task retry ${id}`;
  const forget = `Or forget the task; what is in its workspace is saved first: signalbox task delete ${id}`;
  return [{ ...heldNeed(facts, held.reason), fix: `${again}\n${forget}` }];
}

function lostWorkflow(facts: NeedFacts): Need {
  const { id, workflow, status } = facts.task;
  const text =
    facts.workflow === undefined
      ? `Its workflow "${workflow}" cannot be read any more.`
      : `Its workflow "${workflow}" has no state "${status}".`;
  return need(facts, "workflow", text, `Move it to a version that can: signalbox task migrate ${id}`);
}

function mergeNeeds(facts: NeedFacts): readonly Need[] {
  const { merge, task } = facts;
  if (merge === undefined) return [];
  const { state, target, reason } = merge;
  if (state === "waits") return [need(facts, "merge", `It waits to be merged into "${target}". ${reason}`, "", state)];
  const [first = ""] = reason.split("\n");
  return [need(facts, "merge", first, `Mend it, then ask again: signalbox task merge ${task.id}`, state)];
}

/** What an agent asks in a dialogue. */
function dialogueNeeds(facts: NeedFacts): readonly Need[] {
  const { id, wait, log, held } = facts.task;
  if (held !== undefined || (wait.turn !== "reply" && wait.turn !== "confirm")) return [];
  const said = log.findLast(({ from }) => from === "agent")?.text.trim() ?? "";
  const answer =
    wait.turn === "confirm"
      ? `Say yes, or what is to be different: signalbox task reply ${id} yes`
      : `Reply to it: signalbox task reply ${id} "Your answer"`;
  const text = said === "" ? "Its agent waits for an answer." : `Its agent asks: ${said}`;
  return [need(facts, "question", text, answer, `${wait.turn}-${wait.round}-${log.length}`)];
}

function runNeeds(facts: NeedFacts, { key, activity, what, raised, error }: SeenRun): readonly Need[] {
  const fix = `Look at it: signalbox task attach ${facts.task.id} --role ${key}`;
  const asks = activity === "asks";
  const said = error === "" ? "" : `It was told: ${error}`;
  if (raised !== "") {
    const question = asks && what !== "" ? `It asks: ${what}` : "";
    return [need(facts, "agent", sentences([`${key}: ${raised}`, question, said]), fix, key)];
  }
  if (asks)
    return [need(facts, "agent", sentences([`${key} asks: ${what || "its screen says what"}`, said]), fix, key)];
  // One that is at work gets over it by itself, or is raised.
  return error === "" || activity === "busy" || activity === "starting"
    ? []
    : [need(facts, "agent", `${key} was told: ${error}`, fix, key)];
}

function messageNeeds(facts: NeedFacts): readonly Need[] {
  return facts.messages.map(({ to, text, problem, fix }) => {
    const start = text.trim().split("\n")[0]?.slice(0, 80);
    const what = sentences([`A message to ${to} did not arrive.`, problem, `It begins: ${start}`]);
    const look = `Look at it: signalbox task attach ${facts.task.id} --role ${to}`;
    return need(facts, "message", what, fix ?? look, to);
  });
}

function limitNeeds(facts: NeedFacts): readonly Need[] {
  if (facts.limit === undefined) return [];
  const { harness, text } = facts.limit;
  return [need(facts, "limit", text, `If that does not hold any more: signalbox resume --harness ${harness}`)];
}

/** What comes from where the task stands. */
function standingNeeds(facts: NeedFacts, workflow: Workflow, state: State): readonly Need[] {
  const { task, runs, isOwing } = facts;
  if (task.held !== undefined) return [heldNeed(facts, task.held.reason)];
  const isTalking = task.wait.turn === "reply" || task.wait.turn === "confirm";
  if (task.phase !== "waiting" || isTalking) return [];
  if (isPersonsTurn(state)) return [turnNeed(facts, workflow, state)];
  if (isOwing || Object.keys(task.runs).length > 0 || runs.length > 0) return [];
  const role = state.wait.kind === "agent" ? state.wait.run.role : state.respawn?.role;
  if (role !== undefined && (state.wait.kind === "agent" || state.wait.kind === "open")) {
    const fix = `Bring it back: signalbox task respawn ${task.id}`;
    return [need(facts, "agent", `It waits for ${role}, which is not running.`, fix, role)];
  }
  // Nobody is at work, and nothing happens by itself.
  const isStill = state.wait.kind === "open" && startOf(workflow, task) === undefined;
  return isStill ? [turnNeed(facts, workflow, state)] : [];
}

function heldNeed(facts: NeedFacts, why: string): Need {
  const { id, held } = facts.task;
  const isSpent = facts.failure?.code === "agents.budget" || held?.word === "cost";
  const reason = isSpent ? "budget" : held?.again === "effects" ? "effect" : isAgents(facts) ? "agent" : "held";
  return need(facts, reason, why, `Mend the cause, then try again: signalbox task continue ${id}`);
}

/** The task is held because its agent ended, or went quiet. */
function isAgents({ task: { held } }: NeedFacts): boolean {
  return held?.again === "wait" && ["exit", "idle", "stall", "error", "lost"].includes(held.word);
}

function turnNeed(facts: NeedFacts, workflow: Workflow, state: State): Need {
  const { task, questions, asked = "consent" } = facts;
  const wantsWords = asked !== "consent";
  const open = wantsWords && questions !== "" ? `Its agent asks:\n${questions}` : "";
  const said = state.ask === undefined ? undefined : textForPerson(workflow, task, state.ask);
  const text = said ?? (wantsWords ? "It waits for your answer." : plainTurn(workflow, state));
  const fix = personsVerbs(workflow, state, task, asked).join("\n");
  const told = open === "" ? text : `${sentence(text)}\n${open}`;
  return need(
    facts,
    wantsWords ? "question" : "approval",
    told,
    fix || `See what can be done: signalbox task explain ${task.id}`,
  );
}

function plainTurn(workflow: Workflow, state: State): string {
  return isMergedFrom(workflow, state) ? "Its work is ready to be looked at, and merged." : "A person is needed.";
}

function hopelessNeeds(facts: NeedFacts, workflow: Workflow): readonly Need[] {
  if (facts.task.held !== undefined || startOf(workflow, facts.task) === undefined) return [];
  return facts.hopeless.map(({ name, status }) => {
    const text = `It depends on ${name}, which is in "${status}" and will never be done.`;
    const rest = `signalbox task update ${facts.task.id} --depends-on ""`;
    return need(facts, "dependency", text, `Take it off: ${rest}`, name);
  });
}

/** Why a task waits though a slot is free: the workflow says itself when the next one starts, and that has not happened. */
export function leftReason(workflow: Workflow): string {
  const { starting } = endsThatStart(workflow);
  const when = starting.length === 0 ? "after certain ends" : `when one ends in ${starting.join(" or ")}`;
  return `A slot is free, but this task does not start by itself: the next task is started only ${when}.`;
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
 * Whether a workflow says itself where the next task may start. Then giving a slot back starts nobody: it would not be seen
 * in the file which ways do.
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

/** What is the matter, on one line and without its own command at the end, which is shown beside it. */
export function briefNeed({ text, command }: Pick<Need, "text" | "command">): string {
  const ended = text.replace(/\.$/, "");
  const isNamed = command !== "" && ended.endsWith(command);
  const why = isNamed ? ended.slice(0, -command.length).replace(/[^.:]*: ?$/, "") : text;
  return why.replace(/\s+/g, " ").trim();
}
