import { Fault } from "../fault.ts";
import { askYes, canAsk } from "./ask.ts";
import type { Context } from "./context.ts";
import { exitCodes } from "./exit-code.ts";

/** Asks before something that cannot be taken back. Where nobody can answer, `--yes` has to be given. */
export async function confirm(context: Context, question: string, yes: boolean): Promise<boolean> {
  if (yes) return true;
  if (!canAsk()) {
    throw new Fault("usage", `${question} Nobody is here to answer.`, {
      hint: "To do it without being asked, add --yes",
    });
  }
  // Whoever closes the terminal has not said yes.
  if (await askYes(question, false)) return true;
  context.say("Nothing has changed.");
  context.process.exitCode = exitCodes.failed;
  return false;
}
