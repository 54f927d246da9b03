import type { QuestionView } from "../../api/questions.ts";
import type { Reason } from "../../engine/decision.ts";
import { type Question, readQuestionId } from "../../engine/questions.ts";
import type { Task } from "../../engine/task.ts";
import type { StoredEvent, StoredTask } from "../../ports/store.ts";
import { cutText, oneLine, sentence, shownTime } from "../../text.ts";
import type { Core } from "../core.ts";
import { eventsOf } from "../project.ts";
import { isoTime } from "../views.ts";

/** The question that a task asks a person now; undefined where it asks none. */
export async function questionOf(core: Pick<Core, "needs">, stored: StoredTask): Promise<QuestionView | undefined> {
  const needs = await core.needs.of(stored);
  const { id: task, project, number, summary } = stored.task;
  for (const { question, since, command } of needs) {
    if (question === undefined) continue;
    const { id, kind, text, role, answer, choices } = question;
    const about = { task, project, number, summary, since: isoTime(since), command };
    return { id, kind, text, role, answer, choices, ...about };
  }
  return undefined;
}

/** Why an answer that names a question is refused: who answered what and when, or what else became of the question. */
export async function whyOver(
  { store }: Pick<Core, "store">,
  task: Task,
  question: string,
  open: Question | undefined,
): Promise<Reason> {
  const about = readQuestionId(question);
  const fix =
    open === undefined
      ? `See what the task waits for: signalbox task explain ${task.id}`
      : `Its open question is ${open.id}: signalbox chat ${task.id}`;
  if (about?.task !== task.id)
    return {
      code: "bad-value",
      text: `${JSON.stringify(cutText(question, 100))} is not a question of this task.`,
      fix,
    };
  return { code: "answered", text: `${await outcomeOf(store, task, question)} Your answer was not passed on.`, fix };
}

/** What became of a question that is not open: who answered what and when, or who moved the task. */
export async function outcomeOf(store: Core["store"], task: Task, question: string): Promise<string> {
  const entry = readQuestionId(question)?.entry ?? 0;
  let left: StoredEvent | undefined;
  for await (const each of eventsOf(store, task.id)) {
    if (answeredIn(each.event) === question) return told(each);
    if (each.event.set.entry === entry + 1) left = each;
  }
  return `The question ${question} is not open.${left === undefined ? "" : ` ${whatEndedIt(left)}`}`;
}

/** Adds to the reason for refusing an answer who has answered the task's last question, if anybody has. */
export async function afterLastAnswer({ store }: Pick<Core, "store">, { id }: Task, reason: Reason): Promise<Reason> {
  let answer: StoredEvent | undefined;
  for await (const each of eventsOf(store, id)) if (answeredIn(each.event) !== undefined) answer = each;
  return answer === undefined ? reason : { ...reason, text: `${sentence(reason.text)} ${told(answer)}` };
}

/** The question that an event answers; undefined where it answers none. */
function answeredIn({ type, data }: StoredEvent["event"]): string | undefined {
  if (type !== "dialogue.answered" && type !== "task.answered") return undefined;
  return typeof data.question === "string" ? data.question : undefined;
}

/** Who answered a question, when and what, in a sentence. */
function told({ event, at }: StoredEvent): string {
  const { data } = event;
  const text = (value: unknown) => (typeof value === "string" ? oneLine(value, maxShown) : "");
  const who = text(data.who) || "a person";
  const via = text(data.via) === "" ? "" : ` over ${text(data.via)}`;
  return `The question ${answeredIn(event)} was answered by ${who}${via} at ${shownTime(at)}: "${text(data.text)}".`;
}

const maxShown = 200;

function whatEndedIt({ event, at }: StoredEvent): string {
  const by = event.by === "human" ? "a person" : event.by;
  return `The task was moved to "${event.set.status}" by ${by} at ${shownTime(at)}.`;
}
