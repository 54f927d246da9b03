import { fieldOf } from "../json.ts";
import { type ProjectFiles, readRule } from "./finders.ts";
import { readJson, readToml } from "./manifests.ts";
import type { TestSources } from "./test-sources.ts";

/** A file of which only a part decides about tests. */
export interface PartialFile {
  /** What the part is, for people. */
  readonly what: string;
  /** The part, as a text to be compared. Empty if the file does not have it. */
  partOf(text: string | undefined): string;
  /** The work's file with the base's part in it; undefined if the base's whole file must be used. */
  restore(base: string | undefined, work: string | undefined): string | undefined;
}

/** The part of a file that decides about tests; undefined if it has none, or if the whole file decides. */
export function partialFile(path: string, { scripts, targets }: TestSources): PartialFile | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name === "package.json") return packageManifest(scripts);
  if (path === name && targets.size > 0 && ["Makefile", "makefile", "GNUmakefile"].includes(name))
    return makefile(targets);
  if (name === "pyproject.toml")
    return sections("the test settings", (text) =>
      stable([
        ["pytest", "coverage", "tox"].map((tool) =>
          fieldOf(
            readToml(only(path, text), path, () => {}),
            "tool",
            tool,
          ),
        ),
      ]),
    );
  if (name === "setup.cfg" || name === "tox.ini") return sections("the test settings", iniSections);
  if (name === "composer.json") return manifestPart("the scripts", ["scripts"]);
  if (name === "deno.json" || name === "deno.jsonc") return manifestPart("the tasks", ["tasks"]);
  return undefined;
}

/** Keys of package.json that configure a test runner or the limits that it enforces. */
const runnerKeys = ["jest", "mocha", "ava", "tap", "c8", "nyc", "wireit"];

function packageManifest(scripts: ReadonlySet<string>): PartialFile {
  const partOf = (text: string | undefined) => {
    const manifest = parsed(text);
    if (manifest === undefined) return text ?? "";
    const own = [...scripts].sort().flatMap((name) => {
      const script = fieldOf(manifest, "scripts", name);
      return script === undefined ? [] : [[name, script]];
    });
    const settings = runnerKeys.flatMap((key) => (key in manifest ? [[key, manifest[key]]] : []));
    return own.length + settings.length === 0 ? "" : stable([own, settings]);
  };
  return {
    what: "the scripts that run the tests",
    partOf,
    restore(base, work) {
      const [before, now] = [parsed(base), parsed(work)];
      if (before === undefined || now === undefined) return undefined;
      const kept = Object.entries(asRecord(now.scripts)).filter(([name]) => !scripts.has(name));
      const own = Object.entries(asRecord(before.scripts)).filter(([name]) => scripts.has(name));
      const rest = Object.entries(now).filter(([key]) => !runnerKeys.includes(key));
      const settings = Object.entries(before).filter(([key]) => runnerKeys.includes(key));
      const whole = Object.fromEntries([...rest, ...settings]);
      return `${JSON.stringify({ ...whole, scripts: Object.fromEntries([...kept, ...own]) }, undefined, 2)}\n`;
    },
  };
}

function manifestPart(what: string, keys: readonly string[]): PartialFile {
  const partOf = (text: string | undefined) => {
    const manifest = parsed(text);
    if (manifest === undefined) return text ?? "";
    const own = keys.flatMap((key) => (key in manifest ? [[key, manifest[key]]] : []));
    return own.length === 0 ? "" : stable(own);
  };
  return {
    what,
    partOf,
    restore(base, work) {
      const [before, now] = [parsed(base), parsed(work)];
      if (before === undefined || now === undefined) return undefined;
      const rest = Object.entries(now).filter(([key]) => !keys.includes(key));
      const own = Object.entries(before).filter(([key]) => keys.includes(key));
      return `${JSON.stringify(Object.fromEntries([...rest, ...own]), undefined, 2)}\n`;
    },
  };
}

