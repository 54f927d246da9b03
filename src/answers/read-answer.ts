import { maxDepth, parseJson } from "../json.ts";

/**
 * Everything about an agent's JSON answer: its schema, its place in the prose, and its problems.
 */

export { fieldValues, sampleAnswers, samplesDiffer } from "./sample-answers.ts";
export type { AnswerScalar, AnswerSchema } from "./schema.ts";
export { answerProblems, isTooLong, maxAnswer } from "./schema.ts";
export { schemaProblems } from "./schema-problems.ts";

type AnswerReading = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

/**
 * Finds the JSON value in an agent's text: the whole text, or the last value that the agent states itself, in a fence
 * or in prose. Quoted values do not count: lines that begin with `>`, fences in another language than JSON, and values
 * inside a larger value. Trailing commas are the only mistake that is accepted. If the last value is broken, an earlier
 * one is never used instead: it may be a draft or an example, and asking again is cheaper than acting on the wrong
 * answer.
 */
export function readAnswer(text: string): AnswerReading {
  if (text.trim() === "") return { ok: false, problem: "The answer is empty." };
  const whole = parse(text);
  if (whole.ok) return whole;
  const found = lastStated(text);
  if (found === undefined) return { ok: false, problem: "There is no JSON value in the answer." };
  const place = `The JSON value that starts on line ${lineAt(text, found.start)} of the answer`;
  if (found.end === undefined) return { ok: false, problem: `${place} is never closed.` };
  const value = parse(text.slice(found.start, found.end));
  return value.ok ? value : { ok: false, problem: `${place} ${value.problem}.` };
}

function parse(text: string): AnswerReading {
  const exact = parseExactly(text.trim());
  return exact.ok ? exact : parseExactly(withoutTrailingCommas(text).trim());
}

function parseExactly(text: string): AnswerReading {
  if (balance(text, 0).deepest > maxDepth) return { ok: false, problem: `is nested more than ${maxDepth} levels deep` };
  try {
    return { ok: true, value: parseJson(text) };
  } catch (error) {
    return { ok: false, problem: `is not valid: ${error instanceof Error ? error.message : error}` };
  }
}

interface Span {
  readonly start: number;
  /** Undefined if the bracket at the start is never closed. */
  readonly end: number | undefined;
}

/**
 * The last value of the text. `[1]` and `- [ ]` in prose are JSON, but count only if no value has a string in it or
 * fills a fence of its own.
 */
function lastStated(text: string): Span | undefined {
  let telling: Span | undefined;
  let bare: Span | undefined;
  for (const part of statedParts(text)) {
    const content = text.slice(part.start, part.end);
    const isWhole = part.isJson && parse(content).ok;
    const found = isWhole ? { telling: { start: 0, end: content.length }, bare: undefined } : lastValues(content);
    telling = found.telling === undefined ? telling : shifted(found.telling, part.start);
    bare = found.bare === undefined ? bare : shifted(found.bare, part.start);
  }
  return telling ?? bare;
}

function shifted({ start, end }: Span, by: number): Span {
  return { start: start + by, end: end === undefined ? undefined : end + by };
}

interface Part {
  readonly start: number;
  readonly end: number;
  /** Whether it is the content of a fence that is marked `json`. */
  readonly isJson: boolean;
}

/**
 * The prose between quotes and fences, and the content of fences that are marked `json` or not marked. As in Markdown, a
 * fence lasts until a line with as many backticks or tildes as its first one, or until the end. No JSON value is cut:
 * none has a line that begins with `>`, backticks or tildes, not even inside a string.
 */
function* statedParts(text: string): Generator<Part> {
  let fence: { readonly mark: string; readonly isStated: boolean; readonly isJson: boolean } | undefined;
  let start = 0;
  const upTo = (end: number): readonly Part[] =>
    end > start && (fence?.isStated ?? true) ? [{ start, end, isJson: fence?.isJson ?? false }] : [];
  for (let at = 0; at < text.length; ) {
    const lineEnd = text.indexOf("\n", at);
    const next = lineEnd === -1 ? text.length : lineEnd + 1;
    const line = text.slice(at, lineEnd === -1 ? text.length : lineEnd).trim();
    const opened = fence === undefined ? fenceOf(line) : undefined;
    const isClosing = fence !== undefined && isFenceEnd(line, fence.mark);
    if (opened !== undefined || isClosing || isQuote(line)) {
      yield* upTo(at);
      start = next;
      if (isClosing) fence = undefined;
      else fence = opened ?? fence;
    }
    at = next;
  }
  yield* upTo(text.length);
}

