import { readFileSync, statSync } from "node:fs";
import { isAlias, isMap, isNode, parseDocument } from "yaml";
import { createReporter, didYouMean, fixText, formatProblem, type Problem } from "../engine/language/problem.ts";
import { type Report, readShape, type Shape } from "../engine/language/shape.ts";
import { readTree, type Tree } from "../engine/language/tree.ts";
import { Fault } from "../fault.ts";
import {
  type Config,
  commandWords,
  configFields,
  configNames,
  type Field,
  type Level,
  type PartialConfig,
} from "./config-fields.ts";
import { configShapes, isForUserOnly } from "./config-shape.ts";

/** Reads settings from the environment, such as SIGNALBOX_POOL_SIZE. An empty variable counts as not set. */
export function configFromEnvironment(env: Readonly<Record<string, string | undefined>>): PartialConfig {
  const values = configNames.flatMap((name) => {
    const field: Field = configFields[name];
    const variable = variableOf(name);
    const written = env[variable];
    return field.level === "user" || field.isDaemons || !written
      ? []
      : [[name, configValue(field, written, variable)] as const];
  });
  return Object.fromEntries(values);
}

function variableOf(name: keyof Config): string {
  return `SIGNALBOX_${configFields[name].key.toUpperCase()}`;
}

type ConfigValue = string | number | boolean | readonly string[] | Readonly<Record<string, unknown>>;

/** Reads a value from a flag or a variable. `name` is the name of that flag or variable, for messages. */
export function configValue(field: Field, written: string | number | boolean, name: string): ConfigValue {
  const complaints: string[] = [];
  const tree = treeOf(field, written);
  const read = readShape(field.shape, tree, [name], (_, message, fix) =>
    complaints.push(`${message} ${fixText(fix)}`.trim()),
  );
  const [complaint = field.problem?.(read, true)] = complaints;
  if (complaint === undefined) return read as ConfigValue;
  throw new Fault("usage", complaint, { hint: `${name}: ${field.description}.` });
}

/** The value as a person would write it after its key, or on a command line. */
export function writeConfigValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeItem).join(", ")}]`;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function writeItem(item: unknown): string {
  const text = String(item);
  const isPlain = /^\.?[A-Za-z_][\w./-]*$/.test(text) && !/^(null|true|false|\.inf|\.nan)$/i.test(text);
  return isPlain ? text : JSON.stringify(text);
}

/**
 * A list is written a,b or, where an item contains a comma, as in a file: [a, b]. A command may be written as in a
 * terminal.
 */
function treeOf(field: Field, written: string | number | boolean): Tree {
  const place = { line: 1, column: 1, offset: 0 };
  const scalar = (value: string | number | boolean): Tree => ({ kind: "scalar", place, value });
  if (field.shape.kind === "map") return readTree(String(written), "").tree ?? scalar(written);
  if (field.shape.kind !== "list") return scalar(asMeant(field, written));
  const text = String(written).trim();
  if (text.startsWith("[")) return readTree(text, "").tree ?? scalar(text);
  if (field.isCommand && (/\s/.test(text) || !text.includes(",")))
    return { kind: "list", place, items: commandWords(text, field.key).map(scalar) };
  return { kind: "list", place, items: text === "" ? [] : text.split(",").map((item) => scalar(item.trim())) };
}

/** Converts the text of a flag or a variable to the type of the field. */
function asMeant({ shape }: Field, written: string | number | boolean): string | number | boolean {
  if (shape.kind === "boolean" && /^(true|1)$/.test(String(written))) return true;
  if (shape.kind === "boolean" && /^(false|0)$/.test(String(written))) return false;
  if (shape.kind === "integer" && typeof written === "string" && /^-?\d+$/.test(written)) return Number(written);
  if (shape.kind === "number" && typeof written === "string" && /^-?\d+(\.\d+)?$/.test(written)) return Number(written);
  return written;
}

/** How a value is written on a command line. */
export function formOf({ shape, isCommand }: Field): string {
  if (isCommand) return '"npm test" or [npm, test]';
  switch (shape.kind) {
    case "boolean":
      return "true or false";
    case "integer":
    case "number":
      return "a number";
    case "list":
      return "a,b or [a, b]";
    case "text":
      return shape.oneOf === undefined ? "text" : shape.oneOf.join(", ");
    case "map":
      return "{name: value}";
    default:
      return "in the file";
  }
}

interface ReadConfig {
  /** The values in the file; empty if there are problems. */
  readonly config: PartialConfig;
  readonly problems: readonly Problem[];
}

/** Reads a configuration from its text. `file` is the name that problems are reported with. */
export function readConfig(text: string, file: string, level: Level): ReadConfig {
  if (text.length > maxCharacters) return { config: {}, problems: [tooLong(file)] };
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
      const problem = config[name] === undefined ? undefined : field.problem?.(config[name], false);
      if (problem !== undefined) reporter.error(field.key.split("."), problem, "");
    }
  }
  return { config: reporter.problems.length === 0 ? config : {}, problems: reporter.problems };
}

// A repository can contain any file, and the YAML parser needs seconds for some long ones.
const maxCharacters = 16 * 1024;

function tooLong(file: string): Problem {
  const message = `The file has more than ${maxCharacters / 1024} KB.`;
  return { level: "error", file, line: 1, column: 1, message, fix: "Remove everything that is not configuration." };
}

/** Reads a configuration from its file. A missing file counts as empty. */
export function loadConfig(file: string, level: Level): ReadConfig {
  return readConfig(readText(file), file, level);
}

/** The Fault that lists the problems of a file. */
export function configFault(file: string, problems: readonly Problem[]): Fault {
  const shown = problems.map((problem) => `  ${formatProblem(problem)}`);
  return new Fault("invalid-config", [`The configuration ${file} is wrong:`, ...shown].join("\n"), {
    hint: "Fix the file, or move it away.",
  });
}

function misplaced(key: string): string {
  return `"${key}" is not allowed in a repository's configuration.`;
}

