import { Refusal } from "../../api/client.ts";
import type { SaidView } from "../../api/person.ts";
import type { Routes } from "../../api/routes.ts";
import { whyNobodyAsks, whyNoDialogue, whyNothingToApprove } from "../../engine/allowance.ts";
import { decide } from "../../engine/decide.ts";
import type { Reason, TaskEvent } from "../../engine/decision.ts";
import { stateOf } from "../../engine/enter.ts";
import { answerTarget, startOf, theWayBack } from "../../engine/persons-turn.ts";
import type { Facts, PersonsWord, Request } from "../../engine/request.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { taskRef } from "../../ports/control-repository.ts";
import type { StoredTask } from "../../ports/store.ts";
import { actorFor, findTask, mustBeOpen } from "../authorise.ts";
import type { Core } from "../core.ts";
import type { Asked, Handler } from "../handlers.ts";
import { learningIn } from "../merging/conflicts.ts";
import { mustHave } from "../project.ts";
import { judgeUnreviewed, seenCommit } from "../reviewed.ts";
import type { Addition } from "../task-documents.ts";
import { isoTime, viewOf } from "../views.ts";
import { hasTerminal } from "./explain-task.ts";
import { doneState, isUnchanged, mergeApproved, onceMerged } from "./merge-task.ts";
import { ask, changeView } from "./move-task.ts";
import { runToCome } from "./tasks.ts";

const tellAnswer = "The person has answered: read ## Answers in {task_file}, the newest comes last. Then continue.";

/** Writes a person's answer into the task file and continues the task, if it asked. An answer is not an approval. */
export function answerTask(core: Core): Handler<Routes["answerTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { text } = asked.body;
    const { task } = stored;
    const { workflow, facts } = await core.look(task);
    const { document } = facts;
    const to = asked.body.to ?? answerTarget(workflow, stateOf(workflow, task.status), document);
    const wish: Wish = to === undefined ? { kind: "continue" } : { kind: "move", to };
    await mustBePerson(core, asked, stored, wish);
    const around = { namesState: asked.body.to !== undefined, hasTerminal: await hasTerminal(core, task) };
    const reason = whyNobodyAsks(workflow, task, document, around);
    if (reason !== undefined) await refuse(core, stored, wish, reason);
    return say(core, stored, wish, { tell: tellAnswer }, { section: "Answers", text });
  };
}

const wake = "A person has approved: the task is in {status} now. Continue.";

const wish = { kind: "continue" } as const;

/** A person approves the task's work at one commit. */
export function approveTask(core: Core): Handler<Routes["approveTask"]> {
  return async (asked) => {
    const found = await findTask(core, asked);
    await mustBePerson(core, asked, found, wish);
    const { workflow, facts } = await core.look(found.task);
    const commit = facts.head || (await collectedOf(core, found.task));
    if (asked.body.unreviewed === true) await judgeUnreviewed(core, found.task, commit);
    const stored = await findTask(core, asked);
    const { task } = stored;
    const nobody = whyNothingToApprove(workflow, task, facts.document);
    if (nobody !== undefined) await refuse(core, stored, wish, nobody);
    const elsewhere = otherBranch(facts);
    if (elsewhere !== undefined) await refuse(core, stored, wish, elsewhere);
    const other = isOther(task, commit, asked.body.commit ?? (await seenCommit(core, task)));
    if (other !== undefined) await refuse(core, stored, wish, other);
    const request: Request = {
      ...wish,
      actor: { role: "human" },
      word: { approves: commit, entry: task.entry, wake },
    };
    const isOpen = workflow.states[task.status]?.wait.kind === "open";
    const to = isOpen ? doneState(workflow, task.status) : onlyOnceMerged(workflow, task, request, facts);
    // Read before the workflow's merge, which releases the workspace.
    const isEmpty = await isUnchanged(core, task);
    if (to !== undefined) {
      const merge = await mergeApproved(core, asked, stored, to, commit);
      return { commit, change: null, merge, empty: merge.empty };
    }
    const change = await changeView(core, await core.submit(task.id, request));
    const merges = workflow.states[change.task.status]?.do.some(({ name }) => name === "merge") === true;
    return { commit, change, merge: null, empty: isEmpty && merges };
  };
}

