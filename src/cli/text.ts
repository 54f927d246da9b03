import { stripVTControlCharacters } from "node:util";
import { listed, plainOutput } from "../text.ts";
import { createStyleFilter } from "./styles.ts";

export { count, listed, writeSize } from "../text.ts";

/** The agents as the daemon counts them: `2 at work, 1 idle, 1 waits for a seat`. */
export function writeAgents({
  atWork,
  idle,
  waiting,
}: Readonly<Record<"atWork" | "idle" | "waiting", number>>): string {
  const parts = [`${atWork} at work`, ...(idle > 0 ? [`${idle} idle`] : [])];
  return [...parts, ...(waiting > 0 ? [`${waiting} wait${waiting === 1 ? "s" : ""} for a seat`] : [])].join(", ");
}

/** `the repository a`, `the repositories a and b`; for many only their number. */
export function repositories(names: readonly string[]): string {
  if (names.length > 5) return `${names.length} repositories`;
  return `the ${names.length === 1 ? "repository" : "repositories"} ${listed(names)}`;
}

/** How many columns of a terminal a text takes: characters of some scripts, and emoji, take two. */
export function displayWidth(text: string): number {
  // A fast path: most texts are ASCII, and screens are drawn often.
  if (plain.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** A text of exactly this many columns: cut with … if it is too long, padded with spaces if it is too short. */
export function fill(text: string, width: number): string {
  return padded(clip(text, width), width);
}

/** Cuts a text that takes too many columns, and ends it with …. */
export function clip(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  if (width <= 0) return "";
  let kept = "";
  let taken = 0;
  for (const character of text) {
    taken += widthOf(character);
    if (taken > width - 1) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}

function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - displayWidth(text)));
}

function widthOf(character: string): number {
  if (none.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

const plain = /^[\u0020-\u007e]*$/;
const none = /^[\p{M}\p{Cf}\p{Cc}]$/u;
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1faff}\u{20000}-\u{3fffd}]$/u;

type Given<T> = {
  [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key];
} & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>;
};

/** Omits undefined values, which requests must not contain. */
export function given<T extends object>(values: T): Given<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<T>;
}

/**
 * An agent's output without terminal control sequences; with `isStyled`, colours and styles are kept, except those that
 * hide text.
 */
export function shownOutput(text: string, isStyled: boolean): string {
  if (!isStyled) return plainOutput(text);
  const styles = createStyleFilter();
  const parts = text
    .split(styleSequences)
    .map((part, index) => (index % 2 === 1 ? styles.take(part) : plainOutput(part)));
  return parts.length > 1 ? `${parts.join("")}${reset}` : parts.join("");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences of colours.
const styleSequences = /(\u001b\[[0-9;:]*m)/;
const reset = "\u001b[0m";

/**
 * Wraps a text between words into lines of at most `width`; every line but the first begins with `indent`.
 * Line breaks in the text are kept.
 */
export function wrap(text: string, width: number, indent = ""): string {
  const lines = text.split("\n").flatMap((paragraph) => linesOf(paragraph, width));
  return lines.map((each, i) => (i === 0 || each === "" ? each : indent + each)).join("\n");
}

/** Like `wrap`, but does not break commands, so that they can be copied: a terminal wraps them without a line break. */
export function wrapMessage(text: string, width: number, indent = ""): string {
  if (width === Number.POSITIVE_INFINITY) return text;
  const lines = text.split("\n").flatMap((paragraph) => linesOf(paragraph, width, wordsAndCommands(paragraph)));
  return lines.map((each, i) => (i === 0 || each === "" ? each : indent + each)).join("\n");
}

/** Wraps each line between words, where the terminal would break inside a word, and keeps its indentation. */
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
  /(?:\b|(?<=\u001b\[[\d;]+m))(?:signalbox|git|npm) (?:-C |[a-z]).*?(?=$|[.;,)]$|[.;,)] | \(| {2}| To [a-z]| Or |\u001b)|^(?:mkdir|printf|sudo|ln|mv|cp|rm|chmod|export) .*$/g;
/** Words that follow "git" where it is only a noun. */
const prose = /^git (?:repository|repositories|has|is|obeys|does|can)\b/;

/** The width of the longest unbreakable piece of a text. */
export function longestPiece(text: string): number {
  return Math.max(...text.split("\n").flatMap(wordsAndCommands).map(displayWidth));
}

/** A quote or bracket directly before or behind a command belongs to it. */
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
  return displayWidth(stripVTControlCharacters(text));
}

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

/** Cuts a text that is too long, and ends it with …. */
export function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(1, width - 1)).trimEnd()}…`;
}

/** A JSON document for programs. Undefined becomes null, so that every key is present. With indent 0 it is one line. */
export function writeJson(value: unknown, indent = 2): string {
  const text = JSON.stringify(value, (_key, each) => (each === undefined ? null : each), indent);
  // JSON does not escape these control characters, and a terminal would obey them.
  return text.replace(/[\u007f-\u009f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A time in the local time zone: `2026-03-01 14:05:09`. */
export function writeTime(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  const two = (number: number) => String(number).padStart(2, "0");
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join("-");
  return `${day} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":")}`;
}

/** How long ago something was, in its largest unit: `12s`, `5m`, `3h`, `2d`. A time in the future is `0s`. */
export function writeAge(iso: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(iso)) / 1000));
  const unit = timeUnits.find(({ size }) => seconds >= size) ?? { name: "s", size: 1 };
  return `${Math.floor(seconds / unit.size)}${unit.name}`;
}

const timeUnits = [
  { name: "d", size: 86_400 },
  { name: "h", size: 3_600 },
  { name: "m", size: 60 },
] as const;

/** `950`, `1.2k`, `34M` */
export function writeTokens(count: number): string {
  const unit = units.find(({ size }) => count >= size);
  if (unit === undefined) return String(count);
  const value = count / unit.size;
  return `${value < 10 ? value.toFixed(1).replace(/\.0$/, "") : Math.floor(value)}${unit.name}`;
}

const units = [
  { name: "G", size: 1_000_000_000 },
  { name: "M", size: 1_000_000 },
  { name: "k", size: 1_000 },
] as const;

/** US dollars; an unreported cost is `?`, not zero. */
export function writeCost(cost: number | null): string {
  if (cost === null) return "?";
  return `$${cost > 0 && cost < 0.1 ? cost.toFixed(3) : cost.toFixed(2)}`;
}

/** The cost of several runs, some of which may be unreported. */
export function writeCosts({ cost, runs, unknown }: { cost: number; runs: number; unknown: number }): string {
  if (runs > 0 && unknown >= runs) return "?";
  return unknown > 0 ? `${writeCost(cost)} + ?` : writeCost(cost);
}

/** Milliseconds: `45s`, `3m 20s`, `2h 05m`. */
export function writeDuration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 60) return `${seconds}s`;
  const two = (number: number) => String(number).padStart(2, "0");
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`;
  return `${Math.floor(seconds / 3_600)}h ${two(Math.floor(seconds / 60) % 60)}m`;
}

/** Facts in one line. Those for which there is no room are left out, so that no figure is cut; only the first may be. */
export function joinFitting([first = "", ...others]: readonly string[], width: number): string {
  const line = others.reduce((before, each) => {
    const longer = `${before} · ${each}`;
    return displayWidth(longer) > width ? before : longer;
  }, first);
  return clip(line, width);
}

/** How many tasks are listed by default. */
export const defaultListLimit = 50;
