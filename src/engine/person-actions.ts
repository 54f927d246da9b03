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
import { endState } from "./end-state.ts";
import { stateOf } from "./enter.ts";
import { mergingState } from "./merging-state.ts";
import { targetsFor } from "./move.ts";
import { answerTarget, askedOf, isPersonsTurn, personsVerbs } from "./persons-turn.ts";
import { textForPerson } from "./prompt.ts";
import type { Facts } from "./request.ts";
import { startOf } from "./start-of.ts";
import type { Task } from "./task.ts";
import { waysBack } from "./ways-back.ts";
import type { State, Workflow } from "./workflow.ts";

/** Something that a person can do with a task, now or in another state. */
export interface PersonAction {
  /** As the command line calls it; `move` for every way that a person may take by hand. */
  readonly name: string;
  readonly label: string;
  /** For dashboards; empty where another action has it now. */
  readonly key: string;
  readonly command: string;
  /** The state that it leads to; empty where the task stays, or nobody can tell. */
  readonly to: string;
  readonly allowed: boolean;
  /** Why it is not allowed, and what to do; empty where it is. */
  readonly why: string;
}

/** Everything a person can do with a task, the most important first. What is allowed is decided by its workflow. */
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
      ...requestChanges(seen),
      ...[merge(seen), createPr(seen), send(seen), goOn(seen), retry(seen), sync(seen), cancel(seen)],
      ...moves(seen),
      ...looks(seen),
      ...folders(seen),
      ...ends(seen),
    ]),
  );
}

/** Where it is the person's turn, what they are offered there comes first, in the same order everywhere. */
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
      ? no(`The task has started already: it is in "${state.name}".`, "")
      : judge(seen, { ...start, actor: human });
  return action(seen, "spawn", "Start it", "Enter", allowance);
}

function attach(seen: Seen): PersonAction {
  const { around, task } = seen;
  const allowance = around.terminals.length > 0 ? free : no("No agent of its has a terminal now.", seeAgents(seen));
  return action(seen, "attach", "Sit down at its agent's terminal", "Enter", allowance, `attach ${task.id}`);
}

function respawn(seen: Seen): PersonAction {
  return action(seen, "respawn", "Bring its agent back", "Enter", judge(seen, { kind: "respawn", actor: human }));
}

function send(seen: Seen): PersonAction {
  const { around, task } = seen;
  const allowance = around.terminals.length > 0 ? free : no("No agent of its listens.", seeAgents(seen));
  return action(seen, "send", "Tell its agent something", "s", allowance, `send ${task.id} "Your message"`);
}

function reply(seen: Seen): PersonAction {
  const { task } = seen;
  const allowance = noDialogue(seen) ?? free;
  const words = task.wait.turn === "confirm" ? "yes" : '"Your answer"';
  return action(seen, "reply", "Reply to its agent", "a", allowance, `reply ${task.id} ${words}`);
}

function answer(seen: Seen): PersonAction {
  const to = answerTarget(seen.workflow, seen.state, seen.facts.document);
  const request = to === undefined ? ({ kind: "continue" } as const) : ({ kind: "move", to } as const);
  const allowance = nothingAsked(seen) ?? judge(saying(seen, "Answers"), { ...request, actor: human });
  return action(seen, "answer", "Answer, and let it go on", "a", allowance, `answer ${seen.task.id} -m "Your answer"`);
}

function approve(seen: Seen): PersonAction {
  const { workflow, task, state } = seen;
  const end = state.wait.kind === "open" ? endState(seen.workflow, state.name, "done") : undefined;
  const wish = end === undefined ? ({ kind: "continue" } as const) : ({ kind: "move", to: end } as const);
  const request = { ...wish, actor: human };
  const asIs = judge(seen, request);
  const allowance = nothingToApprove(seen) ?? ("why" in asIs ? judge(merged(seen), request) : asIs);
  const label =
    state.ask === undefined ? "Say yes to what is asked" : `Say yes: ${textForPerson(workflow, task, state.ask)}`;
  return action(seen, "approve", label, "A", allowance);
}

/** One for each state with an agent that a person can send the task back to. */
function requestChanges(seen: Seen): readonly PersonAction[] {
  const { workflow, task, state } = seen;
  const back = waysBack(workflow, state).toAgents;
  const label = "Ask for changes";
  const said = `request-changes ${task.id} -m "What is to be different"`;
  if (state.terminal || back.length === 0) {
    const allowance = state.terminal
      ? over(seen)
      : no(`From "${state.name}" no person can send the task back to an agent.`, explain(task));
    return [action(seen, "request-changes", label, "r", allowance, said)];
  }
  return back.map((to) => {
    const allowance = judge(saying(seen, "Feedback"), { kind: "move", to, actor: human });
    const which = back.length > 1 ? ` --status ${to}` : "";
    const where = back.length > 1 ? `${label}, in ${to}` : label;
    return action(seen, "request-changes", where, "r", allowance, `${said}${which}`);
  });
}

function merge(seen: Seen): PersonAction {
  const { workflow, task, around } = seen;
  const to = endState(workflow, task.status, "done");
  const through = mergingState(workflow, task.status);
  const allowance = around.isMerging
    ? no("Its work is on its way already.", explain(task))
    : through !== undefined
      ? judge(seen, { kind: "move", to: through, actor: human })
      : to === undefined
        ? no(`The workflow "${workflow.name}" has no state in which a task is done.`, explain(task))
        : judge(merged(seen), { kind: "move", to, actor: human });
  return action(seen, "merge", "Merge its work", "m", allowance);
}