function otherBranch({ unreadable }: Facts): Reason | undefined {
  if (unreadable?.otherBranch === undefined) return undefined;
  return { code: "task-file-unreadable", text: unreadable.reason, fix: unreadable.fix };
}

/** The state the task would enter once merged; undefined if it needs no merge for that, or could not move anyway. */
function onlyOnceMerged(workflow: Workflow, task: Task, request: Request, facts: Facts): string | undefined {
  if (decide(workflow, task, request, facts).kind !== "rejected") return undefined;
  const merged = decide(workflow, task, request, onceMerged(facts));
  return merged.kind === "moved" ? merged.task.status : undefined;
}

async function collectedOf(core: Core, { id, project }: Task): Promise<string> {
  if (core.repositories === undefined) return "";
  const { control } = await core.repositories.workspacesOf(await mustHave(core, project));
  return (await control.commitAt(taskRef(id))) ?? "";
}

/** Refuses an approval that names a commit other than the current one. */
function isOther(task: Task, commit: string, given: string | undefined): Reason | undefined {
  if (given === undefined) return undefined;
  const wanted = given.toLowerCase();
  if (!/^[0-9a-f]{7,64}$/.test(wanted)) {
    const text = `"${given}" is not a commit id. Give at least 7 hexadecimal digits.`;
    return { code: "bad-value", text, fix: `To see the current commit: signalbox task diff ${task.id}` };
  }
  if (commit.startsWith(wanted)) return undefined;
  const text =
    commit === ""
      ? "The task has no commit yet."
      : `The branch is at ${commit.slice(0, 10)}, not at ${given.slice(0, 10)}, which you were shown.`;
  return { code: "moved-on", text, fix: `See the newer changes: signalbox task diff ${task.id}` };
}

/** Adds a comment to the task's history, and nowhere else. */
export function commentTask(core: Core): Handler<Routes["commentTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { id } = stored.task;
    const text = asked.body.text.trim();
    // Authorised as an edit: the task's status does not change.
    const { role, run = "" } = await actorFor(core, stored, asked, (actor) => ({ kind: "edit", set: {}, actor }));
    if (text === "") throw new Refusal([{ code: "bad-value", text: "The comment is empty.", fix: "Give its text." }]);
    const at = core.clock.now();
    const data = { text, ...(run === "" ? {} : { run }) };
    const event: TaskEvent = { type: "task.commented", by: role, data, set: {} };
    await core.store.addEvents(id, [event], at);
    return { task: id, at: isoTime(at) };
  };
}

const tellChanges =
  "The person asks for changes: read ## Feedback in {task_file}, the newest comes last. Then continue.";

/** Writes a person's feedback into the task file, and moves the task back to a state in which an agent works on it. */
export function requestChanges(core: Core): Handler<Routes["requestChanges"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { text, to } = asked.body;
    const back = theWayBack(await core.workflows.get(stored.task.workflowHash), stored.task, to);
    const wish: Wish = { kind: "move", to: typeof back === "string" ? back : "" };
    await mustBePerson(core, asked, stored, wish);
    if (typeof back !== "string") return refuse(core, stored, wish, back);
    return say(core, stored, wish, { tell: tellChanges }, { section: "Feedback", text });
  };
}

export function respawnTask(core: Core): Handler<Routes["respawnTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    // The engine counts a run that has not started yet as alive. A person is told what it waits for instead.
    const coming = asked.caller.kind === "human" ? await runToCome(core, stored) : undefined;
    if (coming !== undefined)
      await refuse(core, stored, { kind: "respawn" }, { code: "still-alive", text: coming.why, fix: coming.fix });
    return ask(core, asked, stored, (actor) => ({ kind: "respawn", actor }));
  };
}

