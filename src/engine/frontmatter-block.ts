/**
 * Finds the block between two `---` lines at the start of a text. undefined where there is none: without an end, or with
 * a heading before it, the lines are body and must not be lost. A text that merely begins with a horizontal line has no
 * frontmatter either.
 */
export function frontmatterBlock(text: string, from: number): FrontmatterBlock | undefined {
  if (!isRuler(text, from)) return undefined;
  const start = lineAfter(text, from);
  let keys = false;
  let other = false;
  for (let line = start; line < text.length; line = lineAfter(text, line)) {
    const first = text.charCodeAt(line);
    if (first === HYPHEN && isRuler(text, line)) {
      return other && !keys ? undefined : { start, end: line, body: lineAfter(text, line) };
    }
    if (first === HASH && text.startsWith("## ", line)) return undefined;
    if (!keys && isKey(text, line, keyEnd(text, line))) keys = true;
    else if (first > SPACE) other = true;
  }
  return undefined;
}

export interface FrontmatterBlock {
  readonly start: number;
  readonly end: number;
  /** Where the text behind the block starts. */
  readonly body: number;
}

/**
 * What stands behind the colon of each key, as written. Indented lines and list items belong to the key above them;
 * other lines are skipped.
 */
export function frontmatterValues(text: string): Readonly<Record<string, string>> {
  // No prototype: a key may well be `__proto__`.
  const values: Record<string, string> = Object.create(null);
  let key: string | undefined;
  // Joined once for each key: a value may have as many lines as an agent likes.
  let lines: string[] = [];
  const finish = () => {
    if (key !== undefined) values[key] = lines.filter((line) => line !== "").join("\n");
  };
  for (let line = 0; line < text.length; ) {
    const next = lineAfter(text, line);
    const colon = keyEnd(text, line);
    const first = text.charCodeAt(line);
    if (isKey(text, line, colon)) {
      finish();
      key = text.slice(line, colon);
      lines = [text.slice(colon + 1, next).trim()];
    } else if (key !== undefined && (first === SPACE || first === HYPHEN)) {
      lines.push(text.slice(line, next).trim());
    }
    line = next;
  }
  finish();
  return values;
}

function isRuler(text: string, start: number): boolean {
  if (!text.startsWith("---", start)) return false;
  for (let at = start + 3; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === LINE_FEED) return true;
    if (code > SPACE) return false;
  }
  return true;
}

/** A key is made of letters, digits, `_` and `-`, and behind its colon comes a blank or nothing. */
function isKey(text: string, line: number, end: number): boolean {
  if (end === line || text.charCodeAt(line) === HYPHEN || text.charCodeAt(end) !== COLON) return false;
  return end + 1 === text.length || text.charCodeAt(end + 1) <= SPACE;
}

function keyEnd(text: string, line: number): number {
  let end = line;
  for (; ; end++) {
    const code = text.charCodeAt(end);
    const lower = code | 32;
    if (lower >= 97 && lower <= 122) continue;
    if (code === UNDERSCORE || code === HYPHEN || (code >= 48 && code <= 57)) continue;
    return end;
  }
}

function lineAfter(text: string, start: number): number {
  const end = text.indexOf("\n", start);
  return end === -1 ? text.length : end + 1;
}

const LINE_FEED = 10;
const SPACE = 32;
const HASH = 35;
const HYPHEN = 45;
const COLON = 58;
const UNDERSCORE = 95;
