import { actionKeys, moveKeys } from "./action-keys.ts";
import {
  type Allowance,
  explain,
  free,
  human,
  judge,
  merged,
  needsWorkspace,
  no,
  noDialogue,
  nothingAsked,
  nothingToApprove,
  over,
  type Seen,
  type Surroundings,
  saying,
  seeAgents,
} from "./allowance.ts";
import { type Consequence, consequenceOfActions } from "./consequence.ts";
import { openQuestions } from "./continue.ts";
import { stateOf } from "./enter.ts";
import { targetsFor } from "./move.ts";
import {
  answerTarget,
  askedOf,
  endState,
  isPersonsTurn,
  leadsElsewhere,
  mergeHere,
  mergingState,
  personsVerbs,
  startOf,
  waysBack,
} from "./persons-turn.ts";
import { whyFixed } from "./plan-edit.ts";
import { textForPerson } from "./prompt.ts";
import type { Facts } from "./request.ts";
import { undecidedFindings, unfixedFindings, unfixedLeadTo } from "./reviewing.ts";
import type { Task } from "./task.ts";
import type { State, Workflow } from "./workflow.ts";

/** Something that a person can do with a task, now or in another state. */
export interface PersonAction {
  /** Its name on the command line; `move` for every way that a person may take by hand. */
  readonly name: string;
  readonly label: string;
  /** The shortcut in dashboards; empty where another action has that key now. */
  readonly key: string;
  readonly command: string;
  /** The state that it leads to; empty where the task stays, or where the state is not known yet. */
  readonly to: string;
  /** What follows that reaches beyond the task; `none` where it is not allowed. */
  readonly consequence: Consequence;
  readonly allowed: boolean;
  /** Why the action is not allowed, and what to do instead; empty where it is allowed. */
  readonly why: string;
}

/**
 * Everything that a person can do with a task, the most important first. The task's workflow decides what is allowed.
 */
export function personActions(
  workflow: Workflow,
  task: Task,
  facts: Facts,
  around: Surroundings,
): readonly PersonAction[] {
  const state = stateOf(workflow, task.status);
  const seen: Seen = { workflow, task, facts, around, state };
  return withNeededFirst(
    seen,
    withOwnKeys([
      ...[spawn(seen), attach(seen), respawn(seen), reply(seen), answer(seen), approve(seen)],
      ...seePlan(seen),
      ...seeFindings(seen),
      ...requestChanges(seen),
      ...[
        merge(seen),
        ...stopMerge(seen),
        createPr(seen),
        send(seen),
        goOn(seen),
        retry(seen),
        sync(seen),
        cancel(seen),
      ],
      ...moves(seen),
      ...looks(seen),
      ...folders(seen),
      ...ends(seen),
    ]),
  );
}

/** Where it is a person's turn, the actions that `personsVerbs` offers come first, in its order. */
function withNeededFirst(
  { workflow, task, state, facts }: Seen,
  actions: readonly PersonAction[],
): readonly PersonAction[] {
  if (task.held !== undefined || task.phase !== "waiting" || !isPersonsTurn(state)) return actions;
  const lines = personsVerbs(workflow, state, task, askedOf(workflow, state, facts.document));
  const verbs = lines.flatMap((line) => /signalbox task ([\w-]+)/.exec(line)?.[1] ?? []);
  const place = ({ name, allowed }: PersonAction) => (allowed && verbs.includes(name) ? verbs.indexOf(name) : Infinity);
  return [...actions].sort((one, other) => {
    const [a, b] = [place(one), place(other)];
    return a === b ? 0 : a - b;
  });
}

function spawn(seen: Seen): PersonAction {
  const { workflow, task, state } = seen;
  const start = startOf(workflow, task);
  const allowance = state.terminal
    ? over(seen)
    : start === undefined
      ? no(`The task has already started: it is in "${state.name}".`, "")
      : judge(seen, { ...start, actor: human });
  return action(seen, "spawn", "Start the task", allowance);
}

