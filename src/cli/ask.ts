import { createInterface } from "node:readline/promises";
import { visible } from "./visible.ts";

/** Whether somebody sits at the terminal who can be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Asks a person; undefined where they close the terminal (Ctrl-C, Ctrl-D) instead of answering. */
export async function ask(question: string): Promise<string | undefined> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new Promise<undefined>((resolve) => terminal.once("close", () => resolve(undefined)));
  const answer = await Promise.race([terminal.question(visible(`${question} `)), closed]);
  terminal.close();
  // What is asked next, or the shell, begins on a line of its own.
  if (answer === undefined) process.stderr.write("\n");
  return answer?.trim();
}

/** A question for yes or no. Whoever only presses Enter has said `usual`; undefined where nobody answers. */
export async function askYes(question: string, usual: boolean): Promise<boolean | undefined> {
  const answer = await ask(`${question} ${usual ? "[Y/n]" : "[y/N]"}`);
  if (answer === undefined) return undefined;
  return answer === "" ? usual : /^y(es)?$/i.test(answer);
}
