import type { ActionInput } from "../../api/act.ts";
import type { QuestionView } from "../../api/questions.ts";
import type { ActionView } from "../../api/tasks.ts";

/** What goes with an action besides the task's revision. */
export type Input = Omit<ActionInput, "revision">;

/** What is on the screen beside the actions. */
export interface Shown {
  /** The question that the task asks. */
  readonly question?: QuestionView | undefined;
  /** The newest commit of the task's work. */
  readonly commit?: string | undefined;
}

/** What the person has seen when they take the action: the question that they answer, the commit that they approve. */
export function inputOf(action: Pick<ActionView, "name">, { question, commit }: Shown): Input {
  if (isAnswer(action)) return question === undefined ? {} : { question: question.id };
  return action.name === "approve" && commit !== undefined ? { commit } : {};
}

/**
 * The input with what the person has written and chosen. Undefined while it cannot be sent: without words, or without a choice
 * where there are several.
 */
export function inputWith(
  input: Input,
  said: { readonly text: string; readonly choice: string },
  choices: readonly string[],
): Input | undefined {
  if (said.text.trim() === "") return undefined;
  if (choices.length === 0) return { ...input, text: said.text };
  return choices.includes(said.choice) ? { ...input, text: said.text, to: said.choice } : undefined;
}

export function isAnswer({ name }: Pick<ActionView, "name">): boolean {
  return name === "answer" || name === "reply";
}
