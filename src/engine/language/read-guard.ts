import { factNames } from "../request.ts";
import type { Guard, Op } from "../workflow.ts";
import type { Context } from "./context.ts";
import { didYouMean } from "./nearest.ts";
import type { Path } from "./problem.ts";
import { asList, type Words } from "./source.ts";

const form = /^\s*([A-Za-z_][A-Za-z0-9_]*)\s*(<=|>=|==|!=|<|>)\s*(-?\d+|true|false|\{([a-z][a-z0-9_]*)\})\s*$/;

/** Reads `<field> <op> <value>`, one or a list that must all hold. */
export function readGuards(context: Context, source: Words | undefined, path: Path): readonly Guard[] {
  const isList = Array.isArray(source);
  return asList<string>(source).flatMap((text, i) => readGuard(context, text, isList ? [...path, i] : path) ?? []);
}

function readGuard(context: Context, text: string, path: Path): Guard | undefined {
  const match = form.exec(text);
  if (!match) {
    context.error(
      path,
      `"${text}" is no condition.`,
      "Write <field> <op> <value>, such as review_round < 2; op is one of < > <= >= == !=.",
    );
    return undefined;
  }
  const [, field = "", op = "==", value = "", setting] = match;
  const source = sourceOf(context, field);
  if (source === undefined) {
    context.error(path, `Nothing in this file changes "${field}", so no condition can depend on it.`, () =>
      didYouMean(field, knownFields(context)),
    );
    return undefined;
  }
  if (source === "setting" && !isComparable(context.settings[field])) {
    context.error(
      path,
      `The setting "${field}" is neither a number nor true or false.`,
      "Compare a number or a switch.",
    );
  }
  if (setting !== undefined && !isComparable(context.settings[setting])) {
    const known = Object.keys(context.settings).filter((name) => isComparable(context.settings[name]));
    context.error(path, `There is no setting "${setting}" that is a number, true or false.`, () =>
      didYouMean(setting, known),
    );
  }
  const number = value === "true" ? 1 : value === "false" ? 0 : Number(value);
  return { field, source, op: op as Op, value: setting === undefined ? number : { setting }, written: value };
}

/** Whether the engine itself gives a field of this name its value. */
export function isEngineField(name: string): boolean {
  return name === "crash_count" || name === "visits" || (factNames as readonly string[]).includes(name);
}

function sourceOf(context: Context, field: string): Guard["source"] | undefined {
  if (field === "crash_count" || field === "visits") return field;
  if (context.counters.includes(field)) return "counter";
  if ((factNames as readonly string[]).includes(field)) return "fact";
  if (Object.hasOwn(context.settings, field)) return "setting";
  return undefined;
}

function knownFields(context: Context): readonly string[] {
  return [...context.counters, "crash_count", "visits", ...factNames, ...Object.keys(context.settings)];
}

function isComparable(value: unknown): boolean {
  return typeof value === "number" || typeof value === "boolean";
}
