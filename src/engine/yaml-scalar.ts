/**
 * Writes a string as one line of YAML that every parser, of YAML 1.1 too, reads back as exactly this string: bare where
 * that is safe, else in JSON's quotes. In a list of the form `[a, b]` more strings need them.
 */
export function yamlScalar(value: string, place: "line" | "list" = "line"): string {
  const bare = (place === "line" ? bareInLine : bareInList).test(value);
  return bare && !misread.test(value) ? value : quoted(value);
}

/** Reads a scalar as it stands behind a key. Never fails: what is not valid YAML is taken literally. */
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

/** Letters, marks, digits, signs and spaces only: nothing invisible. What begins with a sign may mean something. */
const bareInLine = /^[\p{L}\p{N}_/](?!.*(?:: | #|[: ]$))[\p{L}\p{M}\p{N}\p{S}\p{P} ]*$/u;
const bareInList = /^[\p{L}\p{N}_/](?!.* $)[\p{L}\p{M}\p{N}_./@+ -]*$/u;

/** What some version of YAML takes for a truth value, nothing, a number (`1e3`, `0x1f`, `12:30`) or a date. */
const misread =
  /^(?:null|true|false|yes|no|on|off|y|n|\d[\d_]*(?::\d+)*(?:\.[\d_]*)?(?:e[-+]?\d+)?|e[-+]?\d+|0[xob][\da-f_]+|\d{4}-\d\d?-\d.*)$/i;

function quoted(value: string): string {
  // JSON leaves some characters as they are that YAML does not allow or takes for line breaks.
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

/** Where the quoted text that starts here ends; undefined where none starts or it has no end. */
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
