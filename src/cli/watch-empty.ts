import { clip } from "./display-width.ts";
import type { Frame } from "./watch-rows.ts";

/** What a screen says that has nothing to show yet: why, the command that changes it, and that it will be seen. */
export function emptyLines(
  { columns, paint }: Pick<Frame, "columns" | "paint">,
  { why, command, then }: { readonly why: string; readonly command: string; readonly then: string },
): readonly string[] {
  return [clip(why, columns), "", paint.cyan(clip(`  ${command}`, columns)), "", clip(then, columns)];
}