function parsed(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  const value = readJson(only("manifest", text), "manifest", () => {});
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** A folder with one file in it. */
function only(path: string, text: string | undefined): ProjectFiles {
  const has = (each: string) => each === path && text !== undefined;
  return { has, canRun: () => false, list: () => [], read: (each) => (has(each) ? text : undefined) };
}

/** The same text for the same value, whatever the order of its keys. */
function stable(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : typeof each === "bigint"
        ? String(each)
        : each,
  );
}

const testSection = /^\[\[?\s*(?:tool\.(?:pytest|coverage|tox)\b|pytest\]|tool:pytest\]|coverage:|testenv\b|tox\b)/;

/** A file of sections with headings in brackets, whose test sections can be exchanged. */
function sections(what: string, partOf: (text: string) => string): PartialFile {
  const part = (text: string | undefined) => (text === undefined ? "" : partOf(text));
  return {
    what,
    partOf: (text) => (part(text) === partOf("") ? "" : part(text)),
    restore(base, work) {
      if (work === undefined) return undefined;
      const rest = sectionsOf(work).filter((section) => !testSection.test(section));
      const own = sectionsOf(base ?? "").filter((section) => testSection.test(section));
      const text = [...rest, ...own].map((section) => section.replace(/\n*$/, "\n")).join("\n");
      // A heading can be inside of a string, and then the sections were cut wrongly.
      return part(text) === part(base) ? text : undefined;
    },
  };
}

function sectionsOf(text: string): readonly string[] {
  return text.split(/^(?=\[)/m).filter((section) => section.trim() !== "");
}

function iniSections(text: string): string {
  const own = sectionsOf(text).filter((section) => testSection.test(section));
  return own.map((section) => section.trimEnd()).join("\n");
}

/**
 * The rules of a Makefile that its targets need, and everything outside of rules: variables, definitions, conditions and
 * included files can change what a recipe does.
 */
function makefile(targets: ReadonlySet<string>): PartialFile {
  const partOf = (text: string | undefined) => {
    if (text === undefined || targets.has("*")) return text ?? "";
    const { rules, rest } = rulesOf(text);
    const byName = Map.groupBy(
      rules.flatMap((rule) => rule.names.map((name) => ({ name, rule }))),
      ({ name }) => name,
    );
    const needed = new Set(rules.filter(({ names }) => names.some(isPattern)));
    const seen = new Set(targets);
    const queue = [...seen, ...[...needed].flatMap(wordsOf)];
    for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
      for (const { rule } of byName.get(name) ?? []) {
        if (needed.has(rule)) continue;
        needed.add(rule);
        // A recipe may call make for other targets: their names are among its words.
        for (const word of wordsOf(rule)) if (!seen.has(word)) queue.push(word);
      }
      seen.add(name);
    }
    return [...rest, ...rules.filter((rule) => needed.has(rule)).flatMap(({ lines }) => lines)].join("\n");
  };
  return { what: "the targets that run the tests", partOf, restore: () => undefined };
}

interface MakefileRule {
  readonly names: readonly string[];
  readonly lines: string[];
}

function wordsOf({ lines }: MakefileRule): readonly string[] {
  return lines.flatMap((line) => line.split(/[\s:;|&()]+/)).filter((word) => word !== "");
}

/** A target whose name is computed, or that stands for others, may be any target. */
function isPattern(name: string): boolean {
  return /[%$]/.test(name) || name.startsWith(".");
}

function rulesOf(text: string): { readonly rules: readonly MakefileRule[]; readonly rest: readonly string[] } {
  const rules: MakefileRule[] = [];
  const rest: string[] = [];
  let isInDefinition = false;
  let rule: MakefileRule | undefined;
  for (const line of text.replace(/\\\r?\n/g, " ").split(/\r?\n/)) {
    if (/^ *(?:#|$)/.test(line)) continue;
    if (isInDefinition || /^ *(?:override +|export +)*define\b/.test(line)) {
      isInDefinition = !/^ *endef\b/.test(line);
      rest.push(line);
    } else if (line.startsWith("\t")) (rule?.lines ?? rest).push(line);
    else {
      const names = readRule(line)?.targets.filter((name) => name !== "");
      rule = names === undefined ? undefined : { names, lines: [line] };
      if (rule === undefined) rest.push(line);
      else rules.push(rule);
    }
  }
  return { rules, rest };
}
