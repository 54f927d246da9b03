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

/** What a terminal would break in the middle of words is broken between them, each line with the blanks that it begins with. */
export function fitted(text: string, width: number): string {
  return text
    .split("\n")
    .map((line) => {
      if (shownWidth(line) <= width) return line;
      const [indent = ""] = /^ */.exec(line) ?? [];
      const hanging = indent === "" ? "" : `${indent}  `;
      return indent + wrapMessage(line.slice(indent.length), width - hanging.length, hanging);
    })
    .join("\n");
}

const command =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a command may be coloured.
  /(?:\b|(?<=\u001b\[\d+m))(?:signalbox|git|npm) (?:-C |[a-z]).*?(?=$|[.;,)]$|[.;,)] | \(| {2}| To [a-z]| Or |\u001b)|^(?:mkdir|printf|sudo|ln|mv|cp|rm|chmod|export) .*$/g;
/** Words that follow "git" where it is only a noun. */
const prose = /^git (?:repository|repositories|has|is|obeys|does|can)\b/;

/** How much room the longest piece of a text takes that is not to be broken. */
export function longestPiece(text: string): number {
  return Math.max(...text.split("\n").flatMap(wordsAndCommands).map(displayWidth));
}

/** What stands directly before or behind a command, such as a quote or a bracket, belongs to it. */
function wordsAndCommands(text: string): readonly string[] {
  const words = [""];
  const add = ([first = "", ...rest]: readonly string[]) => words.push(`${words.pop()}${first}`, ...rest);
  let at = 0;
  for (const { 0: found, index } of text.matchAll(command)) {
    if (prose.test(found)) continue;
    add(text.slice(at, index).split(" "));
    add([found]);
    at = index + found.length;
  }
  add(text.slice(at).split(" "));
  return words;
}

function shownWidth(text: string): number {
  return displayWidth(text.replace(styles, ""));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours take no room.
const styles = /\u001b\[\d+m/g;

function linesOf(text: string, width: number, words: readonly string[] = text.split(" ")): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of words) {
    if (line !== "" && shownWidth(line) + 1 + shownWidth(word) > width) {
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
