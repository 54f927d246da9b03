import type { Refusal } from "../api/error.ts";

/** Why the daemon said no, each reason with what to do about it. Gives what stands behind `error:` and what comes below. */
export function writeRefusal(
  reasons: Refusal["reasons"],
  last = "Nothing has changed.",
): { message: string; hint: string } {
  const [first, ...more] = reasons;
  if (first === undefined) return { message: "The request was refused.", hint: last };
  const fixOf = (fix: string, indent = "") => (fix === "" ? [] : [indent + fix]);
  if (more.length === 0) return { message: first.text, hint: [...fixOf(first.fix), last].join("\n") };
  const lines = reasons.flatMap(({ text, fix }) => [`- ${text}`, ...fixOf(fix, "  ")]);
  return { message: `There are ${reasons.length} reasons against it.`, hint: [...lines, last].join("\n") };
}