const moveIt = "Move it into your own config.yml, in SIGNALBOX_HOME (~/.signalbox).";

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
    // A repository can contain a link to a device, and reading that would never end.
    if (!found.isFile()) throw new Fault("unreadable", `${file} is not a file.`, { hint: "Move it away." });
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Fault) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new Fault("unreadable", `${file} cannot be read (${code}).`, {
      hint: "Check the file's permissions.",
      cause: error,
    });
  }
}

/** The sources of values, by precedence, highest first. `project` is the project's record in the store. */
const said = ["flag", "environment", "repository", "project", "user"] as const;

export type ConfigSource = (typeof said)[number] | "default";

export type Layers = { readonly [Source in (typeof said)[number]]?: PartialConfig | undefined };

export type ResolvedConfig = {
  readonly [Name in keyof Config]: { readonly value: Config[Name]; readonly source: ConfigSource };
};

/** The effective value of each key, and the source it comes from. */
export function resolveConfig(layers: Layers): ResolvedConfig {
  const entries = configNames.map((name) => {
    const field: Field = configFields[name];
    const sources = said.filter((each) => layers[each]?.[name] !== undefined);
    const values = [...sources.map((each) => layers[each]?.[name]), field.default];
    const { merge } = field;
    const value = merge === undefined ? values[0] : values.reduceRight((below, above) => merge(below, above));
    return [name, { value, source: sources[0] ?? "default" }] as const;
  });
  return Object.fromEntries(entries) as ResolvedConfig;
}

/** The text of a configuration with one key changed or added, such as `notify.webhook`. Comments and order stay. */
export function setConfig(
  text: string,
  key: string,
  written: string | number | boolean,
  level: Level = "user",
): string {
  const { field, steps = [] } = findField(key) ?? {};
  const value = configValue(fieldFor(key, level), written, key);
  const document = parseDocument(text);
  const { problems } = readTree(text, "config.yml");
  if (problems.length > 0) throw configFault("config.yml", problems);
  if (document.contents !== null && !isMap(document.contents)) {
    throw new Fault("invalid-config", "The configuration must be a map of keys and values, such as harness: claude.", {
      hint: "Fix the file.",
    });
  }
  const path = [...(field?.key ?? key).split("."), ...steps];
  const levels = path.map((_, index) => path.slice(0, index + 1));
  if (levels.some((step) => isShared(document.getIn(step, true)))) {
    throw new Fault("invalid-config", `The value of "${key}" is shared with another key, by an anchor and an alias.`, {
      hint: "Change it in an editor.",
    });
  }
  // A key without a value counts as an empty map.
  for (const step of levels.slice(0, -1))
    if (!isMap(document.getIn(step, true))) document.setIn(step, document.createNode({}));
  document.setIn(path, value);
  const changed = document.toString({ lineWidth: 0 });
  // A value inside a map may be wrong only together with the rest of the map.
  const wrong = steps.length > 0 ? readConfig(changed, "config.yml", level).problems : [];
  if (wrong.length > 0) throw configFault("config.yml", wrong);
  return changed;
}

function isShared(node: unknown): boolean {
  return isAlias(node) || (isNode(node) && node.anchor !== undefined);
}

/** The field of a key; for a key inside a map, such as `model_tiers.large.codex`, a field with the form of that value. */
function fieldFor(key: string, level: Level): Field {
  const found = findField(key);
  if (found === undefined) {
    const known = Object.values<Field>(configFields).map((each) => each.key);
    throw new Fault("usage", `There is no key "${key}" in a configuration.`, { hint: didYouMean(key, known) });
  }
  const { field, shape } = found;
  if (level === "project" && field.level === "user") throw new Fault("usage", misplaced(field.key), { hint: moveIt });
  if (field.key === key) return field;
  const { problem: _, merge: __, ...rest } = field;
  return { ...rest, key, shape };
}

/** The field that a key leads to or into, with the form of the value that the key names and the steps to it. */
export function findField(key: string) {
  const fields = Object.values<Field>(configFields);
  const field = fields.find((each) => each.key === key || key.startsWith(`${each.key}.`));
  if (field === undefined) return undefined;
  // The name of a model can contain dots.
  const steps = key === field.key ? [] : stepsInto(field.shape, key.slice(field.key.length + 1));
  if (steps === undefined) return undefined;
  const shape = steps.reduce<Shape>((at) => (at.kind === "map" ? at.of : at), field.shape);
  return { field, shape, steps };
}

/** The names that lead from a map to a value in it; undefined where the form has no such value. */
function stepsInto(shape: Shape, rest: string): readonly string[] | undefined {
  if (shape.kind !== "map") return undefined;
  const end = shape.of.kind === "map" && rest.includes(".") ? rest.indexOf(".") : rest.length;
  const name = rest.slice(0, end);
  if (!(shape.names ?? /^[A-Za-z][\w-]*$/).test(name) || name in Object.prototype) return undefined;
  if (end === rest.length) return [name];
  const inner = stepsInto(shape.of, rest.slice(end + 1));
  return inner && [name, ...inner];
}
