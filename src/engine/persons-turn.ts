import type { TaskDocument } from "../documents/task-document.ts";
import type { Reason } from "./decision.ts";
import { stateOf } from "./enter.ts";
import { targetsFor } from "./move.ts";
import type { Request } from "./request.ts";
import { leadsByFindings, undecidedFindings, unfixedFindings, unfixedLeadTo } from "./reviewing.ts";
import type { Task } from "./task.ts";
import type { Outcome, State, Workflow } from "./workflow.ts";

/**
 * Whether the next move in this state is a person's. Besides `waits_for: human` that is a state without a wait whose
 * rules only say that an agent which ends there is dead, as in `classic`: the agent may be idle, and the workflow expects
 * nothing of it.
 */
export function isPersonsTurn({ terminal, wait, rules }: State): boolean {
  if (terminal) return false;
  if (wait.kind === "human") return true;
  const isLeftToPerson = ({ does }: State["rules"][number]) =>
    does.kind === "mark_dead" && does.after?.to === undefined;
  return wait.kind === "open" && rules.length > 0 && rules.every(isLeftToPerson);
}

/** Whether a person moves the task on from here by merging its work. */
export function isMergedFrom(workflow: Workflow, state: State): boolean {
  if (state.terminal || state.do.some(({ name }) => name === "merge")) return false;
  if (mergingState(workflow, state.name) !== undefined) return true;
  // Before any work there is nothing to merge, whatever ways the file has.
  if (state.name === workflow.initial[0]) return false;
  return targetsFor(state, "human").some((to) => workflow.states[to]?.outcome === "done");
}

/** The line with the command by which a person lets the work be merged here; undefined where that is not the next step. */
export function mergeHere(workflow: Workflow, task: Task): string | undefined {
  const { id, status, held } = task;
  if (mergesOnWord(workflow, task))
    return `Let it be merged here: signalbox task ${held === undefined ? "approve" : "continue"} ${id}`;
  const state = workflow.states[status];
  if (state === undefined || held !== undefined) return undefined;
  const isLast = targetsFor(state, "human").some((to) => workflow.states[to]?.outcome === "done");
  return isLast || mergingState(workflow, status) !== undefined
    ? `Merge it here: signalbox task merge ${id}`
    : undefined;
}

/** Whether the task's work is merged from the state that it is in: by a person, or by the workflow. */
export function isMergedNext(workflow: Workflow, { status }: Pick<Task, "status">): boolean {
  const state = workflow.states[status];
  return state !== undefined && (state.do.some(({ name }) => name === "merge") || isMergedFrom(workflow, state));
}

/** Whether work can get into its target without a person: the workflow merges it, and no state on the way there waits for one. */
export function mergesAlone({ states, initial }: Workflow): boolean {
  const reached = new Set(initial);
  // Entries that are added to a Set while it is iterated come last.
  for (const name of reached) {
    const state = states[name];
    if (state === undefined || isPersonsTurn(state)) continue;
    if (state.do.some(({ name }) => mergers.has(name))) return true;
    for (const [to, ways] of Object.entries(state.out)) {
      const open = ways.filter(({ by }) => by === undefined || by.some((role) => role !== "human"));
      if (open.some(({ hooks }) => hooks.some(({ name }) => mergers.has(name)))) return true;
      if (open.length > 0) reached.add(to);
    }
  }
  return false;
}

/**
 * Whether the workflow may merge once a person ends the wait, in the task's state or in the next one; or once a person continues a
 * task that is held in a state that merges judged work without waiting for anybody.
 */
export function mergesOnWord({ states }: Workflow, { status, held, judged }: Pick<Task, "status" | "held" | "judged">) {
  const state = states[status];
  if (state === undefined) return false;
  const isMerging = (each: State) => each.do.some(({ name }) => mergers.has(name));
  if (state.wait.kind !== "human") return held !== undefined && judged !== undefined && isMerging(state);
  return [state, ...targetsOfRules(state).flatMap((to) => states[to] ?? [])].some(isMerging);
}

const mergers: ReadonlySet<string> = new Set(["merge", "merge_pr"]);

/**
 * The states in which an agent continues with a person's answer. Several where the answer alone does not decide which.
 */
