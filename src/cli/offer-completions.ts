import { type Application, proposeCompletions } from "@stricli/core";
import type { Context } from "./context.ts";

/** What the scripts of `signalbox completion` call: prints what the last of these words could be, one offer per line. */
export async function offerCompletions(app: Application<Context>, words: readonly string[], context: Context) {
  const wantsFlag = words.at(-1)?.startsWith("-") ?? false;
  for (const { completion } of await proposeCompletions(app, words, context)) {
    if (completion !== "--" && (wantsFlag || !completion.startsWith("-"))) context.print(completion);
  }
}
