import { route } from "./client.ts";
import { saidFields } from "./person.ts";
import { changeFields } from "./tasks.ts";
import { integer, list, nullable, oneOf, record, shortText, type TypeOf, text } from "./wire.ts";

/** What a task asks a person. */
const questionWire = record({
  /** Stays the same while the question is open, also over a restart of the daemon. An answer can name it. */
  id: text,
  task: text,
  project: text,
  number: integer(0),
  summary: text,
  /** dialogue: `replyTask` answers it. state: `answerTask` does. */
  kind: oneOf("dialogue", "state"),
  text,
  /** The role that asks; empty if the workflow's state asks. */
  role: text,
  since: text,
  /** confirm: a message that is only a yes ends the dialogue; any other text is feedback. */
  answer: oneOf("text", "confirm"),
  /** The states among which an answer must choose, with `to`; empty if it need not. */
  choices: list(text),
  /** The command that answers it. */
  command: text,
});
export type QuestionView = TypeOf<typeof questionWire>;

const name = shortText(100);
const ofTask = record({}, { project: name });
const numberText = shortText(20);
/** The answered question; null if the task asked none, and the answer named the next state. */
const answered = { question: nullable(record({ id: text, text })) };
/** The id of the question that the answer is for; without it, the present one. */
const question = shortText(200);

const answeredWire = record({ ...saidFields, ...answered });
export type AnsweredView = TypeOf<typeof answeredWire>;
const repliedWire = record({ ...changeFields, ...answered });
export type RepliedView = TypeOf<typeof repliedWire>;

/** The routes about questions to people. */
export const questionRoutes = {
  listQuestions: route({
    name: "listQuestions",
    method: "GET",
    path: "/v1/questions",
    summary: "List the open questions to people, those of the newest tasks first; a task asks one at a time",
    access: "person",
    query: record({}, { project: name, task: name, before: numberText, limit: numberText }),
    answer: record({ questions: list(questionWire), next: nullable(integer(0)) }),
  }),
  answerTask: route({
    name: "answerTask",
    method: "POST",
    path: "/v1/tasks/:task/answer",
    summary:
      "Write an answer into the task file, end the wait for a person, and tell the agent; refused if the named question is no longer open",
    access: "person",
    query: ofTask,
    body: record({ text: shortText(200_000) }, { to: name, question }),
    answer: answeredWire,
  }),
  replyTask: route({
    name: "replyTask",
    method: "POST",
    path: "/v1/tasks/:task/reply",
    summary:
      "Answer a question that a task's agent asks in a dialogue; refused if it asks none, or if the named question is no longer open",
    access: "person",
    query: ofTask,
    body: record({ text }, { question }),
    answer: repliedWire,
  }),
} as const;
