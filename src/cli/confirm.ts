import { createInterface } from "node:readline/promises";
import { Fault } from "../fault.ts";
import type { Context } from "./context.ts";
import { exitCodes } from "./exit-code.ts";
import { visible } from "./visible.ts";

/** Asks before something that cannot be taken back. Where nobody can answer, `--yes` has to be given. */
export async function confirm(context: Context, question: string, yes: boolean): Promise<boolean> {
  if (yes) return true;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new Fault("usage", `${question} Nobody is here to answer.`, {
      hint: "To do it without being asked, add --yes",
    });
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Whoever closes the terminal has not said yes.
  const closed = new Promise<string>((resolve) => terminal.once("close", () => resolve("")));
  const answer = await Promise.race([terminal.question(visible(`${question} [y/N] `)), closed]);
  terminal.close();
  if (/^y(es)?$/i.test(answer.trim())) return true;
  context.say("Nothing has changed.");
  context.process.exitCode = exitCodes.failed;
  return false;
}
