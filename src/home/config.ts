import { readFileSync, statSync } from "node:fs";
import { createReporter } from "../engine/language/context.ts";
import { formatProblem, type Problem } from "../engine/language/problem.ts";
import { type Report, readShape } from "../engine/language/shape.ts";
import { readTree } from "../engine/language/tree.ts";
import { Fault } from "../fault.ts";
import { configFields, configNames, type Field, type Level, type PartialConfig } from "./config-fields.ts";
import { configShapes, isForUserOnly } from "./config-shape.ts";

export interface ReadConfig {
  /** What the file says; nothing where there are problems. */
  readonly config: PartialConfig;
  readonly problems: readonly Problem[];
}

/** Reads a configuration from its text. `file` is what problems are reported against. */
export function readConfig(text: string, file: string, level: Level): ReadConfig {
  if (text.length > mostCharacters) return { config: {}, problems: [tooLong(file)] };
  const { tree, problems } = readTree(text, file);
  if (tree === undefined) return { config: {}, problems };

  const reporter = createReporter(tree, text, file);
  const report: Report = (path, message, fix, atKey = false) => {
    const [key] = path;
    if (level === "project" && atKey && path.length === 1 && isForUserOnly(String(key)))
      return reporter.error(path, misplaced(String(key)), moveIt, { key: true });
    reporter.error(path, message, fix, { key: atKey });
  };
  const config = flattened(readShape(configShapes[level], tree, [], report));
  if (reporter.problems.length === 0) {
    for (const name of configNames) {
      const field: Field = configFields[name];
      const problem = config[name] === undefined ? undefined : field.problem?.(config[name]);
      if (problem !== undefined) reporter.error(field.key.split("."), problem, "");
    }
  }
  return { config: reporter.problems.length === 0 ? config : {}, problems: reporter.problems };
}

// A repository can bring any file, and the YAML parser takes seconds for some that are long.
const mostCharacters = 16 * 1024;

function tooLong(file: string): Problem {
  const message = `The file has more than ${mostCharacters / 1024} KB.`;
  return { level: "error", file, line: 1, column: 1, message, fix: "Take out what is no configuration." };
}

/** Reads a configuration from its file. One that is not there says nothing. */
export function loadConfig(file: string, level: Level): ReadConfig {
  return readConfig(readText(file), file, level);
}

/** The Fault that shows what is wrong with a file. */
export function configFault(file: string, problems: readonly Problem[]): Fault {
  const shown = problems.map((problem) => `  ${formatProblem(problem)}`);
  return new Fault("invalid-config", [`The configuration ${file} is wrong:`, ...shown].join("\n"), {
    hint: "Mend the file, or move it away.",
  });
}

export function misplaced(key: string): string {
  return `"${key}" cannot stand in a repository's configuration.`;
}

export const moveIt = "Move it into your own config.yml, in SIGNALBOX_HOME (~/.signalbox).";

function flattened(read: unknown): PartialConfig {
  const valueAt = (key: string) =>
    key.split(".").reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], read);
  const values = configNames.map((name) => [name, valueAt(configFields[name].key)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

export function readText(file: string): string {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined) return "";
    // A repository can bring a link to a device, which would be read without an end.
    if (!found.isFile()) throw new Fault("unreadable", `${file} is no file.`, { hint: "Move it away." });
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Fault) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new Fault("unreadable", `${file} cannot be read (${code}).`, {
      hint: "Look at the file's permissions.",
      cause: error,
    });
  }
}
