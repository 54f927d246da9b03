import { type Document, isCollection, isScalar, visit, type YAMLError } from "yaml";

/** A syntax error of a YAML file, with its place and its most likely fix. */
interface Slip {
  /** Characters before the place in the file. */
  readonly offset: number;
  readonly message: string;
  readonly fix: string;
  /** Whether the parser's further errors are only consequences of this one. */
  readonly isLost: boolean;
}

// One mistake can cause a thousand parser errors; the first ones are enough.
const maxSlips = 10;

/** The parser's errors, reworded for authors: at most one for each line, and none after an error with `isLost`. */
export function yamlSlips(document: Document, text: string): readonly Slip[] {
  const complaints = [...document.errors, ...document.warnings].sort((a, b) => a.pos[0] - b.pos[0]);
  const slips: Slip[] = [];
  const lines = new Set<number>();
  for (const complaint of complaints) {
    const slip = explain(complaint, document, text);
    const line = lineOf(text, slip.offset);
    if (!lines.has(line)) slips.push(slip);
    lines.add(line).add(lineOf(text, complaint.pos[0]));
    if (slip.isLost || slips.length === maxSlips) break;
  }
  return slips;
}

type Explanation = (complaint: YAMLError, document: Document, text: string) => Slip | undefined;

function explain(complaint: YAMLError, document: Document, text: string): Slip {
  for (const explanation of explanations) {
    const slip = explanation(complaint, document, text);
    if (slip !== undefined) return slip;
  }
  const said = (complaint.message.split("\n")[0] ?? complaint.code).replace(/ at line \d+, column \d+:?$/, "");
  return at(complaint.pos[0], `This is not valid YAML: ${said}.`, "");
}

const explanations: readonly Explanation[] = [
  unclosedQuote,
  unclosedBracket,
  strayBracket,
  missingComma,
  textBehindValue,
  colonInText,
  missingColon,
  bySigns,
];

function unclosedQuote({ code, message, pos }: YAMLError, document: Document, text: string): Slip | undefined {
  const quote = code === "MISSING_CHAR" ? /^Missing closing (["'])/.exec(message)?.[1] : undefined;
  if (quote === undefined) return undefined;
  const opened = lastNode(document, (node, start) => isScalar(node) && start < pos[0] && text[start] === quote);
  const offset = opened ?? pos[0];
  const fix = `Add ${quote} where the text ends, probably in line ${lineOf(text, offset)}.`;
  return at(offset, `The text that begins with ${quote} here has no ${quote} at its end.`, fix, true);
}

function unclosedBracket({ message, pos }: YAMLError, document: Document, text: string): Slip | undefined {
  const closing = /^Flow (?:map|sequence) in block collection .* end with a ([}\]])/.exec(message)?.[1];
  if (closing === undefined) return undefined;
  const opening = closing === "}" ? "{" : "[";
  const offset =
    lastNode(
      document,
      (node, start, end) =>
        isCollection(node) && start < pos[0] && text[start] === opening && text[end - 1] !== closing,
    ) ?? pos[0];
  const next = text[pos[0]] ?? "";
  if (next === "}" || next === "]")
    return at(pos[0], `This ${next} comes before the ${opening} is closed.`, `Write ${closing} in front of it.`, true);
  const end = lineOf(text, text.slice(0, pos[0]).trimEnd().length);
  return at(offset, `This ${opening} is never closed.`, `Add ${closing}, probably at the end of line ${end}.`, true);
}

function strayBracket({ message, pos }: YAMLError): Slip | undefined {
  const bracket = /^Unexpected flow-(?:map|seq)-end token in YAML stream: "(.)"/.exec(message)?.[1];
  if (bracket === undefined) return undefined;
  const opening = bracket === "}" ? "{" : "[";
  return at(pos[0], `This ${bracket} closes nothing.`, `Remove it, or add the ${opening} that it closes.`, true);
}

/** `{ a: 1 b: 2 }`: the parser takes `1 b` for a key. */
function missingComma({ code, pos }: YAMLError, _document: Document, text: string): Slip | undefined {
  if (code !== "BLOCK_IN_FLOW") return undefined;
  const part = text.slice(pos[0], pos[1]);
  const [, value, gap = "", key] = /^([^\s:]+)(\s+)([A-Za-z_][\w-]*)\s*:/.exec(part) ?? [];
  if (value === undefined || key === undefined)
    return at(pos[0], 'One entry has two ":".', 'If it is one text, put it in quotes: "…".');
  const bare = value.replace(/;$/, "");
  const offset = pos[0] + value.length + gap.length;
  return at(offset, `A comma is missing in front of "${key}".`, `Write ${bare}, ${key}: …`);
}

/** `'it's'`, `"a" b`, `{name} is here`. */
function textBehindValue({ message, pos }: YAMLError, _document: Document, text: string): Slip | undefined {
  if (!message.startsWith("Unexpected scalar at node end")) return undefined;
  const before = text.slice(0, pos[0]).trimEnd().at(-1) ?? "";
  const rest = oneLine(text.slice(pos[0], pos[1]));
  if (before === "'")
    return at(
      pos[0],
      `The text in ' ends before "${rest}".`,
      "For an apostrophe in it write '', or use double quotes.",
    );
  if (before === '"')
    return at(pos[0], `The text in " ends before "${rest}".`, 'For a quote in it write \\", or use single quotes.');
  if (before === "}" || before === "]") {
    const kind = before === "}" ? "A value that begins with { is a map" : "A value that begins with [ is a list";
    return at(pos[0], `${kind}, and this one ends before "${rest}".`, "If it is text, put all of it in quotes.");
  }
  return at(
    pos[0],
    `"${rest}" is not expected here.`,
    "Is the line above complete, and this one indented like it?",
    true,
  );
}

