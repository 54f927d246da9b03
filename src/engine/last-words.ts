import { plainOutput } from "./plain-output.ts";

const mostLines = 4;

/** The last lines that a program printed, on one line and with nothing in it that a terminal would obey. */
export function lastWords(printed: string, most = 300): string {
  const lines = plainOutput(printed)
    .split("\n")
    // Frames and drawings say nothing.
    .map((line) =>
      line
        .replace(/[\p{So}\u2500-\u28ff]+/gu, " ")
        .replace(/\s+/g, " ")
        .trim(),
    )
    .filter((line) => /[\p{L}\p{N}]/u.test(line));
  return clipped(lines.slice(-mostLines).join(" · "), most);
}

/** Any text on one line, for whoever reads it in a terminal. */
export function oneLine(text: string, most = 600): string {
  return clipped(plainOutput(text).replace(/\s+/g, " ").trim(), most);
}

function clipped(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}