export function wordsLeadTo(workflow: Workflow, state: State): readonly string[] {
  const isWorked = (to: string) => isWorkedIn(workflow.states[to]);
  if (state.wait.kind === "human") {
    const [next] = state.rules.flatMap(({ does }) => (does.kind === "then" ? [does.to] : []));
    return next !== undefined && isWorked(next) ? [next] : [];
  }
  return isPersonsTurn(state) ? targetsFor(state, "human").filter(isWorked) : [];
}

/**
 * The state that an answer without a named state leads to, from a state without a wait; undefined where there is not
 * just one.
 */
export function answerTarget(workflow: Workflow, state: State, document: TaskDocument): string | undefined {
  if (askedOf(workflow, state, document) === "consent") return undefined;
  const [only, ...others] = state.wait.kind === "open" ? wordsLeadTo(workflow, state) : [];
  return others.length === 0 ? only : undefined;
}

/**
 * What the task needs from a person. `answers`: an agent has open questions, which an approval would not answer.
 * `words`: an answer or an approval, in the state for unclear tasks. `consent`: an approval only; an answer moves
 * nothing.
 */
export type Asked = "answers" | "words" | "consent";

/**
 * The workflow decides it, never the name of a state. Answered questions stay in the task file: outside of the state
 * for unclear tasks, a written answer settles them.
 */
export function askedOf(workflow: Workflow, state: State, { byHeading }: TaskDocument): Asked {
  if (wordsLeadTo(workflow, state).length === 0 || isMergedFrom(workflow, state)) return "consent";
  // Without a separate state for unclear tasks, a task without a summary only waits to be started.
  const isUnclear = state.name === workflow.unclear && state.name !== workflow.initial[0];
  const isWritten = (heading: string) => (byHeading.get(heading)?.body.trim() ?? "") !== "";
  if (isWritten("Questions") && (isUnclear || !isWritten("Answers"))) return "answers";
  return isUnclear ? "words" : "consent";
}

/** Whether an agent has open questions in a state that waits for a person, so that an approval is not enough. */
export function wantsAnswer(workflow: Workflow, state: State, document: TaskDocument): boolean {
  return state.wait.kind === "human" && askedOf(workflow, state, document) === "answers";
}

/** What a person can do where it is their turn, the likeliest first. A line each, which ends with its command. */
export function personsVerbs(workflow: Workflow, state: State, task: Task, asked: Asked): readonly string[] {
  const { id } = task;
  const words = wordsLeadTo(workflow, state);
  const back = sendBack(waysBack(workflow, state).toAgents, id);
  if (isMergedFrom(workflow, state)) {
    const [next] = state.wait.kind === "human" ? words : [];
    return [
      `Merge it: signalbox task merge ${id}`,
      `Look at it first: signalbox task diff ${id}`,
      ...back,
      ...(next === undefined ? [] : [`Continue in ${next}: signalbox task continue ${id}`]),
    ];
  }
  if (state.wait.kind !== "human") {
    const isOpen = (to: string) => workflow.states[to]?.terminal === false && !words.includes(to);
    const others = targetsFor(state, "human").filter(isOpen);
    const said = asked === "consent" ? back : answerLines(words, id);
    return [...said, ...others.map((to) => `Move it to ${to}: signalbox task update ${id} --status ${to}`)];
  }
  const undecided = undecidedFindings(workflow, task);
  if (undecided !== undefined)
    return [`See the findings: signalbox task findings ${id}`, ...undecided.fix.split("\n"), ...back];
  const unfixed = unfixedFindings(workflow, task);
  if (unfixed !== undefined) {
    const to = unfixedLeadTo(workflow, task);
    const again = to === undefined ? [] : [`Let it go to ${to} first: signalbox task approve ${id}`];
    return [...again, unfixed.fix, ...back];
  }
  const answer = asked === "consent" ? [] : [`Answer: signalbox task answer ${id}`];
  // An agent that is at hand waits for the person's word, and its work may not be what an approval is for.
  const helper = asked === "consent" && state.wait.run !== undefined ? withHelper(state, task) : [];
  return [...answer, ...helper, ...(asked === "answers" ? [] : [yes(state, task)]), ...back];
}

/** An agent takes messages only while it lives. */
function withHelper({ respawn }: State, { id, runs }: Task): readonly string[] {
  const listens = Object.values(runs).some(({ mode = "session" }) => mode === "session");
  const isDead = respawn !== undefined && runs[respawn.role] === undefined;
  return [
    `Look at its work: signalbox task diff ${id}`,
    ...(listens ? [`Tell its agent what to do: signalbox task send ${id} "Your message"`] : []),
    ...(isDead && !listens ? [`Start its agent again, to tell it what to do: signalbox task respawn ${id}`] : []),
  ];
}

