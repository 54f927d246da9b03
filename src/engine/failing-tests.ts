/** The names of the tests that failed, by the lines with which the usual programs tell it. */
export function failingTests(output: string): readonly string[] {
  const names = new Set<string>();
  for (const line of linesOf(output)) {
    const name = nameIn(line);
    if (name !== undefined) names.add(name.slice(0, longestName));
    if (names.size >= mostNames) break;
  }
  for (const name of failedCases(output)) names.add(name.slice(0, longestName));
  return withoutShorter([...names].slice(0, mostNames));
}

const mostNames = 10_000;
const longestName = 200;
/** Longer lines are data that somebody printed. */
const longestLine = 1000;

/**
 * Of each line the name is what the first bracket holds. A pattern with several places to try comes with how its line must
 * end: without that, a long line of something else would cost the square of its length.
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
    yield text.slice(start, Math.min(end, start + longestLine)).trimEnd();
    start = end + 1;
  }
}

/** JUnit's XML, which is not always printed with line breaks. */
function failedCases(text: string): readonly string[] {
  const names: string[] = [];
  let current: string | undefined;
  for (const [tag, attributes] of text.matchAll(/<testcase\b([^<>]{0,1000})>|<(?:failure|error)\b/g)) {
    if (attributes !== undefined) current = tag.endsWith("/>") ? undefined : caseName(attributes);
    else if (current !== undefined && names.length < mostNames) {
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

/** Some programs print a test by its own name first, and by its whole one in the end. */
function withoutShorter(names: readonly string[]): readonly string[] {
  const ends = new Set(names.flatMap((name) => [...name.matchAll(/ [>›] |::|\//g)].map((match) => endOf(name, match))));
  return names.filter((name) => !ends.has(name));
}

function endOf(name: string, { index, 0: between }: RegExpExecArray): string {
  return name.slice(index + between.length);
}
