import type { TaskDocument } from "../documents/task-document.ts";
import type { Reason } from "./decision.ts";
import { stateOf } from "./enter.ts";
import { type Asked, askedOf, wordsLeadTo } from "./persons-turn.ts";
import { textForPerson } from "./prompt.ts";
import type { Task } from "./task.ts";
import type { State, Workflow } from "./workflow.ts";

/** What a person is asked. A task asks one question at a time. */
export interface Question {
  readonly id: string;
  /** dialogue: an agent ended its turn with it, and a reply answers it. state: the task waits in a state for the answer. */
  readonly kind: "dialogue" | "state";
  readonly text: string;
  /** The role that asks; empty where the state itself asks. */
  readonly role: string;
  /** confirm: a message that is only a yes ends the dialogue; any other text is feedback. */
  readonly answer: "text" | "confirm";
  /** The states among which an answer must choose; empty where it leads to one. */
  readonly choices: readonly string[];
}

/** Which person answered: `via` is the chat that the answer came through, `who` the person's name there. */
export interface Voice {
  readonly via?: string;
  readonly who?: string;
}

/**
 * The id of the question that a task asks, if it asks one. It is derived from the task, so it survives a restart. A
 * state asks one question in each stay. The questions of a dialogue are numbered by the agents' messages in the task's
 * log, which only grows: a dialogue that begins again in the same stay counts its rounds anew.
 */
export function questionId(task: Pick<Task, "id" | "entry" | "log" | "wait">): string {
  const { id, entry, log } = task;
  return isTalking(task) ? `${id}.${entry}.${log.filter(({ from }) => from === "agent").length}` : `${id}.${entry}`;
}

/** The task and the stay that a question belongs to; undefined if the text is not the id of a question. */
export function readQuestionId(text: string): { readonly task: string; readonly entry: number } | undefined {
  const [, task, entry] = /^([a-z][a-z0-9]*)\.(\d{1,9})(?:\.\d{1,9})?$/.exec(text) ?? [];
  return task === undefined ? undefined : { task, entry: Number(entry) };
}

/** Whether it is the person's turn in a dialogue. */
export function isTalking({ wait }: Pick<Task, "wait">): boolean {
  return wait.turn === "reply" || wait.turn === "confirm";
}

/** The question that a task asks; undefined where it asks none. `asker`: the author of the questions, where known. */
export function openQuestion(workflow: Workflow, task: Task, document: TaskDocument, asker = ""): Question | undefined {
  const state = stateOf(workflow, task.status);
  if (task.held !== undefined || state.terminal) return undefined;
  if (isTalking(task)) return dialogueQuestion(task, state);
  if (task.phase !== "waiting") return undefined;
  const questions = document.byHeading.get("Questions")?.body.trim() ?? "";
  return stateQuestion(workflow, task, state, { asked: askedOf(workflow, state, document), questions, asker });
}

/** The question that an agent asks in a dialogue. */
export function dialogueQuestion(task: Task, state: State | undefined): Question {
  const said = task.log.findLast(({ from }) => from === "agent")?.text.trim() ?? "";
  return {
    id: questionId(task),
    kind: "dialogue",
    text: said,
    role: state?.wait.kind === "agent" ? state.wait.run.role : "",
    answer: task.wait.turn === "confirm" ? "confirm" : "text",
    choices: [],
  };
}

interface Written {
  readonly asked: Asked;
  /** The section with the questions; empty where there is none. */
  readonly questions: string;
  readonly asker: string;
}

/** The question that a task asks by waiting in its state; undefined where it only needs an approval. */
export function stateQuestion(
  workflow: Workflow,
  task: Task,
  state: State,
  { asked, questions, asker }: Written,
): Question | undefined {
  if (asked === "consent") return undefined;
  const ask = state.ask === undefined ? "The task waits for your answer." : textForPerson(workflow, task, state.ask);
  const run = state.wait.kind === "human" ? state.wait.run : state.respawn;
  const words = wordsLeadTo(workflow, state);
  return {
    id: questionId(task),
    kind: "state",
    text: questions === "" ? ask : questions,
    role: questions === "" ? "" : asker || (run?.role ?? ""),
    answer: "text",
    choices: state.wait.kind === "human" || words.length === 1 ? [] : words,
  };
}

/** Why an answer that names a question is refused: the task does not ask it now. */
export function questionOver(task: Task, question: string): Reason | undefined {
  if (question === questionId(task)) return undefined;
  const fix = `See what it asks now: signalbox chat ${task.id}`;
  return { code: "answered", text: `The question ${question} is no longer open.`, fix };
}
