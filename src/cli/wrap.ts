import { displayWidth } from "./display-width.ts";

/**
 * Breaks a text between words into lines of at most `width`; every line but the first gets `indent` in front of it. Where
 * the text itself begins a new line, so does what is made of it.
 */
export function wrap(text: string, width: number, indent = ""): string {
  const lines = text.split("\n").flatMap((paragraph) => linesOf(paragraph, width));
  return lines.map((each, i) => (i === 0 || each === "" ? each : indent + each)).join("\n");
}

/** The same, but a command in it stays in one piece, so that it can be copied: a terminal breaks it without a line end. */
export function wrapMessage(text: string, width: number, indent = ""): string {
  if (width === Number.POSITIVE_INFINITY) return text;
  const lines = text.split("\n").flatMap((paragraph) => linesOf(paragraph, width, wordsAndCommands(paragraph)));
  return lines.map((each, i) => (i === 0 || each === "" ? each : indent + each)).join("\n");
}

const command = /\b(?:signalbox|git|npm) (?:-C |[a-z]).*?(?=$|[.;,)]$|[.;,)] | \(| To [a-z]| Or )/g;
/** Words that follow "git" where it is only a noun. */
const prose = /^git (?:repository|repositories|has|is|obeys|does|can)\b/;

/** How much room the longest piece of a text takes that is not to be broken. */
export function longestPiece(text: string): number {
  return Math.max(...text.split("\n").flatMap(wordsAndCommands).map(displayWidth));
}

function wordsAndCommands(text: string): readonly string[] {
  const words: string[] = [];
  let at = 0;
  for (const { 0: found, index } of text.matchAll(command)) {
    if (prose.test(found)) continue;
    words.push(
      ...text
        .slice(at, index)
        .split(" ")
        .filter((word, i, all) => word !== "" || i < all.length - 1),
      found,
    );
    at = index + found.length;
  }
  const [behind = "", ...rest] = text.slice(at).split(" ");
  const last = words.at(-1);
  // What stands directly behind a command, such as a bracket, belongs to its line.
  return at > 0 && last !== undefined ? [...words.slice(0, -1), last + behind, ...rest] : [...words, behind, ...rest];
}

function linesOf(text: string, width: number, words: readonly string[] = text.split(" ")): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of words) {
    if (line !== "" && displayWidth(line) + 1 + displayWidth(word) > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

/** The beginning of a text that is too long, with … in place of the rest. */
export function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(1, width - 1)).trimEnd()}…`;
}
