import type { Context } from "./context.ts";
import { shownOutput } from "./shown-output.ts";

/** Prints what an agent printed, safe to look at. */
export function printOutput(context: Context, text: string, isStyled: boolean): void {
  const shown = shownOutput(text, isStyled);
  if (shown === "") return;
  const line = shown.endsWith("\n") ? shown : `${shown}\n`;
  // What `print` lets through are plain colours; everything but colours is gone from this already.
  if (isStyled) context.process.stdout.write(line);
  else context.print(line);
}
