import { Refusal } from "../../api/client.ts";
import type { SaidView } from "../../api/person.ts";
import type { AnsweredView, RepliedView } from "../../api/questions.ts";
import { whyNobodyAsks, whyNoDialogue } from "../../engine/allowance.ts";
import type { Decision, Reason } from "../../engine/decision.ts";
import { stateOf } from "../../engine/enter.ts";
import { answerTarget } from "../../engine/persons-turn.ts";
import { openQuestion, type Question, type Voice } from "../../engine/questions.ts";
import type { PersonsWord, Request } from "../../engine/request.ts";
import type { StoredTask } from "../../ports/store.ts";
import { hasTerminal } from "../agents/explain-agents.ts";
import type { Core } from "../core.ts";
import { learningIn } from "../merging/conflicts.ts";
import type { Addition } from "../task-documents.ts";
import { changeView } from "../views.ts";
import { afterLastAnswer, whyOver } from "./questions.ts";

/** A person's answer. */
export interface Given extends Voice {
  readonly text: string;
  /** The id of the question; the present one where it is missing. */
  readonly question?: string | undefined;
  /** The state that the task goes to, where the answer alone does not decide it. */
  readonly to?: string | undefined;
}

/** What the person's text does to the task. */
export type Wish = { readonly kind: "continue" } | { readonly kind: "move"; readonly to: string };

const tellAnswer = "The person has answered: read ## Answers in {task_file}, the newest comes last. Then continue.";

/**
 * Writes a person's answer into the task file and continues the task, if it asked. An answer is not an approval.
 * `authorise` may refuse what the answer asks for.
 */
export async function answerInState(
  core: Core,
  stored: StoredTask,
  given: Given,
  authorise = async (_wish: Wish): Promise<void> => {},
): Promise<AnsweredView> {
  const { task } = stored;
  const { text, to } = given;
  const { workflow, facts } = await core.look(task);
  const target = to ?? answerTarget(workflow, stateOf(workflow, task.status), facts.document);
  const wish: Wish = target === undefined ? { kind: "continue" } : { kind: "move", to: target };
  await authorise(wish);
  const asked = openQuestion(workflow, task, facts.document);
  await mustAsk(core, stored, wish, given, asked);
  const around = { namesState: to !== undefined, hasTerminal: await hasTerminal(core, task) };
  const reason = whyNobodyAsks(workflow, task, facts.document, around);
  if (reason !== undefined) await refuse(core, stored, wish, await afterLastAnswer(core, task, reason));
  const word = asked === undefined ? {} : { answers: { ...voiceOf(given), text, question: asked.id } };
  const said = await say(core, stored, wish, { tell: tellAnswer, ...word }, { section: "Answers", text });
  return { ...said, question: briefly(asked) };
}

/** Answers the question that a task's agent asks in a dialogue. */
export async function replyInDialogue(core: Core, stored: StoredTask, given: Given): Promise<RepliedView> {
  const { task } = stored;
  const { text } = given;
  const { workflow, facts } = await core.lookFor(task);
  const asked = openQuestion(workflow, task, facts.document);
  const wish = { kind: "reply", text } as const;
  await mustAsk(core, stored, wish, given, asked);
  const reason = whyNoDialogue(workflow, task, facts.document, await hasTerminal(core, task));
  if (reason !== undefined) await refuse(core, stored, wish, await afterLastAnswer(core, task, reason));
  if (text.trim() === "") throw empty();
  const answers = asked === undefined ? {} : { answers: { ...voiceOf(given), question: asked.id } };
  const answer = await core.submit(task.id, { ...wish, actor: { role: "human" }, ...answers });
  await mustBeFirst(core, stored, asked?.id, answer.decision);
  return { ...(await changeView(core, answer)), question: briefly(asked) };
}

/** Answers the question that a task asks now, in whichever way it asks. */
export async function answerQuestion(core: Core, stored: StoredTask, given: Given): Promise<Question | undefined> {
  const { workflow, facts } = await core.look(stored.task);
  const asked = openQuestion(workflow, stored.task, facts.document);
  if (asked?.kind === "dialogue") await replyInDialogue(core, stored, given);
  else await answerInState(core, stored, given);
  return asked;
}

/** Writes a person's text into a section, moves the task and tells its agent, atomically. */
export async function say(
  core: Core,
  stored: StoredTask,
  wish: Wish,
  word: PersonsWord,
  words: Omit<Addition, "at">,
): Promise<SaidView> {
  const { task } = stored;
  const request: Request = { ...wish, actor: { role: "human" }, word: { ...word, entry: task.entry, merged: true } };
  if (words.text.trim() === "") throw empty('Give it: -m "Your text"');
  const answer = await core.submit(task.id, request, { ...words, at: core.clock.now() });
  await mustBeFirst(core, stored, word.answers?.question, answer.decision);
  const change = await changeView(core, answer);
  const { run, how } = learningIn(answer.decision);
  return { change, section: words.section, told: how === "" ? null : { run, how } };
}

/** Throws a refusal, and records it in the task's history as every refusal is. */
export async function refuse(
  core: Pick<Core, "refusals">,
  { task }: StoredTask,
  wish: Wish | { readonly kind: "reply"; readonly text: string } | { readonly kind: "respawn" },
  reason: Reason,
): Promise<never> {
  const request: Request = { ...wish, actor: { role: "human" } };
  await core.refusals.note(task, request, [reason]);
  throw new Refusal([reason]);
}

/** Refuses an answer that names another question than the one that the task asks now. */
async function mustAsk(
  core: Core,
  stored: StoredTask,
  wish: Parameters<typeof refuse>[2],
  { question }: Given,
  asked: Question | undefined,
): Promise<void> {
  if (question === undefined || question === asked?.id) return;
  await refuse(core, stored, wish, await whyOver(core, stored.task, question, asked));
}

/** Another answer to the same question was decided first: says whose. The refusal is in the history already. */
async function mustBeFirst(
  core: Core,
  stored: StoredTask,
  question: string | undefined,
  decision: Decision,
): Promise<void> {
  if (question === undefined || decision.kind !== "rejected") return;
  if (decision.reasons.some(({ code }) => code === "answered"))
    throw new Refusal([await whyOver(core, stored.task, question, undefined)]);
}

function empty(fix = "Give it after the task."): Refusal {
  return new Refusal([{ code: "bad-value", text: "The text is empty.", fix }]);
}

function voiceOf({ via, who }: Given): Voice {
  return { ...(via === undefined ? {} : { via }), ...(who === undefined ? {} : { who }) };
}

function briefly(question: Question | undefined): { readonly id: string; readonly text: string } | null {
  return question === undefined ? null : { id: question.id, text: question.text };
}
