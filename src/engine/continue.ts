import { apply, type Decision, type Reason, type TaskEvent } from "./decision.ts";
import { endRun, startDraft, startRun, tellRun } from "./draft.ts";
import { progressAtStart, restarted, startWait, stateOf } from "./enter.ts";
import { gateReasons } from "./gate.ts";
import { waitOf } from "./judging.ts";
import { guardReasons, rejected, standing, targetsFor } from "./move.ts";
import { judgeAgain } from "./panel.ts";
import { isPersonsTurn, isWorkedIn, seeRun, wantsAnswer } from "./persons-turn.ts";
import type { Actor, Facts, PersonsWord } from "./request.ts";
import { specOf } from "./run-spec.ts";
import { ticketWord } from "./settled.ts";
import { after, endWait, noLongerHeld, startWork } from "./take-rule.ts";
import type { Task, WaitProgress } from "./task.ts";
import { isTemporary } from "./when.ts";
import type { State, Workflow } from "./workflow.ts";

/** Ends the task's wait. For a held task it retries what failed. */
export function decideContinue(workflow: Workflow, task: Task, actor: Actor, facts: Facts): Decision {
  const state = stateOf(workflow, task.status);
  const refusal =
    (owesItsEnd(state, task, actor) ? undefined : standing(state, task, actor)) ?? mayContinue(state, task, actor);
  if (refusal !== undefined) return rejected(refusal);
  // A person takes part in this cycle, so visits, which bound the engine, are counted anew.
  const visits = actor.role === "human" ? restarted(state) : task.visits;
  const continued: TaskEvent = {
    type: "task.continued",
    by: actor.role,
    data: { held: task.held?.word ?? "" },
    set: {
      held: undefined,
      visits,
      attended: actor.role === "human" || task.attended,
      ...(task.held !== undefined && forgetsFailures(state, task.held.word) ? { crashCount: 0 } : {}),
    },
  };
  const next = apply(task, continued);
  if (task.held !== undefined)
    return (
      noLongerHeld(workflow, { ...next, visits: task.visits }, task.held, continued, facts) ??
      startAgain(workflow, next, state, task.held.again, continued, facts)
    );

  const decision = endWait(
    workflow,
    next,
    { word: "ok", reason: "", answer: undefined, again: "wait" },
    facts,
    actor.role,
  );
  const isRefused = decision.kind === "stayed" && decision.task.held !== undefined;
  if (!isRefused) return after(continued, decision);
  const reasons = closedReasons(workflow, next, state, facts);
  // A person gets the reasons. For the scheduler the task is held, unless it only has to wait for a workspace.
  const isOnlyLate = reasons.some((reason) => reason.code === "pool-full");
  if (actor.role === "human" || isOnlyLate) return { kind: "rejected", reasons };
  return after(continued, decision);
}

/**
 * Whether a retry resets the count of failures. Where rules or guards of the state read the count, it stays, or the
 * state would never escalate. Where it only limits the attempts, all attempts are granted anew. Checking a temporary
 * word again is no second failure.
 */
function forgetsFailures({ rules, out }: State, word: string): boolean {
  if (isTemporary(word)) return true;
  const guards = [
    ...rules.flatMap(({ when }) => when),
    ...Object.values(out).flatMap((ways) => ways.flatMap(({ when }) => when)),
  ];
  const escalates = rules.some(({ does }) => does.kind !== "then" && does.after !== undefined);
  return !escalates && !guards.some(({ source }) => source === "crash_count");
}

/** A task that has ended, and one of whose last effects failed. Only a person can retry it. */
function owesItsEnd(state: State, { held }: Task, { role }: Actor): boolean {
  return state.terminal && held?.again === "effects" && role === "human";
}