/** Names the state that an approval leads to, where there is only one. */
function yes(state: State, task: Task): string {
  const { id } = task;
  const [only, ...others] = new Set(targetsOfRules(state));
  const to = others.length === 0 ? only : leadsByFindings(state, task);
  const where = to === undefined ? "" : `, which moves it to ${to}`;
  return `Approve${where}: signalbox task approve ${id}`;
}

function answerLines(words: readonly string[], id: string): readonly string[] {
  if (words.length === 1) return [`Answer: signalbox task answer ${id}`];
  return words.map((to) => `Answer, and continue in ${to}: signalbox task answer ${id} --status ${to}`);
}

function sendBack(back: readonly string[], id: string): readonly string[] {
  if (back.length <= 1) return back.map(() => `Send it back: signalbox task request-changes ${id}`);
  return back.map((to) => `Send it back to ${to}: signalbox task request-changes ${id} --status ${to}`);
}

/**
 * The distance, in ways, from a state to the nearest state in which a task is done. It lets tasks of any workflow be
 * ordered by how close they are to their end. A state that leads to no such end is farther than all others.
 */
export function waysToDone(workflow: Workflow, state: string): number {
  const distances = known.get(workflow) ?? distancesIn(workflow);
  known.set(workflow, distances);
  return distances.get(state) ?? Object.keys(workflow.states).length;
}

const known = new WeakMap<Workflow, ReadonlyMap<string, number>>();

function distancesIn({ states, ways }: Workflow): ReadonlyMap<string, number> {
  const ends = Object.values(states).filter(({ outcome }) => outcome === "done");
  const distances = new Map(ends.map(({ name }) => [name, 0]));
  // Breadth first, backwards: entries that are added to a Map while it is iterated come last.
  // An escalation follows failures, so it is no progress towards the end.
  for (const [name, distance] of distances)
    for (const { from, to, implied } of ways)
      if (to === name && implied !== "escalation" && !distances.has(from)) distances.set(from, distance + 1);
  return distances;
}

/** Where a person can send a task that is in this state, so that it is worked on again. */
interface WaysBack {
  /** States that are not terminal, without those that the person's wait leads to anyway. */
  readonly all: readonly string[];
  /** Those of them in which an agent works. */
  readonly toAgents: readonly string[];
}

export function waysBack(workflow: Workflow, state: State): WaysBack {
  const { states } = workflow;
  const next = state.wait.kind === "human" ? targetsOfRules(state) : [];
  const all = Object.entries(state.out).flatMap(([to, ways]) => {
    const isForPeople = ways.some((way) => way.implied !== "escalation" && (way.by?.includes("human") ?? true));
    if (isForbidden(workflow, "human", to)) return [];
    return isForPeople && states[to]?.terminal === false && !next.includes(to) ? [to] : [];
  });
  return { all, toAgents: all.filter((to) => isWorkedIn(states[to])) };
}

/** Whether a promise says that this role never moves a task there. */
export function isForbidden({ promises }: Workflow, role: string, to: string): boolean {
  return promises.some((promise) => promise.kind === "never_by" && promise.to === to && promise.roles.includes(role));
}

/**
 * The state that a person can send the task back to: the wanted one, else the only one. Otherwise the reason for
 * refusing.
 */
export function theWayBack(workflow: Workflow, task: Task, wanted?: string): string | Reason {
  const state = stateOf(workflow, task.status);
  const { id } = task;
  if (state.terminal) {
    const fix = `Continue its branch in a new task: signalbox task create --from ${id}`;
    return { code: "terminal", text: `The task is in "${state.name}", which is the end.`, fix };
  }
  const { all, toAgents } = waysBack(workflow, state);
  const [only, ...others] = toAgents;
  if (wanted !== undefined && all.includes(wanted)) return wanted;
  if (wanted === undefined && only !== undefined && others.length === 0) return only;
  const named = wanted !== undefined || only === undefined ? all : toAgents;
  if (named.length > 0) {
    const text = `From "${state.name}" a person can send the task to ${named.join(", ")}.`;
    return { code: "bad-value", text, fix: `Say which: --status ${named.join(" or --status ")}` };
  }
  const text = `From "${state.name}" a person cannot send the task back to an agent.`;
  const fix = Object.keys(task.runs).length > 0 ? `Tell the agent that is at work: signalbox task send ${id}` : "";
  return { code: "no-transition", text, fix: fix || `See what can be done: signalbox task explain ${id}` };
}

