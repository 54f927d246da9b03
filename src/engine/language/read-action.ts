import { actions, aliases, type Param } from "../actions.ts";
import { factNames } from "../request.ts";
import type { Action, Gate, Guard, Op, ParamValue } from "../workflow.ts";
import { type Context, didYouMean, type Path, suggest } from "./problem.ts";
import { checkMode, checkPrompt, checkRole, checkRunSource, readRun } from "./read-run.ts";
import { type ActionSource, asList, type GateSource, type RunSource, type Words } from "./source.ts";

/** Reads one hook or one action of a state's own work. It reports problems; undefined for an unknown action. */
export function readAction(context: Context, source: ActionSource, path: Path): Action | undefined {
  const named = typeof source === "string" ? { action: source } : source;
  const alias = Object.hasOwn(aliases, named.action) ? aliases[named.action] : undefined;
  const name = alias?.action ?? named.action;
  const declaration = Object.hasOwn(actions, name) ? actions[name] : undefined;
  const namePath = typeof source === "string" ? path : [...path, "action"];
  if (declaration === undefined) {
    context.error(namePath, `No action "${named.action}".`, () =>
      didYouMean(named.action, [...Object.keys(actions), ...Object.keys(aliases)]),
    );
    return undefined;
  }

  const { action: _, ...own } = named;
  const given: Record<string, unknown> = { ...alias?.params, ...own };
  const params: Record<string, ParamValue> = {};
  for (const [key, value] of Object.entries(given)) {
    const param = Object.hasOwn(declaration.params, key) ? declaration.params[key] : undefined;
    const at = [...path, key];
    if (param === undefined) {
      context.error(at, `"${name}" has no parameter "${key}".`, suggest(key, Object.keys(declaration.params)), {
        key: true,
      });
    } else if (checkParam(context, name, key, param, value, at)) {
      params[key] = value as ParamValue;
    }
  }
  for (const [key, param] of Object.entries(declaration.params)) {
    if (param.required && given[key] === undefined) {
      context.error(
        namePath,
        `"${named.action}" needs the parameter "${key}".`,
        `Write { action: ${name}, ${key}: … }.`,
      );
    }
  }
  if (name === "notify_agent" && (given.message === undefined) === (given.prompt === undefined)) {
    context.error(namePath, `"${named.action}" needs either a message or a prompt.`, "Give exactly one of them.");
  }
  if (name !== "spawn_agent") return { name, params, run: undefined };

  const { increment: _increment, ...asRun } = given;
  const run = readRun(context, asRun as RunSource, path);
  checkRunSource(context, { ...(asRun as RunSource), prompt: undefined } as unknown as RunSource, run.mode, path);
  if (run.prompt === undefined)
    context.error(namePath, `"${named.action}" has no prompt to start with.`, "Add prompt: … here or in the role.");
  checkMode(context, run, path);
  return { name, params, run };
}

/** Reads one action of a state's own work. Counters move with the task, so only a way can change them. */
export function readWork(context: Context, source: ActionSource, path: Path): Action | undefined {
  const action = readAction(context, source, path);
  const moves = action?.name === "increment" || action?.name === "set_field" ? action.name : undefined;
  const counter = moves ?? (action?.params.increment === undefined ? undefined : "increment");
  if (counter === undefined) return action;
  context.error(
    moves === undefined ? [...path, counter] : path,
    `"${counter}" belongs to a transition, not to a state.`,
    "Move it to the hooks of the way there.",
  );
  return undefined;
}

function checkParam(context: Context, action: string, key: string, param: Param, value: unknown, path: Path): boolean {
  const wrong = (expected: string) => {
    context.error(path, `"${key}" of "${action}" must be ${expected}.`, "");
    return false;
  };
  switch (param.type) {
    case "integer":
      return (Number.isSafeInteger(value) && Number(value) >= 0) || wrong("a whole number that is not negative");
    case "boolean":
      return typeof value === "boolean" || wrong("true or false");
    case "list":
      return (Array.isArray(value) && value.every((item) => typeof item === "string")) || wrong("a list of words");
    case "duration":
      return (
        /^\d+(\.\d+)?(ms|s|m|h|d)$/.test(String(value)) || typeof value === "number" || wrong("a time such as 30s")
      );
    default:
  }
  if (typeof value !== "string") return wrong("text");
  if (param.oneOf && !param.oneOf.includes(value)) {
    context.error(path, `"${key}" of "${action}" cannot be "${value}".`, suggest(value, param.oneOf));
  }
  if (param.type === "prompt") checkPrompt(context, value, path);
  if (param.type === "role") checkRole(context, value, path);
  if (param.type === "counter" && (!/^[a-z][a-z0-9_]*$/.test(value) || value in Object.prototype))
    return wrong("the name of a counter, such as review_round");
  if (param.type === "counter" && (isEngineField(value) || Object.hasOwn(context.settings, value))) {
    const text = `"${value}" is counted by the engine or set by people, and cannot be a counter of the file.`;
    context.error(path, text, "Choose another name.");
  }
  if (param.type === "result" && !context.schemas.includes(value)) {
    context.error(path, `There is no schema "${value}".`, suggest(value, context.schemas));
  }
  return true;
}

/** The counters that a file's hooks change. They must be known before guards are read. */
export function countersOf(sources: readonly ActionSource[]): readonly string[] {
  const found = new Set<string>();
  for (const source of sources) {
    const { action, ...params } = typeof source === "string" ? { action: source } : source;
    const alias = Object.hasOwn(aliases, action) ? aliases[action] : undefined;
    const given: Record<string, unknown> = { ...alias?.params, ...params };
    const name = alias?.action ?? action;
    const counter =
      name === "increment" || name === "set_field" ? given.field : name === "spawn_agent" ? given.increment : undefined;
    if (typeof counter === "string") found.add(counter);
  }
  return [...found];
}

export function readGate(source: GateSource): Gate {
  return {
    section: source.section.slice(3).trim(),
    fields: source.fields ?? [],
    verdict: source.verdict,
    firstLine: source.first_line ?? false,
  };
}

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
      `"${text}" is not a condition.`,
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

/** Whether the engine sets the field of this name. */
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