function mayContinue(state: State, task: Task, actor: Actor): Reason | undefined {
  if (task.phase === "doing" && task.held === undefined) {
    return { code: "not-waiting", text: `The work of "${state.name}" is under way.`, fix: "Wait until it ends." };
  }
  if (actor.role !== "human" && actor.role !== "engine") {
    return {
      code: "only-human",
      text: "Only a person can continue a task.",
      fix: `Ask for a state: ${targetsFor(state, actor.role).join(", ") || "you can ask for none"}.`,
    };
  }
  if (task.held !== undefined) {
    // The engine continues a task whose ticket was opened again.
    if (actor.role === "human" || isTemporary(task.held.word) || task.held.word === ticketWord) return undefined;
    return {
      code: "only-human",
      text: `The task is held for a person: ${task.held.reason}`,
      fix: "Wait for the person.",
    };
  }
  const { kind } = state.wait;
  if (kind === "slot" && task.part !== undefined && task.part.slot === undefined) return waitsForParent(task);
  if (kind === "slot" || kind === "time" || (kind === "human" && actor.role === "human")) return undefined;
  const targets = targetsFor(state, actor.role);
  const text = kind === "human" ? `"${state.name}" waits for a person.` : `"${state.name}" does not wait for you.`;
  return { code: "not-waiting", text, fix: targets.length > 0 ? `You can ask for ${targets.join(", ")}.` : "Wait." };
}

function waitsForParent({ id, parent, part }: Task): Reason {
  const text = `The task is the part "${part?.item}" of ${parent}, which has not given it a slot yet.`;
  return { code: "not-waiting", text, fix: `See what it waits for: signalbox task explain ${id}` };
}

function startAgain(
  workflow: Workflow,
  task: Task,
  state: State,
  again: "wait" | "do" | "effects",
  continued: TaskEvent,
  facts: Facts,
): Decision {
  // The owed effects are in the store: the performer continues with them once the task is no longer held.
  if (again === "effects") return { kind: "stayed", task, events: [continued], effects: [] };
  if (again === "do") return after(continued, startWork(workflow, task, state, continued.by));
  const { wait } = state;
  const ok = { word: "ok", reason: "", answer: undefined, again: "wait" as const };
  if (wait.kind === "none" || task.wait.skipped)
    return after(continued, endWait(workflow, task, ok, facts, continued.by));
  if (wait.kind === "human" || wait.kind === "slot" || wait.kind === "time")
    return after(continued, endWait(workflow, task, ok, facts, continued.by));
  if (wait.kind === "open" && state.respawn === undefined) {
    const targets = targetsFor(state, continued.by);
    const text = `"${state.name}" has no respawn_prompt, so its agent cannot be started again.`;
    return rejected({ code: "no-respawn", text, fix: targets.length > 0 ? `Ask for ${targets.join(", ")}.` : "" });
  }
  const draft = startDraft(workflow, task, task.status);
  const judged = wait.kind === "panel" ? judgeAgain(workflow, task, wait, facts) : undefined;
  if (judged !== undefined) startRun(draft, judged);
  else if (wait.kind !== "open") startWait(draft, state, true);
  else if (state.respawn !== undefined && draft.runs[state.respawn.role] === undefined) startRun(draft, state.respawn);
  const event: TaskEvent = {
    ...continued,
    set: {
      ...continued.set,
      runs: draft.runs,
      sessions: draft.sessions,
      runCount: draft.runCount,
      wait: judged === undefined ? againAt(workflow, state, progressAtStart(draft, state, false), facts) : task.wait,
      // The parts that are tried again must exist before the children are counted.
      ...(wait.kind === "fan_out" ? { phase: "entering" as const } : {}),
    },
  };
  return { kind: "stayed", task: apply(task, event), events: [event], effects: draft.effects };
}

/** Judges that are started again are given the present commit. */
function againAt(workflow: Workflow, { wait, respawn }: State, progress: WaitProgress, facts: Facts): WaitProgress {
  const run = wait.kind === "agent" ? wait.run : wait.kind === "panel" ? wait.judge : respawn;
  return run === undefined ? progress : waitOf(workflow, progress, run, facts);
}

