import { Refusal } from "../../api/client.ts";
import type { QuestionView } from "../../api/questions.ts";
import type { Routes } from "../../api/routes.ts";
import { whyNothingToApprove } from "../../engine/allowance.ts";
import { decide } from "../../engine/decide.ts";
import type { Reason, TaskEvent } from "../../engine/decision.ts";
import { personsStart, theWayBack } from "../../engine/persons-turn.ts";
import type { Facts, Request } from "../../engine/request.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import type { StoredTask } from "../../ports/store.ts";
import { plainText } from "../../text.ts";
import { actorFor, findTask, mustBeOpen } from "../authorise.ts";
import type { Core } from "../core.ts";
import type { Asked, Handler } from "../handlers.ts";
import { approvedCommit, mergedIn, mustBeSeen } from "../merge-approval.ts";
import { mergeOutlook } from "../merge-outlook.ts";
import { eventsOf } from "../project.ts";
import { answerInState, refuse, replyInDialogue, say, type Wish } from "../questions/answers.ts";
import { questionOf } from "../questions/questions.ts";
import { judgeUnreviewed, seenCommit, seenPlan } from "../reviewed.ts";
import { changeView, isoTime, viewOf } from "../views.ts";
import { wholeNumber } from "../whole-number.ts";
import { doneState, isUnchanged, mergeApproved, onceMerged } from "./merge-task.ts";
import { ask } from "./move-task.ts";
import { runToCome } from "./tasks.ts";

export function answerTask(core: Core): Handler<Routes["answerTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    return answerInState(core, stored, asked.body, (wish) => mustBePerson(core, asked, stored, wish));
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
    const commit = await approvedCommit(core, found.task, facts);
    const isUnreviewed = asked.body.unreviewed === true;
    const merging = mergedIn(workflow, found.task, facts);
    if (isUnreviewed && merging === undefined) await judgeUnreviewed(core, found.task, commit);
    const stored = await findTask(core, asked);
    const { task } = stored;
    const nobody = whyNothingToApprove(workflow, task, facts.document);
    if (nobody !== undefined) await refuse(core, stored, wish, nobody);
    const elsewhere = otherBranch(facts);
    if (elsewhere !== undefined) await refuse(core, stored, wish, elsewhere);
    const other = isOther(task, commit, asked.body.commit, await seenCommit(core, task));
    if (other !== undefined) await refuse(core, stored, wish, other);
    if (merging !== undefined && !isUnreviewed) await mustBeSeen(core, stored, commit, "approve");
    const plan = await seenPlan(core, task, asked.body.plan);
    const request: Request = {
      ...wish,
      actor: { role: "human" },
      word: { approves: commit, entry: task.entry, wake, answered: true, ...(plan === undefined ? {} : { plan }) },
    };
    const isOpen = workflow.states[task.status]?.wait.kind === "open";
    const to = isOpen ? doneState(workflow, task.status) : onlyOnceMerged(workflow, task, request, facts);
    // Read before the workflow's merge, which releases the workspace.
    const isEmpty = await isUnchanged(core, task);
    const warnings = merging === undefined ? [] : await mergeOutlook(core, task, merging, commit);
    if (to !== undefined) {
      const merge = await mergeApproved(core, asked, stored, to, commit);
      return { commit, change: null, merge, empty: merge.empty, merges: false, warnings };
    }
    const change = await changeView(core, await core.submit(task.id, request));
    const merges = merging !== undefined && change.kind !== "ignored";
    return { commit, change, merge: null, empty: isEmpty && merges, merges, warnings };
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

/** Refuses an approval of a commit other than the current one: the one that the person names, otherwise the one last shown. */
function isOther(task: Task, commit: string, named: string | undefined, seen: string | undefined): Reason | undefined {
  const given = named ?? seen;
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
      : `The branch is at ${commit.slice(0, 10)}, not at ${given.slice(0, 10)}, which you ${named === undefined ? "were shown" : "named"}.`;
  return { code: "moved-on", text, fix: `See the newer changes: signalbox task diff ${task.id}` };
}

/** Adds a comment to the task's history, and nowhere else. */
export function commentTask(core: Core): Handler<Routes["commentTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { id } = stored.task;
    const text = plainText(asked.body.text).trim();
    // Authorised as an edit: the task's status does not change.
    const { role, run = "" } = await actorFor(core, stored, asked, (actor) => ({ kind: "edit", set: {}, actor }));
    if (text === "") throw new Refusal([{ code: "bad-value", text: "The comment is empty.", fix: "Give its text." }]);
    return core.inTurn(`comments ${id}`, async () => {
      const problem = run === "" ? undefined : await tooManyComments(core.store, id, run, text);
      if (problem !== undefined) throw new Refusal([problem]);
      const at = core.clock.now();
      const data = { text, ...(run === "" ? {} : { run }) };
      const event: TaskEvent = { type: "task.commented", by: role, data, set: {} };
      await core.store.addEvents(id, [event], at);
      return { task: id, at: isoTime(at) };
    });
  };
}