function attach(seen: Seen): PersonAction {
  const { around, task } = seen;
  const allowance =
    around.terminals.length > 0 ? free : no("None of the task's agents has a terminal.", seeAgents(seen));
  return action(seen, "attach", "Attach to the agent's terminal", allowance, `attach ${task.id}`);
}

function respawn(seen: Seen): PersonAction {
  return action(seen, "respawn", "Start the agent again", judge(seen, { kind: "respawn", actor: human }));
}

function send(seen: Seen): PersonAction {
  const { around, task } = seen;
  const allowance =
    around.terminals.length > 0 ? free : no("None of the task's agents can receive a message.", seeAgents(seen));
  return action(seen, "send", "Send the agent a message", allowance, `send ${task.id} "Your message"`);
}

function reply(seen: Seen): PersonAction {
  const { task } = seen;
  const allowance = noDialogue(seen) ?? free;
  const words = task.wait.turn === "confirm" ? "yes" : '"Your answer"';
  return action(seen, "reply", "Reply to the agent", allowance, `reply ${task.id} ${words}`);
}

function answer(seen: Seen): PersonAction {
  const to = answerTarget(seen.workflow, seen.state, seen.facts.document);
  const request = to === undefined ? ({ kind: "continue" } as const) : ({ kind: "move", to } as const);
  const allowance = nothingAsked(seen) ?? judge(saying(seen, "Answers"), { ...request, actor: human });
  return action(seen, "answer", "Answer the agent's questions", allowance, `answer ${seen.task.id} -m "Your answer"`);
}

function approve(seen: Seen): PersonAction {
  const { workflow, task, state } = seen;
  const end = state.wait.kind === "open" ? endState(seen.workflow, state.name, "done") : undefined;
  const wish = end === undefined ? ({ kind: "continue" } as const) : ({ kind: "move", to: end } as const);
  const request = { ...wish, actor: human };
  const asIs = judge(seen, request);
  const undecided = undecidedFindings(workflow, task);
  const left = undecided && no(undecided.text, `Decide: signalbox task findings ${task.id}`);
  const allowance = nothingToApprove(seen) ?? left ?? ("why" in asIs ? judge(merged(seen), request) : asIs);
  const isRefused = task.held === undefined && unfixedFindings(workflow, task) !== undefined;
  const other = isRefused ? (unfixedLeadTo(workflow, task) ?? state.name) : leadsElsewhere(state, task);
  const label =
    left === undefined && other !== undefined
      ? `Approve, and go on in ${other}`
      : state.ask === undefined
        ? "Approve what is asked"
        : `Approve: ${textForPerson(workflow, task, state.ask)}`;
  // Where the work is merged from, or nothing but the merge is missing, an approval merges it first.
  const isMerge = (end !== undefined || "why" in asIs) && !("why" in allowance);
  return action(seen, "approve", label, isMerge ? { ...allowance, consequence: "merge" } : allowance);
}

/** While findings of reviews are known. */
function seeFindings(seen: Seen): readonly PersonAction[] {
  const isAny = (seen.task.ledger?.findings ?? []).length > 0;
  return isAny ? [action(seen, "findings", "See the findings, decide about them, or add one", free)] : [];
}

/** While the plan waits for a person, who can still change it. */
function seePlan(seen: Seen): readonly PersonAction[] {
  const isOpen = whyFixed(seen.workflow, seen.task) === undefined;
  return isOpen ? [action(seen, "plan", "See the plan, or change it", free)] : [];
}