export function replyTask(core: Core): Handler<Routes["replyTask"]> {
  return async (asked) => {
    const { text } = asked.body;
    const stored = await findTask(core, asked);
    if (asked.caller.kind === "human") await mustBeAsked(core, stored, text);
    return ask(core, asked, stored, (actor) => ({ kind: "reply", actor, text }));
  };
}

/** Refuses a reply that no agent waits for: none would read it. */
async function mustBeAsked(core: Core, stored: StoredTask, text: string): Promise<void> {
  const { task } = stored;
  const { workflow, facts } = await core.lookFor(task);
  const reason = whyNoDialogue(workflow, task, facts.document, await hasTerminal(core, task));
  if (reason !== undefined) await refuse(core, stored, { kind: "reply", text }, reason);
}

/** A person starts a task, even if it would not start by itself. */
export function spawnTask(core: Core): Handler<Routes["spawnTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    mustBeOpen(stored);
    const workflow = await core.workflows.get(stored.task.workflowHash);
    const start = startOf(workflow, stored.task);
    if (start === undefined) {
      const text = `The task has already started: it is in "${stored.task.status}".`;
      throw new Refusal([
        { code: "not-waiting", text, fix: `Bring a dead agent back: signalbox task respawn ${stored.task.id}` },
      ]);
    }
    return ask(core, asked, stored, (actor) => ({ ...start, actor }));
  };
}

/** Marks the failed effects as owed again, and continues a task that was held because of them. */
export function retryTask(core: Core): Handler<Routes["retryTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { id, held } = stored.task;
    const failed = (await core.store.openEffects(id)).filter(({ state }) => state === "failed").length;
    if (held?.again === "effects") {
      const { task } = await ask(core, asked, stored, (actor) => ({ kind: "continue", actor }));
      return { retried: failed, task };
    }
    const retried = await core.store.retryEffects(id, core.clock.now());
    core.performer.wake(id);
    return { retried, task: await viewOf(core, stored) };
  };
}

type About = Asked<{ readonly project?: string }, unknown>;

/** What the person's text does to the task. */
type Wish = { readonly kind: "continue" } | { readonly kind: "move"; readonly to: string };

/** Writes a person's text into a section, moves the task and tells its agent, atomically. */
async function say(
  core: Core,
  { task }: StoredTask,
  wish: Wish,
  word: PersonsWord,
  words: Omit<Addition, "at">,
): Promise<SaidView> {
  const request: Request = { ...wish, actor: { role: "human" }, word: { ...word, entry: task.entry, merged: true } };
  if (words.text.trim() === "") {
    const reason: Reason = { code: "bad-value", text: "The text is empty.", fix: 'Give it: -m "Your text"' };
    throw new Refusal([reason]);
  }
  const answer = await core.submit(task.id, request, { ...words, at: core.clock.now() });
  const change = await changeView(core, answer);
  const { run, how } = learningIn(answer.decision);
  return { change, section: words.section, told: how === "" ? null : { run, how } };
}

/** Throws a refusal, and records it in the task's history as every refusal is. */
async function refuse(
  core: Core,
  { task }: StoredTask,
  wish: Wish | { readonly kind: "reply"; readonly text: string } | { readonly kind: "respawn" },
  reason: Reason,
): Promise<never> {
  const request: Request = { ...wish, actor: { role: "human" } };
  await core.refusals.note(task, request, [reason]);
  throw new Refusal([reason]);
}

/** Refuses a command that runs in a task's workspace: there the caller counts as the agent. */
async function mustBePerson(core: Core, asked: About, stored: StoredTask, wish: Wish): Promise<void> {
  await actorFor(core, stored, asked, (actor) => ({ ...wish, actor }));
}
