/**
 * Finds the block between two `---` lines at the start of a text. Undefined if there is none: without a closing line,
 * or with a heading before it, the lines are body and must not be lost. A text that merely begins with a horizontal
 * line has no frontmatter either.
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

interface FrontmatterBlock {
  readonly start: number;
  readonly end: number;
  /** The offset of the text after the block. */
  readonly body: number;
}

/**
 * The raw value after the colon of each key. Indented lines and list items belong to the key above them; other lines
 * are skipped.
 */
export function frontmatterValues(text: string): Readonly<Record<string, string>> {
  // No prototype: a key may be `__proto__`.
  const values: Record<string, string> = Object.create(null);
  let key: string | undefined;
  // Joined once for each key: an agent may write a value with very many lines.
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

/** A key consists of letters, digits, `_` and `-`, and its colon is followed by a blank or nothing. */
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

/**
 * Writes a string as one line of YAML that every parser, also of YAML 1.1, reads back as exactly this string: without
 * quotes if that is safe, else in JSON's quotes. In a list of the form `[a, b]` more strings need quotes.
 */
export function yamlScalar(value: string, place: "line" | "list" = "line"): string {
  const bare = (place === "line" ? bareInLine : bareInList).test(value);
  return bare && !misread.test(value) ? value : quoted(value);
}

/** Reads the scalar after a key. Never fails: invalid YAML is taken literally. */
export function readYamlScalar(raw: string): string {
  const end = quoteEnd(raw, 0);
  if (end !== undefined) return unquoted(raw.slice(0, end));
  const bare = raw
    .replace(/(?:^|\s)#.*/s, "")
    .replaceAll("\n", " ")
    .trim();
  return bare === "~" || bare === "null" ? "" : bare;
}

/** Reads a list: `[a, "b"]`, lines that begin with `- `, or a single value. Never fails. */
export function readYamlList(raw: string): readonly string[] {
  if (!raw.startsWith("[")) {
    const lines = raw.split("\n").map((line) => readYamlScalar(line.replace(/^-(?:\s|$)/, "").trim()));
    return lines.filter((item) => item !== "");
  }
  const items: string[] = [];
  for (let at = 1; at < raw.length && raw[at] !== "]"; at++) {
    if (raw[at] === "," || (raw[at] ?? "") <= " ") continue;
    let end = quoteEnd(raw, at) ?? at;
    while (end < raw.length && raw[end] !== "," && raw[end] !== "]") end++;
    items.push(readYamlScalar(raw.slice(at, end).trim()));
    at = end - 1;
  }
  return items;
}

/** Letters, marks, digits, signs and spaces only: nothing invisible. A leading sign may have a meaning in YAML. */
const bareInLine = /^[\p{L}\p{N}_/](?!.*(?:: | #|[: ]$))[\p{L}\p{M}\p{N}\p{S}\p{P} ]*$/u;
const bareInList = /^[\p{L}\p{N}_/](?!.* $)[\p{L}\p{M}\p{N}_./@+ -]*$/u;

/** Text that some version of YAML reads as a boolean, null, a number (`1e3`, `0x1f`, `12:30`) or a date. */
const misread =
  /^(?:null|true|false|yes|no|on|off|y|n|\d[\d_]*(?::\d+)*(?:\.[\d_]*)?(?:e[-+]?\d+)?|e[-+]?\d+|0[xob][\da-f_]+|\d{4}-\d\d?-\d.*)$/i;

function quoted(value: string): string {
  // JSON does not escape some characters that YAML forbids or reads as line breaks.
  return JSON.stringify(value).replace(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

function unquoted(text: string): string {
  const inner = text.slice(1, -1);
  if (text.startsWith("'")) return inner.replaceAll("''", "'");
  return inner.replace(/\\(?:u([\da-fA-F]{4})|x([\da-fA-F]{2})|(.))/gs, (_, four, two, one) => {
    if (one !== undefined) return escapes.get(one) ?? one;
    return String.fromCharCode(Number.parseInt(four ?? two, 16));
  });
}

const escapes: ReadonlyMap<string, string> = new Map([
  ["0", "\0"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

/** The end of the quoted text that starts here; undefined if none starts or it is not closed. */
function quoteEnd(raw: string, start: number): number | undefined {
  const quote = raw[start];
  if (quote !== '"' && quote !== "'") return undefined;
  for (let at = start + 1; at < raw.length; at++) {
    if (raw[at] === "\\" && quote === '"') at++;
    else if (raw[at] === quote && raw[at + 1] === quote && quote === "'") at++;
    else if (raw[at] === quote) return at + 1;
  }
  return undefined;
}