/** One action for each state with an agent that a person can send the task back to. */
function requestChanges(seen: Seen): readonly PersonAction[] {
  const { workflow, task, state } = seen;
  const back = waysBack(workflow, state).toAgents;
  const label = "Ask for changes";
  const said = `request-changes ${task.id} -m "What should change"`;
  if (state.terminal || back.length === 0) {
    const allowance = state.terminal
      ? over(seen)
      : no(`From "${state.name}" a person cannot send the task back to an agent.`, explain(seen));
    return [action(seen, "request-changes", label, allowance, said)];
  }
  return back.map((to) => {
    const allowance = judge(saying(seen, "Feedback"), { kind: "move", to, actor: human });
    const which = back.length > 1 ? ` --status ${to}` : "";
    const where = back.length > 1 ? `${label}, in ${to}` : label;
    return action(seen, "request-changes", where, allowance, `${said}${which}`);
  });
}

function merge(seen: Seen): PersonAction {
  const { workflow, task, around } = seen;
  const to = endState(workflow, task.status, "done");
  const through = mergingState(workflow, task.status);
  const allowance = around.isMerging
    ? no("The task's work is already in the merge queue.", explain(seen))
    : through !== undefined
      ? judge(seen, { kind: "move", to: through, actor: human })
      : to === undefined
        ? no(`The workflow "${workflow.name}" has no terminal state with the outcome done.`, explain(seen))
        : judge(merged(seen), { kind: "move", to, actor: human });
  return action(
    seen,
    "merge",
    "Merge the task's work",
    "why" in allowance ? allowance : { ...allowance, consequence: "merge" },
  );
}

/** Only for a merge that a person asked for. */
function stopMerge(seen: Seen): readonly PersonAction[] {
  const { around, task } = seen;
  if (!around.isMerging || around.canStopMerge !== true) return [];
  return [action(seen, "merge-cancel", "Stop the merge", free, `merge ${task.id} --cancel`)];
}

function createPr(seen: Seen): PersonAction {
  const { task } = seen;
  const label = task.prUrl === "" ? "Open a pull request" : "Update the pull request";
  const allowance =
    seen.around.hasRemote || seen.state.terminal
      ? needsWorkspace(seen)
      : no("The project has no remote.", mergeHere(seen.workflow, task) ?? explain(seen));
  return action(seen, "create-pr", label, allowance);
}

function sync(seen: Seen): PersonAction {
  return action(seen, "sync", "Update from the default branch", needsWorkspace(seen));
}

/** Retries a held task, or ends a wait for a person. */
function goOn(seen: Seen): PersonAction {
  const { workflow, task, facts } = seen;
  const judged = judge(seen, { kind: "continue", actor: human });
  const allowance = task.held === undefined ? judged : withOwed(seen, judged);
  if (openQuestions(workflow, task, facts) !== undefined)
    return action(seen, "continue", "Continue the task without an answer", allowance, `continue ${task.id} --yes`);
  if (undecidedFindings(workflow, task) !== undefined) {
    const said = `continue ${task.id} --yes`;
    return action(seen, "continue", "Continue with what is approved so far", allowance, said);
  }
  const label = task.held === undefined ? "Continue the task" : "Retry what the task is held for";
  return action(seen, "continue", label, allowance);
}

function retry(seen: Seen): PersonAction {
  const { around } = seen;
  const none = no("None of the task's effects has failed.", explain(seen));
  const allowance = around.hasFailed ? withOwed(seen, free) : none;
  return action(seen, "retry", "Retry the failed effect", allowance);
}

/** What is carried out again counts besides what follows. */
function withOwed({ around }: Seen, allowance: Allowance): Allowance {
  const owed = consequenceOfActions(around.owed ?? []);
  return "why" in allowance || owed === "none" ? allowance : { ...allowance, consequence: owed };
}

function cancel(seen: Seen): PersonAction {
  const { workflow, task } = seen;
  const to = endState(workflow, task.status, "cancelled");
  const allowance =
    to === undefined
      ? no(`The workflow "${workflow.name}" has no terminal state with the outcome cancelled.`, explain(seen))
      : judge(seen, { kind: "move", to, actor: human });
  return action(seen, "cancel", "Cancel the task", allowance);
}

