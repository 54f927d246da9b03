import { visible } from "../text/visible.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: these sequences are kept.
const colours = /(\u001b\[[\d;:]*m)/;

/** A row of a terminal with its colours and no other sequence; hidden characters are made visible. */
export function safeRow(row: string): string {
  return row
    .split(colours)
    .map((part, i) => (i % 2 === 1 ? part : visible(part.replace(/[\n\t\u2800]/g, " "))))
    .join("");
}

/** Lines that only draw a frame. On a narrow screen they are cut, where text is wrapped. */
export function isRule(row: string): boolean {
  const text = row.replace(new RegExp(colours, "g"), "").trim();
  return text.length > 0 && /^[\s\u2500-\u257f\u2580-\u259f_=-]+$/.test(text);
}
