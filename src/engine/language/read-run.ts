import { type AnswerSchema, fieldValues } from "../../answers/read-answer.ts";
import { readDuration } from "../duration.ts";
import { defaultNames, plainRun } from "../run-spec.ts";
import type { Limits, RunSpec, Scalar, Value } from "../workflow.ts";
import { type Context, type Path, suggest } from "./problem.ts";
import type { LimitsSource, RunSource } from "./source.ts";

/** Names that cannot be roles of a file. */
export const reservedRoles = ["human", "engine", "any"] as const;

/** Merges `roles.any`, `roles.<role>` and the keys of the state or hook; later ones override. */
export function readRun(context: Context, own: RunSource, path: Path): RunSpec {
  const role = own.role ?? (own.harness === "review" ? defaultNames.roles.review : defaultNames.roles.task);
  checkRole(context, role, own.role === undefined ? path : [...path, "role"]);
  const declared = context.source.roles ?? {};
  const layers = [declared.any ?? {}, role === "any" ? {} : (declared[role] ?? {}), own];
  const merged: RunSource = Object.assign({}, ...layers);
  // Problems with a role's limits are reported where the role is declared.
  const silent = { ...context, error: () => undefined };
  const limits: Limits = Object.assign(
    {},
    ...layers.map((layer) => readLimits(layer === own ? context : silent, layer.limits, [...path, "limits"])),
  );
  const plain = plainRun(role);
  return {
    role,
    mode: merged.mode ?? plain.mode,
    harness: merged.harness ?? plain.harness,
    prompt: merged.prompt,
    model: merged.model,
    permissions: merged.permissions ?? plain.permissions,
    ...(merged.sandbox === undefined ? {} : { sandbox: merged.sandbox }),
    ...(merged.network === undefined ? {} : { network: merged.network }),
    tools: merged.tools,
    result: merged.result,
    window: merged.window,
    keep: merged.keep ?? plain.keep,
    stepPrompt: merged.step_prompt,
    marker: merged.marker ?? plain.marker,
    until: merged.until,
    confirm: merged.confirm ?? plain.confirm,
    limits,
  };
}

/**
 * Checks one run source by itself: the names it uses, and keys of another mode (`roles.any` has no mode of its own).
 */
export function checkRunSource(context: Context, own: RunSource, mode: RunSpec["mode"] | undefined, path: Path): void {
  for (const key of ["prompt", "step_prompt"] as const) {
    const name = own[key];
    if (name !== undefined) checkPrompt(context, name, [...path, key]);
  }
  if (own.result !== undefined && !context.schemas.includes(own.result)) {
    context.error([...path, "result"], `There is no schema "${own.result}".`, suggest(own.result, context.schemas));
  }
  const foreign: readonly (readonly [keyof RunSource, RunSpec["mode"]])[] = [
    ["step_prompt", "steps"],
    ["marker", "steps"],
    ["until", "dialogue"],
    ["confirm", "dialogue"],
  ];
  for (const [key, needed] of foreign) {
    if (own[key] !== undefined && mode !== undefined && mode !== needed) {
      context.error(
        [...path, key],
        `"${key}" belongs to mode ${needed}, but this run is in mode ${mode}.`,
        `Remove it, or set mode: ${needed}.`,
        { key: true },
      );
    }
  }
}

/** Checks what a run in its mode must and must not have. */
export function checkMode(context: Context, run: RunSpec, path: Path): void {
  if (run.mode === "dialogue" && (run.until === undefined || run.result === undefined)) {
    context.error(
      path,
      "A dialogue needs a result and the answer that ends it.",
      "Add result: … and until: { field: value }.",
      { key: true },
    );
  }
  if (run.mode === "dialogue" && run.until !== undefined)
    checkAnswer(context, run.result, run.until, [...path, "until"]);
  if (run.mode === "session" && run.result !== undefined) {
    context.error(
      path,
      "A session gives no answer that a schema could check.",
      "Use mode: turn, or a gate on a section.",
      { key: true },
    );
  }
}

/** Checks that an answer of a schema could have these values. */
export function checkAnswer(
  context: Context,
  name: string | undefined,
  wanted: Readonly<Record<string, Scalar>>,
  path: Path,
): void {
  const schema = name === undefined ? undefined : (context.source.schemas?.[name] as AnswerSchema | undefined);
  if (schema === undefined) return;
  const fields = Object.keys(schema.properties ?? {});
  for (const [field, value] of Object.entries(wanted)) {
    const at = [...path, field];
    if (!fields.includes(field)) {
      context.error(at, `The schema "${name}" has no field "${field}".`, suggest(field, fields), {
        key: true,
      });
    }
    const values = fieldValues(schema, field);
    if (values !== undefined && !values.includes(value)) {
      const known = values.map((each) => JSON.stringify(each)).join(", ");
      context.error(at, `"${field}" is never ${JSON.stringify(value)}.`, `It is one of ${known}.`);
    }
  }
}

export function checkPrompt(context: Context, name: string, path: Path): void {
  if (context.prompts.includes(name)) return;
  context.error(path, `There is no prompt "${name}".`, suggest(name, context.prompts));
}

export function checkRole(context: Context, role: string, path: Path): void {
  if ((reservedRoles as readonly string[]).includes(role) || role in Object.prototype) {
    context.error(path, `"${role}" is reserved and cannot run an agent.`, "Choose another name for the role.");
  } else if (context.roles !== undefined && !context.roles.includes(role)) {
    context.error(path, `There is no role "${role}".`, suggest(role, context.roles));
  }
}

export function readLimits(context: Context, source: LimitsSource | undefined, path: Path): Limits {
  if (source === undefined) return {};
  const limits: { -readonly [Key in keyof Limits]: Limits[Key] } = {};
  if (source.attempts !== undefined) limits.attempts = source.attempts;
  if (source.steps !== undefined) limits.steps = readCount(context, source.steps, [...path, "steps"]);
  if (source.rounds !== undefined) limits.rounds = readCount(context, source.rounds, [...path, "rounds"]);
  if (source.cost !== undefined) limits.cost = source.cost;
  if (source.stall !== undefined) limits.stall = seconds(source.stall);
  if (source.time !== undefined) limits.time = seconds(source.time);
  if (source.backoff !== undefined) {
    limits.backoff = {
      first: seconds(source.backoff.first),
      factor: source.backoff.factor ?? 1,
      max: source.backoff.max === undefined ? undefined : seconds(source.backoff.max),
    };
  }
  return limits;
}

/** A whole task can only have limits on time and cost. */
export function readTaskLimits(context: Context, source: LimitsSource | undefined): Limits {
  for (const key of Object.keys(source ?? {})) {
    if (key === "time" || key === "cost") continue;
    context.error(
      ["limits", key],
      `"${key}" is a limit of a state or a role, not of the whole task.`,
      "Move it there.",
      { key: true },
    );
  }
  return readLimits(context, source, ["limits"]);
}

/** A number, or a setting that holds one. */
export function readCount(context: Context, source: number | string, path: Path): Value<number> {
  if (typeof source === "number") return source;
  const setting = source.slice(1, -1);
  if (typeof context.settings[setting] !== "number") {
    const known = Object.keys(context.settings).filter((name) => typeof context.settings[name] === "number");
    context.error(path, `There is no setting "${setting}" that is a number.`, suggest(setting, known));
  }
  return { setting };
}

/** The schema has checked the form. */
export function seconds(source: number | string): number {
  return readDuration(source) ?? 0;
}
