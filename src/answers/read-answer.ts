/**
 * Everything about an agent's JSON answer: its schema, its place in the prose, and its problems.
 */

export { fieldValues, sampleAnswers } from "./sample-answers.ts";
export type { AnswerScalar, AnswerSchema } from "./schema.ts";
export { answerProblems } from "./schema.ts";
export { schemaProblems } from "./schema-problems.ts";

type AnswerReading = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

/**
 * Finds the JSON value in an agent's text: the whole text, the last ```json fence, or the last value in the prose.
 * Trailing commas are the only mistake that is accepted. If the last value is broken, an earlier one is never used
 * instead: it may be a draft or an example, and asking again is cheaper than acting on the wrong answer.
 */
export function readAnswer(text: string): AnswerReading {
  if (text.trim() === "") return { ok: false, problem: "The answer is empty." };
  const whole = parse(text);
  if (whole.ok) return whole;
  const fenced = parse(lastFence(text) ?? "");
  if (fenced.ok) return fenced;
  const found = lastValue(text);
  if (found === undefined) return { ok: false, problem: "There is no JSON value in the answer." };
  const place = `The JSON value that starts on line ${lineAt(text, found.start)} of the answer`;
  if (found.end === undefined) return { ok: false, problem: `${place} is never closed.` };
  const value = parse(text.slice(found.start, found.end));
  return value.ok ? value : { ok: false, problem: `${place} ${value.problem}.` };
}

/** A deeper value could not be written again: JSON.stringify recurses. */
const maxDepth = 100;

function parse(text: string): AnswerReading {
  const exact = parseExactly(text.trim());
  return exact.ok ? exact : parseExactly(withoutTrailingCommas(text).trim());
}

function parseExactly(text: string): AnswerReading {
  if (balance(text, 0).deepest > maxDepth) return { ok: false, problem: `is nested more than ${maxDepth} levels deep` };
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (error) {
    return { ok: false, problem: `is not valid: ${error instanceof Error ? error.message : error}` };
  }
}

/** A line of JSON cannot start with backticks, not even inside a string, so the first such line closes the fence. */
function lastFence(text: string): string | undefined {
  const lines = text.split("\n");
  const open = lines.findLastIndex((line) => /^\s*`{3,}json(\s.*)?$/i.test(line));
  if (open === -1) return undefined;
  const close = lines.findIndex((line, index) => index > open && /^\s*`{3,}/.test(line));
  return lines.slice(open + 1, close === -1 ? undefined : close).join("\n");
}

interface Span {
  readonly start: number;
  /** Undefined if the bracket at the start is never closed. */
  readonly end: number | undefined;
}

/**
 * The last outermost {…} or […] that begins like JSON. Prose is full of other brackets, so `{summary}` and
 * `list["key"]` are skipped, and `[1]` and `- [ ]`, which are JSON, count only if there is no value with a string in
 * it.
 */
function lastValue(text: string): Span | undefined {
  let telling: Span | undefined;
  let bare: Span | undefined;
  const opening = /\{|(?<![\w)\]])\[/g;
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const start = match.index;
    const { end, closed } = passBare(text, start);
    // Continue after the span that was read, never inside it, so that hostile text costs only one pass.
    opening.lastIndex = end;
    if (closed) bare = { start, end };
    else if (text[end] === '"') {
      telling = { start, end: balance(text, start).end };
      if (telling.end === undefined) return telling;
      opening.lastIndex = telling.end;
    }
  }
  return telling ?? bare;
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