/** A line with its content behind the mark, such as a fence on one line, is prose. */
function fenceOf(line: string) {
  const [mark = ""] = /^(?:`{3,}|~{3,})/.exec(line) ?? [];
  const info = line.slice(mark.length);
  if (mark === "" || /[`{[]/.test(info)) return undefined;
  const [tag = ""] = info.trim().split(/\s/, 1);
  const isJson = /^json[5c]?$/i.test(tag);
  return { mark, isStated: isJson || tag === "", isJson };
}

function isFenceEnd(line: string, mark: string): boolean {
  return line.length >= mark.length && line === mark.charAt(0).repeat(line.length);
}

/** A quote may stand in a list. */
function isQuote(line: string): boolean {
  return /^(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*>/.test(line);
}

interface Opened {
  readonly start: number;
  hasValue: boolean;
}

interface Found {
  readonly telling: Span | undefined;
  /** The last value without a string. */
  readonly bare: Span | undefined;
}

/**
 * The last outermost {…} or […] that begins like JSON. Prose is full of other brackets, so `{summary}` and `list["key"]`
 * are skipped. Other braces that enclose a value count with it as one broken value.
 */
function lastValues(text: string): Found {
  let telling: Span | undefined;
  let bare: Span | undefined;
  const open: Opened[] = [];
  const brackets = /[{}]|(?<![\w)\]])\[/g;
  for (let match = brackets.exec(text); match !== null; match = brackets.exec(text)) {
    const start = match.index;
    const around = open.at(-1);
    if (match[0] === "}") {
      if (open.pop()?.hasValue === true) {
        telling = { start: around?.start ?? start, end: start + 1 };
        noteValue(open);
      }
      continue;
    }
    const { end, closed } = passBare(text, start);
    // Continue after the span that was read, never inside it, so that hostile text costs only one pass.
    brackets.lastIndex = end;
    if (closed) bare = { start, end };
    else if (text[end] === '"') {
      telling = { start, end: balance(text, start).end };
      if (telling.end === undefined) return { telling, bare };
      noteValue(open);
      brackets.lastIndex = telling.end;
    } else if (match[0] === "{") open.push({ start, hasValue: false });
  }
  return { telling, bare };
}

function noteValue(open: readonly Opened[]): void {
  const around = open.at(-1);
  if (around !== undefined) around.hasValue = true;
}

/**
 * Skips from an opening bracket over all JSON tokens except strings, to the end of the value or the first other
 * character.
 */
function passBare(text: string, start: number): { readonly end: number; readonly closed: boolean } {
  const token = /[\s,{}[\]]|-?\d[\d.eE+-]*|true|false|null/y;
  let depth = 0;
  let end = start;
  for (token.lastIndex = start; token.test(text); end = token.lastIndex) {
    const first = text[end] ?? "";
    if ("{[".includes(first)) depth++;
    if ("}]".includes(first) && --depth === 0) return { end: token.lastIndex, closed: true };
  }
  return { end, closed: false };
}

/** Where the first bracket is closed, and how deep it nests. Brackets inside strings do not count. */
function balance(text: string, start: number): { readonly end: number | undefined; readonly deepest: number } {
  let depth = 0;
  let deepest = 0;
  for (let i = start; i < text.length; i++) {
    const char = text[i];
    if (char === '"') i = textEnd(text, i);
    else if (char === "{" || char === "[") deepest = Math.max(deepest, ++depth);
    else if ((char === "}" || char === "]") && --depth === 0) return { end: i + 1, deepest };
  }
  return { end: undefined, deepest };
}

function withoutTrailingCommas(text: string): string {
  const closing = /\s*[}\]]/y;
  let kept = "";
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '"') i = textEnd(text, i);
    if (text[i] !== ",") continue;
    closing.lastIndex = i + 1;
    if (!closing.test(text)) continue;
    kept += text.slice(from, i);
    from = i + 1;
  }
  return kept + text.slice(from);
}

/** The index of the quote that closes the string which begins at `start`. */
function textEnd(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === '"') return i;
  }
  return text.length;
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}
