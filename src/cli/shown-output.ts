import { plainOutput } from "../engine/plain-output.ts";

/** What an agent printed, with nothing in it that a terminal would obey; with `isStyled`, but for colours and styles. */
export function shownOutput(text: string, isStyled: boolean): string {
  if (!isStyled) return plainOutput(text);
  const parts = text.split(styles).map((part, index) => (index % 2 === 1 ? part : plainOutput(part)));
  return parts.length > 1 ? `${parts.join("")}${reset}` : parts.join("");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: this is how terminals are told about colours.
const styles = /(\u001b\[[0-9;:]*m)/;
const reset = "\u001b[0m";