/** The state that a person's approval leads to, if that is another than the first one, which the state's question is about. */
export function leadsElsewhere(state: State, task: Task): string | undefined {
  const to = leadsByFindings(state, task);
  return to === targetsOfRules(state)[0] ? undefined : to;
}

function targetsOfRules({ rules }: State): readonly string[] {
  return rules.flatMap(({ does }) => (does.kind === "then" ? [does.to] : []));
}

/** Whether agents work in this state. */
export function isWorkedIn(state: State | undefined): boolean {
  if (state === undefined) return false;
  const { kind } = state.wait;
  return kind === "agent" || kind === "panel" || kind === "fan_out" || (kind === "open" && state.respawn !== undefined);
}

/** The terminal state with this outcome: one that a way leads to from `status`, else the first in the file. */
export function endState(workflow: Workflow, status: string, outcome: Outcome): string | undefined {
  const ends = Object.values(workflow.states).filter((state) => state.outcome === outcome);
  const end = ends.find(({ name }) => workflow.states[status]?.out[name] !== undefined) ?? ends[0];
  return end?.name;
}

/**
 * The state that a person can move a task to so that the workflow merges it; undefined where there is none, or where a
 * person can move the task directly to its end.
 */
export function mergingState(workflow: Workflow, status: string): string | undefined {
  const state = workflow.states[status];
  if (state === undefined || state.terminal) return undefined;
  const targets = targetsFor(state, "human").flatMap((name) => workflow.states[name] ?? []);
  if (targets.some(({ outcome }) => outcome === "done")) return undefined;
  return targets.find((each) => each.do.some(({ name }) => name === "merge"))?.name;
}

/**
 * The request that starts a task which waits for a slot; undefined where it waits for something else. Workflows like
 * `classic` and `minimal` have no such wait: there a task that has never run starts along the first way that acquires a workspace.
 */
export function startOf(workflow: Workflow, task: Task): StartRequest | undefined {
  const state = workflow.states[task.status];
  if (state === undefined) return undefined;
  if (state.wait.kind === "slot") return { kind: "continue", actor: engine };
  if (state.wait.kind !== "open" || state.name !== workflow.initial[0] || task.runCount > 0) return undefined;
  const ways = Object.values(state.out).flat();
  const way = ways.find(
    ({ by, hooks }) =>
      (by === undefined || by.includes("engine")) && hooks.some(({ name }) => name === "acquire_workspace"),
  );
  return way && { kind: "move", to: way.to, actor: engine };
}

/** The request by which a person starts a task: also where its first state waits for a person to start it. */
export function personsStart(workflow: Workflow, task: Task): StartRequest | undefined {
  const isFirst = task.status === workflow.initial[0] && task.runCount === 0;
  const waits = workflow.states[task.status]?.wait.kind === "human";
  return startOf(workflow, task) ?? (isFirst && waits ? { kind: "continue", actor: engine } : undefined);
}

/** Whether a person's approval puts the task into the queue: it is in its first state, and was never started. */
export function isStartedByApproval({ initial, states }: Workflow, { status, runCount }: Task): boolean {
  const state = states[status];
  if (status !== initial[0] || runCount > 0 || state?.wait.kind !== "human") return false;
  const next = targetsOfRules(state);
  return next.length > 0 && next.every((to) => states[to]?.wait.kind === "slot");
}

/** Whether nobody has started the task yet: it is where it was created, or in the first state again. A part is started by its parent. */
export function isUnstarted(workflow: Workflow, { part, status, previousStatus }: Task): boolean {
  return part === undefined && (status === workflow.initial[0] || previousStatus === "");
}

type StartRequest = Extract<Request, { kind: "continue" | "move" }>;

const engine = { role: "engine" };

/** The command that shows a person what a run does. Only an interactive agent has a terminal to attach to. */
export function seeRun({ id, runs }: Pick<Task, "id" | "runs">, key: string, role = ""): string {
  const mode = Object.values(runs).find((run) => run.key === key)?.mode ?? "session";
  return mode === "session"
    ? `signalbox task attach ${id}${role === "" ? "" : ` --role ${role}`}`
    : `signalbox task logs ${id} --follow`;
}