/** Why none of the ways that `continue` would take is open. */
function closedReasons(workflow: Workflow, task: Task, state: State, facts: Facts): readonly Reason[] {
  const reasons = state.rules.flatMap(({ does }) =>
    does.kind !== "then"
      ? []
      : (state.out[does.to] ?? []).flatMap((way) => [
          ...guardReasons(way, workflow, task, facts),
          ...gateReasons(way, workflow, task, facts),
        ]),
  );
  if (reasons.length > 0) return reasons;
  const targets = targetsFor(state, "human");
  return [
    {
      code: "no-transition",
      text: `No rule of "${state.name}" says where to go from here.`,
      fix: targets.length > 0 ? `Ask for ${targets.join(", ")}.` : "",
    },
  ];
}

/** Why a person's request is outdated: the task has changed since the person read its state. */
export function isOutdated(task: Task, kind: "move" | "continue", word: PersonsWord, facts: Facts): Reason | undefined {
  const look = `See its present state: signalbox task explain ${task.id}`;
  if (word.entry !== undefined && word.entry !== task.entry)
    return { code: "moved-on", text: `The task has moved in the meantime: it is in "${task.status}".`, fix: look };
  // To continue a held task means something else: it retries what failed.
  if (word.entry !== undefined && kind === "continue" && task.held !== undefined)
    return { code: "moved-on", text: `The task was held in the meantime: ${task.held.reason}`, fix: look };
  if (word.approves === undefined || facts.head === "" || facts.head === word.approves) return undefined;
  const text = `The branch has moved from ${short(word.approves)} to ${short(facts.head)} since you last read it.`;
  return { code: "moved-on", text, fix: `Read what is new: signalbox task diff ${task.id}` };
}

/** Why a task must not end as done: it has commits that are not merged. A person can insist with --yes. */
export function unmergedWork(workflow: Workflow, task: Task, decision: Decision, facts: Facts): Reason | undefined {
  if (decision.kind !== "moved" || workflow.states[decision.task.status]?.outcome !== "done") return undefined;
  const { commits = 0, merged = 0 } = facts.numbers;
  if (commits === 0 || merged === 1) return undefined;
  const to = decision.task.status;
  const many = commits === 1 ? "1 commit is" : `${commits} commits are`;
  const text = `The work is not merged: ${many} only on "${task.branch}".`;
  const fix = `Merge it: signalbox task merge ${task.id}\nTo end it without merging: signalbox task update ${task.id} --status ${to} --yes`;
  return { code: "unmerged", text, fix };
}

/** Why a task must not go on: its agent has open questions. A person who wants that nevertheless says so. */
export function openQuestions(workflow: Workflow, task: Task, { document }: Facts): Reason | undefined {
  // Of a held task something else is tried again.
  if (task.held !== undefined || !wantsAnswer(workflow, stateOf(workflow, task.status), document)) return undefined;
  const answer = `Answer them: signalbox task answer ${task.id} -m "Your answer"`;
  const fix = `${answer}\nTo go on without an answer: signalbox task continue ${task.id} --yes`;
  return { code: "unanswered", text: "Its agent has questions, and nobody has answered them.", fix };
}

/** Adds to a decision what came with the person's request: the approval of a commit, and messages for the agent. */
export function withWord(workflow: Workflow, before: Task, decision: Decision, word: PersonsWord): Decision {
  const woken = word.wake === undefined ? decision : withWake(workflow, before, decision, word.wake);
  const told = word.tell === undefined ? woken : withMessage(workflow, before, woken, word.tell);
  if (word.answers !== undefined) return answered(told, word.answers);
  if (word.approves === undefined) return told;
  const data = { commit: word.approves, status: before.status };
  if (told.kind !== "moved" && told.kind !== "stayed") return told;
  // Elsewhere work may be added after the approval, as where a plan is approved.
  const isMerged = [before.status, told.task.status].some((status) => merges(stateOf(workflow, status)));
  const judged = isMerged && word.approves !== "" ? { judged: { commit: word.approves, role: "human" } } : {};
  const approved: TaskEvent = { type: "task.approved", by: "human", data, set: judged };
  return after(approved, { ...told, task: { ...told.task, ...(judgedLater(told.events) ? {} : judged) } });
}