function createPr(seen: Seen): PersonAction {
  const { task } = seen;
  const label = task.prUrl === "" ? "Open its pull request" : "Bring its pull request up to date";
  const allowance = seen.around.hasRemote
    ? needsWorkspace(seen)
    : no("Its project has no remote.", `Merge it here: signalbox task merge ${task.id}`);
  return action(seen, "create-pr", label, "p", allowance);
}

function sync(seen: Seen): PersonAction {
  return action(seen, "sync", "Bring what is new into its branch", "u", needsWorkspace(seen));
}

/** What a held task tries again, or what a person's word lets go on. */
function goOn(seen: Seen): PersonAction {
  const label = seen.task.held === undefined ? "Let it go on" : "Try again what it is held for";
  return action(seen, "continue", label, "n", judge(seen, { kind: "continue", actor: human }));
}

function retry(seen: Seen): PersonAction {
  const { around, task } = seen;
  const allowance = around.hasFailed ? free : no("Nothing that it owes has failed.", explain(task));
  return action(seen, "retry", "Carry out again what failed", "t", allowance);
}

function cancel(seen: Seen): PersonAction {
  const { workflow, task } = seen;
  const to = endState(workflow, task.status, "cancelled");
  const allowance =
    to === undefined
      ? no(`The workflow "${workflow.name}" has no state in which a task is cancelled.`, explain(task))
      : judge(seen, { kind: "move", to, actor: human });
  return action(seen, "cancel", "Cancel it", "x", allowance);
}

function moves(seen: Seen): readonly PersonAction[] {
  const { task, state } = seen;
  return byHand(state).map((to, i) => {
    const isLost = seen.workflow.states[to]?.outcome === "done" && (seen.facts.numbers.commits ?? 0) > 0;
    const allowance = judge(seen, { kind: "move", to, actor: human });
    const merging = `Merge it: signalbox task merge ${task.id}`;
    const told = "why" in allowance ? allowance : isLost ? no("Its work is not merged.", merging) : { to };
    const said = `update ${task.id} --status ${to}`;
    return { ...action(seen, "move", `Move it to ${to}`, i < 9 ? String(i + 1) : "", told, said), to };
  });
}

function looks(seen: Seen): readonly PersonAction[] {
  const { task, around } = seen;
  const worked = around.hasWorked ? free : no("No agent has worked for it yet.", explain(task));
  const changed = around.hasWork ? free : no("There is no work of its yet.", explain(task));
  return [
    action(seen, "diff", "See what it changes", "d", changed),
    action(seen, "peek", "See its agent's screen", "e", worked),
    action(seen, "logs", "See what its agent has shown", "l", worked),
    action(seen, "explain", "See what it waits for", "i", free),
    action(seen, "history", "See what has happened", "h", free),
  ];
}

function folders(seen: Seen): readonly PersonAction[] {
  const { task } = seen;
  const allowance =
    task.workspace === "" ? no(`It has no workspace${seen.state.terminal ? " any more" : ""}.`, explain(task)) : free;
  return [
    action(seen, "open", "Open its workspace in your editor", "o", allowance),
    action(seen, "shell", "Open a shell in its workspace", "!", allowance),
    action(seen, "edit", "Edit its task file", "E", free),
  ];
}

/** What puts an end to something: an agent, or, once it is over, the task itself. */
function ends(seen: Seen): readonly PersonAction[] {
  const { task, around, state } = seen;
  const running = state.terminal
    ? no("What belongs to its end is still being carried out.", explain(task))
    : no("It is not over.", `Cancel it first: signalbox task cancel ${task.id}`);
  const isOver = state.terminal && task.phase === "over" ? free : running;
  // One that cannot do what belongs to its end can be forgotten all the same.
  const canForget = state.terminal && task.held !== undefined ? free : isOver;
  const kills = around.alive.map((run) => {
    const command = `signalbox agent kill ${task.project}#${task.number}/${run}`;
    return { ...action(seen, "kill", `End ${run}`, "K", free), command };
  });
  const from = action(
    seen,
    "create-from",
    "Go on with its branch in a new task",
    "N",
    isOver,
    `create --from ${task.id}`,
  );
  return [...kills, from, action(seen, "delete", "Forget it", "D", canForget)];
}

function action(
  { task }: Seen,
  name: string,
  label: string,
  key: string,
  allowance: Allowance,
  said = `${name} ${task.id}`,
): PersonAction {
  const why = "why" in allowance ? allowance.why : "";
  const to = "why" in allowance ? "" : (allowance.to ?? "");
  return { name, label, key, command: `signalbox task ${said}`, to, allowed: why === "", why };
}

/** The states that a person may ask for, in the order of the file. */
function byHand(state: State): readonly string[] {
  if (state.terminal) return [];
  return targetsFor(state, "human").filter((to) => state.out[to]?.some(({ implied }) => implied !== "escalation"));
}

/** A key belongs to one action only: of several the first that is allowed. */
function withOwnKeys(actions: readonly PersonAction[]): readonly PersonAction[] {
  const owners = new Map<string, PersonAction>();
  for (const each of actions) {
    const owner = owners.get(each.key);
    if (owner === undefined || (!owner.allowed && each.allowed)) owners.set(each.key, each);
  }
  return actions.map((each) => (owners.get(each.key) === each ? each : { ...each, key: "" }));
}
