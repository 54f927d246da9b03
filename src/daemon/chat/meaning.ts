import { readQuestionId } from "../../engine/questions.ts";
import type { IncomingMessage } from "../../ports/chat.ts";

/** A question that a chat has received. */
export interface AskedInChat {
  readonly question: string;
  readonly isOpen: boolean;
  /** The id of its message. */
  readonly message: number;
}

/** What a person wants with a message. */
export type Meaning =
  | { readonly kind: "answer"; readonly question: string; readonly text: string }
  /** `task`: its id. */
  | { readonly kind: "cancel"; readonly task: string }
  /** It is not acted on. `why`: what the chat is told; empty for nothing. */
  | { readonly kind: "none"; readonly why: string };

export const chatHelp =
  "Signalbox sends you the questions of your tasks. Reply to a question to answer it, or write its id and then your answer. /cancel ID cancels the task.";

/**
 * Reads a message of a chat that may answer. `asked`: all questions that the chat has received. A message without an id
 * that is no reply is the answer to the only open question, if the chat received that before the message.
 */
export function meaningOf(message: IncomingMessage, asked: readonly AskedInChat[]): Meaning {
  const text = message.text.trim();
  const replied = asked.find((each) => each.message === message.repliesTo)?.question;
  const [, command, rest = ""] = /^\/(\w+)(?:@\w+)?(?:\s+([\s\S]*))?$/.exec(text) ?? [];
  if (command === "cancel") return cancelOf(rest.trim(), replied);
  if (text === "") return none(message.isPrivate ? "Only a text can be an answer." : "");
  if (replied !== undefined) return { kind: "answer", question: replied, text };
  if (command !== undefined) return none(command === "start" || command === "help" ? chatHelp : unknownCommand);
  const [, id = "", said = ""] = /^(\S+?)[:,]?\s+([\s\S]+)$/.exec(text) ?? [];
  // Only an id of a task that this chat knows: "v1.2 is fine" names no question.
  const about = readQuestionId(id)?.task;
  if (about !== undefined && asked.some(({ question }) => readQuestionId(question)?.task === about))
    return { kind: "answer", question: id, text: said.trim() };
  const open = asked.filter((each) => each.isOpen && each.message < message.id);
  const [only, ...others] = open;
  // In a group people also talk to each other.
  if (only === undefined) return none(message.isPrivate ? "No question is open in this chat." : "");
  if (others.length === 0 && message.isPrivate) return { kind: "answer", question: only.question, text };
  if (!message.isPrivate) return none("");
  const ids = open.map(({ question }) => question).join(", ");
  return none(`Several questions are open: ${ids}. Reply to one of them, or begin with its id.`);
}

const unknownCommand = "There is no such command. /help says what you can do.";

function none(why: string): Meaning {
  return { kind: "none", why };
}

/** Takes the id of a question or of a task. */
function cancelOf(given: string, replied: string | undefined): Meaning {
  const id = given === "" ? (replied ?? "") : given;
  const task = readQuestionId(id)?.task ?? id;
  return /^[a-z][a-z0-9]*$/.test(task)
    ? { kind: "cancel", task }
    : none("Say what to cancel: /cancel and the id of a question or a task.");
}