function moves(seen: Seen): readonly PersonAction[] {
  const { task, state } = seen;
  return byHand(state).map((to, i) => {
    const isLost = seen.workflow.states[to]?.outcome === "done" && (seen.facts.numbers.commits ?? 0) > 0;
    const allowance = judge(seen, { kind: "move", to, actor: human });
    const merging = `Merge it: signalbox task merge ${task.id}`;
    const told =
      "why" in allowance ? allowance : isLost ? no("The work is not merged.", merging) : { ...allowance, to };
    const said = `update ${task.id} --status ${to}`;
    return { ...action(seen, "move", `Move the task to ${to}`, told, said), to, key: moveKeys[i] ?? "" };
  });
}

function looks(seen: Seen): readonly PersonAction[] {
  const { around } = seen;
  const worked = around.hasWorked ? free : no("No agent has worked on the task yet.", explain(seen));
  const changed = around.hasWork ? free : no("The task has no work to show yet.", explain(seen));
  return [
    action(seen, "diff", "Show what the task changes", changed),
    action(seen, "fetch", "Bring its branch into your repository", changed),
    action(seen, "peek", "Show the agent's screen", worked),
    action(seen, "logs", "Show the agent's output", worked),
    action(seen, "explain", "Show what the task waits for", free),
    action(seen, "history", "Show the task's history", free),
  ];
}

function folders(seen: Seen): readonly PersonAction[] {
  const { task } = seen;
  const allowance =
    task.workspace === ""
      ? no(`The task has no workspace${seen.state.terminal ? " any more" : ""}.`, explain(seen))
      : free;
  return [
    action(seen, "open", "Open the workspace in your editor", allowance),
    action(seen, "shell", "Open a shell in the workspace", allowance),
    action(seen, "edit", "Edit the task file", free),
  ];
}

/** Actions that end an agent, or remove a task that is over. */
function ends(seen: Seen): readonly PersonAction[] {
  const { task, around, state } = seen;
  const running = state.terminal
    ? no("The last effects of the task are still being carried out.", explain(seen))
    : no("The task is not over.", `Cancel it first: signalbox task cancel ${task.id}`);
  const isOver = state.terminal && task.phase === "over" ? free : running;
  // An ended task whose last effects have failed can be deleted too.
  const canForget = state.terminal && task.held !== undefined ? free : isOver;
  const kills = around.alive.map((run) => {
    const command = `signalbox agent kill ${task.project}#${task.number}/${run}`;
    return { ...action(seen, "kill", `End ${run}`, free), command };
  });
  const from = action(seen, "create-from", "Continue its branch in a new task", isOver, `create --from ${task.id}`);
  return [...kills, from, action(seen, "delete", "Delete the task", canForget)];
}

function action(
  { task }: Seen,
  name: keyof typeof actionKeys,
  label: string,
  allowance: Allowance,
  said = `${name} ${task.id}`,
): PersonAction {
  const why = "why" in allowance ? allowance.why : "";
  const to = "why" in allowance ? "" : (allowance.to ?? "");
  const consequence = "why" in allowance ? "none" : (allowance.consequence ?? "none");
  return {
    name,
    label,
    key: actionKeys[name],
    command: `signalbox task ${said}`,
    to,
    consequence,
    allowed: why === "",
    why,
  };
}

/** The states that a person may ask for, in the order of the file. */
function byHand(state: State): readonly string[] {
  if (state.terminal) return [];
  return targetsFor(state, "human").filter((to) => state.out[to]?.some(({ implied }) => implied !== "escalation"));
}

/** A key belongs to one action: the first that is allowed among those that want it. */
function withOwnKeys(actions: readonly PersonAction[]): readonly PersonAction[] {
  const owners = new Map<string, PersonAction>();
  for (const each of actions) {
    const owner = owners.get(each.key);
    if (owner === undefined || (!owner.allowed && each.allowed)) owners.set(each.key, each);
  }
  return actions.map((each) => (owners.get(each.key) === each ? each : { ...each, key: "" }));
}
