import { Fault } from "../fault.ts";
import type { Context } from "./context.ts";
import { type Draft, editText } from "./edit-text.ts";
import { readInput } from "./read-input.ts";

export interface Words {
  readonly text: string;
  /** What was written in an editor is kept until it has arrived. */
  readonly draft?: Draft;
}

/**
 * What a person wants to say: behind a flag, as an argument, on stdin, or else in their editor, which is opened with notes that
 * are left out of what they say.
 */
export async function readWords(
  context: Context,
  given: { readonly message?: string; readonly argument?: string },
  notes: () => Promise<string>,
): Promise<Words> {
  const { message, argument } = given;
  if (message !== undefined && argument !== undefined) {
    throw new Fault("usage", "The text is given twice: with --message, and as an argument.", {
      hint: "Leave one of them out.",
    });
  }
  const said = message ?? argument;
  if (said !== undefined && said !== "-") return { text: said };
  if (said === "-" || !process.stdin.isTTY) return { text: await readInput(context, "-") };
  const draft = await editText(context, `\n${line}\n${commented(await notes())}`, "message.md");
  const [text = ""] = draft.text.split(line);
  if (text.trim() !== "") return { text, draft };
  draft.remove();
  throw new Fault("editor.empty", "Nothing was written, so nothing has changed.");
}

/** Gives the words to somebody. Where they are not taken, what was written in an editor is not lost. */
export async function handIn<T>(
  context: Context,
  { text, draft }: Words,
  take: (text: string) => Promise<T>,
): Promise<T> {
  try {
    const answer = await take(text);
    draft?.remove();
    return answer;
  } catch (error) {
    if (draft !== undefined) context.say(`What you wrote is kept in ${draft.path}`);
    throw error;
  }
}

const line = "# ------ Write above this line. What is below is left out. ------";

function commented(notes: string): string {
  return notes
    .split("\n")
    .map((each) => `# ${each}`.trimEnd())
    .join("\n");
}