/** `p: Say: this`, and a line that is indented below a key with a value of its own. */
function colonInText({ code, message, pos }: YAMLError, _document: Document, text: string): Slip | undefined {
  if (code !== "BLOCK_AS_IMPLICIT_KEY" || !message.startsWith("Nested mappings")) return undefined;
  const line = text.slice(pos[0]).split("\n", 1)[0] ?? "";
  if (/:(\s|$)/.test(line))
    return at(pos[0], 'This text has a ":" in it, which would begin a second key.', 'Put it in quotes: "…".');
  return at(
    pos[0],
    `Line ${lineOf(text, pos[0]) + 1} is indented as if it belonged below this value.`,
    "Indent it like the key of this value, or move the value down beside it.",
  );
}

function missingColon({ code, message, pos }: YAMLError, _document: Document, text: string): Slip | undefined {
  const isMissing = code === "MISSING_CHAR" && message.startsWith("Implicit map keys");
  if (!isMissing && code !== "MULTILINE_IMPLICIT_KEY") return undefined;
  const line = (text.slice(pos[0]).split("\n", 1)[0] ?? "").trim();
  const [, key, value] = /^([\w-]+):(\S.*)$/.exec(line) ?? [];
  if (key !== undefined) return at(pos[0], `A space is missing behind the ":" of "${key}".`, `Write ${key}: ${value}`);
  const fix = "Write a colon and a space behind a key; indent what belongs to the text above further than its key.";
  return at(pos[0], `There is no ":" behind "${oneLine(line)}".`, fix);
}

/** Errors that the code of the parser's error is enough to explain. */
function bySigns({ code, message, pos }: YAMLError, _document: Document, text: string): Slip | undefined {
  const [start, end] = pos;
  switch (code) {
    case "TAB_AS_INDENT":
      return at(start, "This line is indented with a tab.", "Indent it with spaces.");
    case "BAD_SCALAR_START":
      return at(start, `A value cannot begin with "${text[start]}".`, 'If it is text, put it in quotes: "…".');
    case "BAD_INDENT":
      return at(start, "This line begins in another column than its neighbours.", "Indent it like them.");
    case "DUPLICATE_KEY":
      return at(start, `The key ${keyAt(text, start)} is already used above.`, "Merge the two, or remove one.");
    case "TAG_RESOLVE_FAILED":
      return tagSlip(start, oneLine(text.slice(start, end)));
    case "MULTIPLE_DOCS":
      return at(start, 'A second document begins here, behind "---".', "Make a file of each.", true);
    case "BAD_DQ_ESCAPE": {
      const sequence = /\\./.exec(message)?.[0] ?? "\\";
      return at(
        start,
        `${sequence} means nothing between double quotes.`,
        `Write \\${sequence}, or use single quotes.`,
      );
    }
    case "BAD_ALIAS":
      return at(start, `There is no name behind "${text[start]}".`, 'If it is text, put it in quotes: "…".');
    case "UNEXPECTED_TOKEN":
      if (message.startsWith("Unexpected , ")) return at(start, "This comma separates nothing.", "Remove it.");
      if (message.startsWith("Unexpected block-seq-ind"))
        return at(start, "A list with dashes begins on a line of its own.", "Write it below its key, or as [a, b].");
      return undefined;
    default:
      return undefined;
  }
}

/** YAML tags change the type of a value; the language does not use them. */
export function tagSlip(offset: number, tag: string): Slip {
  const fix = "Remove it, or put the value in quotes if it is text that begins so.";
  return at(offset, `${tag} is a tag, and tags have no meaning here.`, fix);
}

function at(offset: number, message: string, fix: string, isLost = false): Slip {
  return { offset, message, fix, isLost };
}

/** The start of the last node in the file that fits. */
function lastNode(
  document: Document,
  fits: (node: unknown, start: number, end: number) => boolean,
): number | undefined {
  let last: number | undefined;
  visit(document, {
    Node: (_, node) => {
      const [start, end] = node.range ?? [];
      if (start === undefined || end === undefined || !fits(node, start, end)) return;
      if (last === undefined || start > last) last = start;
    },
  });
  return last;
}

function keyAt(text: string, offset: number): string {
  const key = /^[^:\n]*/.exec(text.slice(offset, offset + 80))?.[0].trim() ?? "";
  return key.startsWith('"') ? key : `"${key}"`;
}

function lineOf(text: string, offset: number): number {
  let line = 1;
  for (let i = text.indexOf("\n"); i >= 0 && i < offset; i = text.indexOf("\n", i + 1)) line++;
  return line;
}

function oneLine(text: string): string {
  const line = text.split("\n", 1)[0]?.trim() ?? "";
  return line.length > 40 ? `${line.slice(0, 40)}…` : line;
}