/** The answer is in the history with the question's id, so that a later answer can be refused with it. */
function answered(decision: Decision, data: NonNullable<PersonsWord["answers"]>): Decision {
  return after({ type: "task.answered", by: "human", data, set: {} }, decision);
}

/** Whether the state's own work merges. */
export function merges({ do: work }: State): boolean {
  return work.some(({ name }) => name === "merge" || name === "merge_pr");
}

function judgedLater(events: readonly TaskEvent[]): boolean {
  return events.some(({ set }) => set.judged !== undefined);
}

/**
 * Passes a message to the agent that continues: a new run gets it after its prompt, a live one as a message. Where the
 * workflow already sends that agent a message, nothing is added.
 */
function withMessage(workflow: Workflow, before: Task, decision: Decision, message: string): Decision {
  if (decision.kind === "ignored" || decision.kind === "rejected") return decision;
  const { task, effects } = decision;
  // The engine's own work comes first, and its effects are that work.
  if (task.phase === "doing") return decision;
  const roles = [stateOf(workflow, task.status), stateOf(workflow, before.status)].flatMap(roleAt);
  for (const role of new Set(roles)) {
    const at = effects.findLastIndex(({ agent }) => agent?.role === role);
    const order = effects[at]?.agent;
    if (order !== undefined) {
      if (order.message !== "") return decision;
      return {
        ...decision,
        effects: effects.map((each, i) => (i === at ? { ...each, agent: { ...order, message } } : each)),
      };
    }
    // A run without a terminal cannot receive messages until its next turn.
    if (task.runs[role]?.mode !== "session") continue;
    const draft = startDraft(workflow, task, task.status);
    tellRun(draft, specOf(workflow, stateOf(workflow, task.status), role), { prompt: "", message });
    return { ...decision, effects: [...effects, ...draft.effects] };
  }
  return decision;
}

/**
 * Tells an agent that was idle during a person's turn that its task has moved, unless the workflow already tells it.
 */
function withWake(workflow: Workflow, before: Task, decision: Decision, message: string): Decision {
  if (decision.kind !== "moved" || decision.task.phase === "doing") return decision;
  const { task, effects } = decision;
  const state = stateOf(workflow, task.status);
  const [role] = roleAt(state);
  const isIdle = role !== undefined && before.runs[role]?.key === task.runs[role]?.key && isWorkedIn(state);
  if (!isIdle || !isPersonsTurn(stateOf(workflow, before.status)) || task.runs[role]?.mode !== "session")
    return decision;
  if (effects.some(({ agent }) => agent?.role === role)) return decision;
  const draft = startDraft(workflow, task, task.status);
  tellRun(draft, specOf(workflow, state, role), { prompt: "", message });
  return { ...decision, effects: [...effects, ...draft.effects] };
}

/**
 * Passes a message to the agent of the task's state, and starts that agent again if it is dead. The task does not move.
 */
export function remind(workflow: Workflow, task: Task, actor: Actor, word: PersonsWord, facts: Facts): Decision {
  const state = stateOf(workflow, task.status);
  const refusal = standing(state, task, actor);
  if (refusal !== undefined) return rejected(refusal);
  const isAlive = roleAt(state).some((role) => task.runs[role]?.mode === "session");
  const decision: Decision = isAlive
    ? { kind: "stayed", task, events: [], effects: [] }
    : respawn(workflow, task, actor, facts);
  return withWord(workflow, task, decision, word);
}

