import { plainOutput } from "../text.ts";

/** The names of the failed tests, from the output formats of common test runners. */
export function failingTests(output: string): readonly string[] {
  const names = new Set<string>();
  for (const line of linesOf(output)) {
    const name = nameIn(line);
    if (name !== undefined) names.add(name.slice(0, maxNameLength));
    if (names.size >= maxNames) break;
  }
  for (const name of failedCases(output)) names.add(name.slice(0, maxNameLength));
  return withoutShorter([...names].slice(0, maxNames));
}

const maxNames = 10_000;
const maxNameLength = 200;
/** Longer lines are printed data, not results. */
const maxTestLine = 1000;

/**
 * The first capture group is the name. A pattern that can backtrack comes with the required end of its line: without
 * that check, a long line of another kind would take quadratic time.
 */
const forms: readonly (RegExp | readonly [RegExp, string])[] = [
  // TAP
  /^\s*not ok\b\s*\d*\s*-?\s*(\S.*)$/,
  // node --test, jest, vitest
  /^\s*[✖✕×✗] (?!failing tests:$)(.+)$/,
  /^\s*● (?!Console$)(.+)$/,
  // nextest; then jest, vitest, go
  /^\s*FAIL \[ *[\d.]+s\] +(?:\([^)]*\) +)?(\S.*)$/,
  /^\s*FAIL\s+([^\s:[(].*)$/,
  /^\s*--- FAIL: (\S+)/,
  // cargo
  /^test (.+) \.\.\. FAILED$/,
  // pytest, unittest
  /^(?:FAILED|ERROR) (\S+\.py\b.*?)(?: - .*)?$/,
  /^(?:FAIL|ERROR): (\w+ \(.+\))/,
  // rspec, PHPUnit, ExUnit
  /^rspec (\S+(?: # .*)?)$/,
  /^\s*\d+\) ([\w\\]+::\w+.*|test .+ \([\w.]+\))$/,
  // Gradle, Maven
  [/^(\S.* > .+) FAILED$/, " FAILED"],
  [/^\[ERROR\]\s+([\w$]+(?:\.[\w$]+)+)\b.* <<< (?:FAILURE|ERROR)!$/, "!"],
  // .NET, ctest
  [/^\s+Failed (\S.*) \[[^\]]*\]$/, "]"],
  /^\s*\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|Subprocess aborted|Not Run)\)$/,
];

function nameIn(line: string): string | undefined {
  for (const each of forms) {
    const [form, end] = each instanceof RegExp ? [each, ""] : each;
    const name = line.endsWith(end) ? form.exec(line)?.[1] : undefined;
    if (name !== undefined) return /# *(?:todo|skip)\b/i.test(name) ? undefined : withoutTime(name);
  }
  return undefined;
}

/** `adds (3 ms)`, `adds 3ms`, `pkg 0.01s`: the same test must have the same name wherever it is printed. */
function withoutTime(name: string): string {
  return name.replace(/\s\(?\d[\d.]* ?m?s\)?$/, "").trim();
}

function* linesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf("\n", start);
    const end = found === -1 ? text.length : found;
    yield text.slice(start, Math.min(end, start + maxTestLine)).trimEnd();
    start = end + 1;
  }
}

/** JUnit's XML, which is not always printed with line breaks. */
function failedCases(text: string): readonly string[] {
  const names: string[] = [];
  let current: string | undefined;
  for (const [tag, attributes] of text.matchAll(/<testcase\b([^<>]{0,1000})>|<(?:failure|error)\b/g)) {
    if (attributes !== undefined) current = tag.endsWith("/>") ? undefined : caseName(attributes);
    else if (current !== undefined && names.length < maxNames) {
      names.push(current);
      current = undefined;
    }
  }
  return names;
}

function caseName(attributes: string): string | undefined {
  const of = (name: string) => new RegExp(`(?:^|\\s)${name}=(["'])(.*?)\\1`).exec(attributes)?.[2];
  return [of("classname"), of("name")].filter((part) => part).join(" ") || undefined;
}

/** Some runners print a test's own name first, and its full name at the end. */
function withoutShorter(names: readonly string[]): readonly string[] {
  const ends = new Set(names.flatMap((name) => [...name.matchAll(/ [>›] |::|\//g)].map((match) => endOf(name, match))));
  return names.filter((name) => !ends.has(name));
}

function endOf(name: string, { index, 0: between }: RegExpExecArray): string {
  return name.slice(index + between.length);
}

/** Summarises the output of tests for an agent: the failed tests and the last lines. At most `most` bytes. */
export function summariseOutput(output: string, most = 4096): string {
  const plain = plainOutput(output);
  const names = namesPart(failingTests(plain), Math.floor(most / 2));
  const heading = names === "" ? "" : `${names}\n\nThe last lines:\n`;
  const last = lastLines(plain, most - bytes(heading));
  return last === "" ? names : `${heading}${last}`;
}

const maxLineLength = 400;

function namesPart(names: readonly string[], most: number): string {
  if (names.length === 0) return "";
  let part = "Failing tests:";
  for (const [index, name] of names.entries()) {
    const next = `${part}\n- ${name}`;
    // Leave room for the line that counts the rest.
    if (bytes(next) > most - 20) return index === 0 ? "" : `${part}\n… and ${names.length - index} more.`;
    part = next;
  }
  return part;
}

function lastLines(text: string, most: number): string {
  if (most <= 0) return "";
  // More characters than this cannot be shown, even if each takes one byte.
  const lines = text
    .trimEnd()
    .slice(-most * 4)
    .split("\n");
  let last = "";
  let isBlank = false;
  for (const line of lines.reverse()) {
    const shown = shorten(line.trimEnd());
    if (shown === "" && isBlank) continue;
    isBlank = shown === "";
    const next = last === "" ? shown : `${shown}\n${last}`;
    if (bytes(next) > most) break;
    last = next;
  }
  return last.replace(/^\n+/, "");
}

function shorten(line: string): string {
  return line.length <= maxLineLength ? line : `${line.slice(0, maxLineLength).toWellFormed()}…`;
}

function bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