/** Comments of one run, and the characters of all of them. */
const maxComments = 50;
const maxCommentsLength = 100_000;

async function tooManyComments(
  store: Core["store"],
  task: string,
  run: string,
  text: string,
): Promise<Reason | undefined> {
  let count = 1;
  let length = text.length;
  for await (const { event } of eventsOf(store, task)) {
    if (event.type !== "task.commented" || event.data.run !== run) continue;
    count++;
    length += String(event.data.text).length;
  }
  const fix = "Put the rest into one document or a commit, and go on with your work.";
  if (count > maxComments)
    return { code: "bad-value", text: `${run} has written ${maxComments} comments, which is the limit.`, fix };
  if (length <= maxCommentsLength) return undefined;
  return {
    ...{ code: "bad-value", fix },
    text: `The comments of ${run} would have ${length} characters; at most ${maxCommentsLength} are allowed.`,
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
    const stored = await findTask(core, asked);
    await actorFor(core, stored, asked, (actor) => ({ kind: "reply", actor, text: asked.body.text }));
    return replyInDialogue(core, stored, asked.body);
  };
}

/** Few tasks ask something, so tasks are read in large pages. */
export function listQuestions(core: Core): Handler<Routes["listQuestions"]> {
  return async (asked) => {
    const { query } = asked;
    if (query.task !== undefined) {
      const question = await questionOf(core, await findTask(core, { ...asked, params: { task: query.task } }));
      return { questions: question === undefined ? [] : [question], next: null };
    }
    const limit = wholeNumber("limit", query.limit, 1, maxQuestions) ?? defaultPage;
    const before = wholeNumber("before", query.before, 0);
    const filter = { isOpen: true, ...(query.project === undefined ? {} : { project: query.project }) };
    const questions: QuestionView[] = [];
    let shown: number | null = null;
    for (let last = before; ; ) {
      const page = await core.store.listTasks(
        filter,
        last === undefined ? { limit: pageSize } : { before: last, limit: pageSize },
      );
      for (const stored of page) {
        const question = await questionOf(core, stored);
        last = stored.order;
        if (question === undefined) continue;
        // One question more than is wanted tells that there is a next page.
        if (questions.length === limit) return { questions, next: shown };
        questions.push(question);
        shown = last;
      }
      if (page.length < pageSize) return { questions, next: null };
    }
  };
}

const maxQuestions = 1_000;
const defaultPage = 100;
const pageSize = 500;

/** A person starts a task, even if it would not start by itself. */
export function spawnTask(core: Core): Handler<Routes["spawnTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    mustBeOpen(stored);
    const workflow = await core.workflows.get(stored.task.workflowHash);
    const start = personsStart(workflow, stored.task);
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

/** Refuses a command that runs in a task's workspace: there the caller counts as the agent. */
async function mustBePerson(core: Core, asked: About, stored: StoredTask, wish: Wish): Promise<void> {
  await actorFor(core, stored, asked, (actor) => ({ ...wish, actor }));
}