/** The role that works in a state, or is at hand there. */
function roleAt({ wait, respawn }: State): readonly string[] {
  const run = wait.kind === "agent" || wait.kind === "human" ? wait.run : undefined;
  const role = run?.role ?? respawn?.role;
  return role === undefined ? [] : [role];
}

function short(commit: string): string {
  return commit.slice(0, 10);
}

/** Brings a dead agent back in place. Not a transition: no counter moves, and the window keeps its name. */
export function respawn(workflow: Workflow, task: Task, actor: Actor, facts: Facts): Decision {
  const state = stateOf(workflow, task.status);
  const refusal = standing(state, task, actor);
  if (refusal !== undefined) return rejected(refusal);
  if (actor.role !== "human" && actor.role !== "engine") {
    return rejected({ code: "only-human", text: "An agent cannot start agents.", fix: "Wait for the person." });
  }
  // The workspace, or something that it needs, was deleted.
  if (task.workspace !== "" && facts.numbers.workspace === 0) return restore(workflow, task, actor, state, facts);
  const run = state.respawn;
  if (run === undefined) {
    return rejected({
      code: "no-respawn",
      text: isWorkedIn(state)
        ? `No agent can be started again in "${state.name}": the state has no respawn_prompt.`
        : `No agent works in "${state.name}", so there is none to start again.`,
      fix: `See what can be done: signalbox task explain ${task.id}`,
    });
  }
  const live = task.runs[run.role];
  if (live !== undefined) {
    return rejected({
      code: "still-alive",
      text: `The ${run.role} is still alive (${live.key}).`,
      fix: `See what it does: ${seeRun(task, live.key)}\nTo end it first: signalbox agent kill ${task.project}#${task.number}/${live.key}`,
    });
  }
  if (run.prompt === undefined || workflow.prompts[run.prompt] === undefined) {
    return rejected({
      code: "no-respawn",
      text: `The workflow has no prompt "${run.prompt ?? ""}".`,
      fix: "Fix the workflow and migrate the task.",
    });
  }
  const draft = startDraft(workflow, task, task.status);
  startRun(draft, run);
  const event: TaskEvent = {
    type: "agent.respawned",
    by: actor.role,
    data: { role: run.role, prompt: run.prompt },
    set: {
      runs: draft.runs,
      runCount: draft.runCount,
      held: undefined,
      wait: waitOf(workflow, { ...progressAtStart(draft, state, false), round: task.wait.round }, run, facts),
    },
  };
  return { kind: "stayed", task: apply(task, event), events: [event], effects: draft.effects };
}

/** Makes the workspace again. Agents that worked in it resume their sessions in the new folder. */
function restore(workflow: Workflow, task: Task, actor: Actor, state: State, { head }: Facts): Decision {
  const draft = startDraft(workflow, task, task.status);
  const run = state.respawn;
  const live = Object.entries(task.runs);
  for (const [name, { key }] of live) {
    endRun(draft, name, true);
    draft.sessions = { ...draft.sessions, [name]: key };
  }
  // A person asks for it, so a folder that cannot be read is replaced.
  draft.effects.push({ action: "acquire_workspace", params: { replaces: true } });
  const isAgents = task.held?.again !== "do" && task.held?.again !== "effects" && task.phase === "waiting";
  const starts = run?.prompt !== undefined && isAgents && workflow.prompts[run.prompt] !== undefined;
  if (starts) startRun(draft, run);
  const { runs, sessions, runCount } = draft;
  const event: TaskEvent = {
    type: "workspace.restored",
    by: actor.role,
    data: { workspace: task.workspace, commit: head },
    set: {
      runs,
      sessions,
      runCount,
      ...(starts ? { held: undefined, wait: { ...progressAtStart(draft, state, false), round: task.wait.round } } : {}),
      ...(task.held?.again === "effects" ? { held: undefined } : {}),
    },
  };
  return { kind: "stayed", task: apply(task, event), events: [event], effects: draft.effects };
}
