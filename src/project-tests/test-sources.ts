import { fieldOf } from "../json.ts";
import type { ProjectFiles } from "./finders.ts";
import { readJson } from "./manifests.ts";

/** What test commands run, as far as its words tell. */
export interface TestSources {
  /** Names of scripts in package.json, with their pre and post scripts. */
  readonly scripts: ReadonlySet<string>;
  /** Targets of the Makefile. `*` stands for all of them: make was called without a target. */
  readonly targets: ReadonlySet<string>;
  /** Files of the project that the command or one of its scripts names, except test files. */
  readonly files: ReadonlySet<string>;
  /** Files that a module named after `-m` is loaded from, if the project has them: Python looks there before its own. */
  readonly modules: ReadonlySet<string>;
  /** All words, such as the names of programs. */
  readonly words: ReadonlySet<string>;
}

/** Follows commands through the scripts of package.json. Files that a named script loads in turn are not followed. */
export function testSources(commands: readonly (readonly string[])[], files: ProjectFiles): TestSources {
  const scripts = new Set<string>();
  const targets = new Set<string>();
  const named = new Set<string>();
  const words = new Set<string>();
  const modules = new Set<string>();
  const own = ownScripts(files);
  // Of `sh -c "…"` the argument is a text of its own.
  const texts = commands.flatMap((argv) => [
    argv.filter((word) => !/\s/.test(word)).join(" "),
    ...argv.filter((word) => /\s/.test(word)),
  ]);
  for (let text = texts.shift(); text !== undefined; text = texts.shift()) {
    for (const segment of segmentsOf(text)) {
      for (const word of segment) words.add(word);
      for (const file of moduleFiles(segment)) modules.add(file);
      for (const file of filesIn(segment, files)) named.add(file);
      for (const target of targetsIn(segment)) targets.add(target);
      for (const name of scriptsIn(segment, own)) {
        for (const each of [`pre${name}`, name, `post${name}`]) {
          if (scripts.has(each)) continue;
          scripts.add(each);
          texts.push(own.get(each) ?? "");
        }
      }
    }
  }
  return { scripts, targets, files: named, modules, words };
}

function moduleFiles(words: readonly string[]): readonly string[] {
  return words.flatMap((word, place) => {
    if (words[place - 1] !== "-m" || !/^[A-Za-z_][\w.]*$/.test(word)) return [];
    const path = word.replaceAll(".", "/");
    return [`${path}.py`, `${path}/__init__.py`, `${path}/__main__.py`];
  });
}

function ownScripts(files: ProjectFiles): ReadonlyMap<string, string> {
  const scripts = fieldOf(
    readJson(files, "package.json", () => {}),
    "scripts",
  );
  if (typeof scripts !== "object" || scripts === null) return new Map();
  return new Map(Object.entries(scripts).flatMap(([name, text]) => (typeof text === "string" ? [[name, text]] : [])));
}

/** The commands in a line of shell, each as its words without quotes. Nothing is expanded. */
function segmentsOf(text: string): readonly (readonly string[])[] {
  return text
    .slice(0, maxText)
    .split(/&&|\|\||[;|&\n()]/)
    .map((segment) =>
      segment
        .replace(/["'`]/g, " ")
        .split(/\s+/)
        .filter((word) => word !== ""),
    );
}

const maxText = 64 * 1024;

const managers = new Set(["npm", "pnpm", "yarn", "bun"]);
/** Programs whose arguments are names of scripts. */
const scriptRunners = new Set([
  "run-s",
  "run-p",
  "npm-run-all",
  "npm-run-all2",
  "turbo",
  "nx",
  "lerna",
  "concurrently",
]);

function scriptsIn(segment: readonly string[], own: ReadonlyMap<string, string>): readonly string[] {
  return segment.flatMap((word, index) => {
    const rest = segment.slice(index + 1);
    if (word.startsWith("npm:")) return matching(word.slice("npm:".length), own);
    if (scriptRunners.has(word)) return rest.flatMap((each) => matching(each, own));
    if (!managers.has(word)) return [];
    if (rest.some((each) => each === "test" || each === "t" || each === "tst")) return ["test"];
    const run = rest.findIndex((each) => each === "run" || each === "run-script");
    const names = (run === -1 ? rest : rest.slice(run + 1)).filter((each) => !each.startsWith("-"));
    // Without `run`, yarn, pnpm and bun take a script's name too, and options may take a value before it.
    return names.filter((name, at) => own.has(name) || (run !== -1 && at === 0));
  });
}

/** A name may end with a wildcard: `test:*`. */
function matching(pattern: string, own: ReadonlyMap<string, string>): readonly string[] {
  if (!pattern.includes("*")) return own.has(pattern) ? [pattern] : [];
  const start = pattern.slice(0, pattern.indexOf("*"));
  return [...own.keys()].filter((name) => name.startsWith(start));
}

function targetsIn(segment: readonly string[]): readonly string[] {
  const at = segment.findIndex((word) => word === "make" || word === "gmake");
  if (at === -1) return [];
  const targets = segment.slice(at + 1).filter((word) => !word.startsWith("-") && !word.includes("="));
  return targets.length === 0 ? ["*"] : targets;
}

const endings = ["", ".js", ".mjs", ".cjs", ".ts", ".mts", ".sh", ".py"];

function filesIn(segment: readonly string[], files: ProjectFiles): readonly string[] {
  return segment.flatMap((word, index) => {
    const isModule = segment[index - 1] === "-m" && /^[\w.]+$/.test(word);
    const path = (isModule ? word.replaceAll(".", "/") : word).replace(/^(?:\.\/)+/, "");
    if (!/^[^-/][^*?{}$<>]*$/.test(path) || path.split("/").includes("..")) return [];
    const candidates = isModule ? [`${path}.py`, `${path}/__main__.py`] : endings.map((end) => `${path}${end}`);
    const found = candidates.find(files.has);
    return found === undefined || isTestFile(found) || ownParts.has(found) ? [] : [found];
  });
}

/** Files of which only a part counts. */
const ownParts = new Set(["package.json", "Makefile", "makefile", "GNUmakefile", "pyproject.toml", "setup.cfg"]);

/** Whether a file contains tests, by its name. */
function isTestFile(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return /[._-](?:test|spec)s?\.[^.]+$|^test_.*\.py$/i.test(name);
}
