import { settingProblem } from "../language/read-settings.ts";
import { settingOf } from "../when.ts";
import type { Guard, Settings, SettingValue, Value, Workflow } from "../workflow.ts";
import { guardsOf } from "./position.ts";

/** A preset, and the settings that a task or its project set besides. */
export interface Variant {
  readonly preset: string;
  readonly settings: Settings;
}

export interface Configurations {
  readonly tried: readonly Variant[];
  /** The settings whose values were not tried in every combination, because there are too many. */
  readonly left: readonly string[];
  /** The values that each setting was tried with, if decisions depend on it. */
  readonly values: Readonly<Record<string, readonly SettingValue[]>>;
}

// More are explored one setting at a time, and the file is not called proved.
const maxVariants = 64;

/**
 * Every way to configure tasks of a workflow that decisions can tell apart: each preset, and each combination of values of the
 * settings that decisions depend on, whether presets have them or only a task. A number is tried with the values of the file,
 * with 0, 1 and at least 3, and around each number that the file compares it, or what it is compared with, with.
 */
export function configurationsOf(workflow: Workflow): Configurations {
  const values = valuesTried(workflow);
  const names = Object.keys(values);
  const presets = ["", ...Object.keys(workflow.presets)];
  const usual = Object.keys(workflow.presets)[0] ?? "";
  const plain = presets.map((preset): Variant => ({ preset, settings: {} }));
  // What only one wait depends on changes nothing elsewhere, so it is tried with the usual values of the others.
  const read = new Set(
    guardsOf(workflow).flatMap(({ field, value }) => (typeof value === "number" ? [field] : [field, value.setting])),
  );
  const compared = Object.fromEntries(Object.entries(values).filter(([name]) => read.has(name)));
  const count = Object.values(compared).reduce((product, { length }) => product * length, 1);
  const more = [
    ...(count <= maxVariants ? combinations(compared) : []),
    ...names.filter((name) => count > maxVariants || !read.has(name)).flatMap((name) => oneAtATime(values, name)),
  ];
  const all = [
    ...(usual === "" ? plain : plain.slice(1)),
    ...more.map((settings) => ({ preset: usual, settings })),
    ...plain.slice(0, 1),
  ];
  const seen = new Set<string>();
  const tried = all.flatMap((variant): Variant[] => {
    const key = JSON.stringify(names.map((name) => distinction(settingOf(workflow, variant, name))));
    if (seen.has(key)) return [];
    seen.add(key);
    return [withoutUsual(workflow, variant)];
  });
  return { tried, left: count <= maxVariants ? [] : names, values };
}

/** Only the settings that differ from what the task has anyway. */
function withoutUsual(workflow: Workflow, { preset, settings }: Variant): Variant {
  const differing = Object.entries(settings).filter(
    ([name, value]) => JSON.stringify(settingOf(workflow, { preset, settings: {} }, name)) !== JSON.stringify(value),
  );
  return { preset, settings: Object.fromEntries(differing) };
}

/** Of a list, only its length counts, and more than two members of a panel are like two. */
function distinction(value: SettingValue | undefined): unknown {
  return Array.isArray(value) ? Math.min(2, value.length) : value;
}

function combinations(values: Configurations["values"]): readonly Settings[] {
  return Object.entries(values).reduce<readonly Settings[]>(
    (rows, [name, among]) => rows.flatMap((row) => among.map((value) => ({ ...row, [name]: value }))),
    [{}],
  );
}

function oneAtATime(values: Configurations["values"], name: string): readonly Settings[] {
  return (values[name] ?? []).map((value) => ({ [name]: value }));
}

/** The settings that decisions depend on, with the values to try. */
function valuesTried(workflow: Workflow): Configurations["values"] {
  const guards = guardsOf(workflow);
  const numbers = new Map<string, Set<number>>();
  const tried = new Set<string>();
  const note = (name: string, ...values: readonly number[]) => {
    tried.add(name);
    const known = numbers.get(name) ?? new Set<number>();
    for (const value of values) known.add(value);
    numbers.set(name, known);
  };
  for (const { source, field, value } of guards) {
    // Visits are those of one state each, so what is compared with them elsewhere says nothing.
    const together = source === "visits" ? guardsBeside(workflow, field, value) : guards;
    if (source === "setting") note(field, 0, 1, ...(typeof value === "number" ? around(value) : []));
    if (typeof value === "number") continue;
    const others = together.flatMap((other) =>
      other.field === field && typeof other.value === "number" ? around(other.value) : [],
    );
    note(value.setting, 0, 1, ...others);
  }
  for (const { wait, limits } of Object.values(workflow.states)) {
    const runs = wait.kind === "agent" ? [wait.run] : wait.kind === "panel" ? [wait.member] : [];
    for (const run of runs) {
      const rounds = named(limits.rounds ?? run.limits.rounds);
      // Every reply but the last is like the first.
      if (run.mode === "dialogue" && rounds !== undefined) note(rounds, 1, 2);
    }
    const models = wait.kind === "panel" ? /^\{([a-z][a-z0-9_]*)\}$/.exec(wait.member.model ?? "")?.[1] : undefined;
    if (models !== undefined) tried.add(models);
    const policy = wait.kind === "fan_out" ? named(wait.policy) : undefined;
    if (policy !== undefined) tried.add(policy);
  }
  const found: Record<string, readonly SettingValue[]> = {};
  for (const name of tried) {
    const setting = workflow.settings[name];
    if (setting === undefined) continue;
    const own = [setting.default, ...Object.values(workflow.presets).flatMap((preset) => preset[name] ?? [])];
    const more: readonly SettingValue[] =
      typeof setting.default === "boolean"
        ? [false, true]
        : typeof setting.default === "number"
          ? [...(numbers.get(name) ?? []), ...(own.some((value) => Number(value) >= 3) ? [] : [3])].sort(
              (a, b) => a - b,
            )
          : Array.isArray(setting.default)
            ? [["a"], ["a", "b"]]
            : ["stop", ...(setting.oneOf ?? [])];
    found[name] = distinctValues(
      [...own, ...more].filter((value) => settingProblem(name, setting, value) === undefined),
    );
  }
  return found;
}

/** The guards of the states in which a field is compared with this value. */
function guardsBeside({ states }: Workflow, field: string, value: Guard["value"]): readonly Guard[] {
  return Object.values(states)
    .map(({ unless, evidence, rules, out }) => [
      ...[unless, evidence, ...rules.map(({ when }) => when)].flat(),
      ...Object.values(out).flatMap((ways) => ways.flatMap(({ when }) => when)),
    ])
    .filter((guards) => guards.some((guard) => guard.field === field && guard.value === value))
    .flat();
}

const around = (value: number): readonly number[] => [value - 1, value, value + 1];

function named<T>(value: Value<T> | undefined): string | undefined {
  return typeof value === "object" && value !== null && "setting" in value ? value.setting : undefined;
}

/** Of texts, only whether a fan-out stops at the first failure counts. */
function distinctValues(values: readonly SettingValue[]): readonly SettingValue[] {
  const seen = new Set<string>();
  return values.filter((value) => {
    const key = JSON.stringify(typeof value === "string" ? value === "stop" : distinction(value));
    return !seen.has(key) && seen.add(key);
  });
}

/** Every preset with every combination of switches, for drawings and tables. Larger numbers and longer lists are cut to `bound`. */
export function variantsOf(workflow: Workflow, bound: number): readonly Variant[] {
  const presets = Object.keys(workflow.presets).length > 0 ? Object.keys(workflow.presets) : [""];
  const compared = new Set(guardsOf(workflow).map(({ field }) => field));
  return presets.flatMap((preset) => {
    const free = Object.keys(workflow.settings).filter(
      (name) =>
        typeof workflow.settings[name]?.default === "boolean" &&
        compared.has(name) &&
        workflow.presets[preset]?.[name] === undefined,
    );
    const policies = Object.values(workflow.states).flatMap(({ wait }) =>
      wait.kind === "fan_out" ? (named(wait.policy) ?? []) : [],
    );
    const switches: Record<string, readonly SettingValue[]> = Object.fromEntries([
      ...free.slice(0, maxSwitches).map((name) => [name, [false, true]]),
      ...policies.map((name) => [name, distinctValues([workflow.settings[name]?.default ?? "", "stop"])]),
    ]);
    const small = cut(workflow, preset, bound);
    return combinations(switches).map((settings) => ({ preset, settings: { ...small, ...settings } }));
  });
}

const maxSwitches = 4;

function cut(workflow: Workflow, preset: string, bound: number): Settings {
  const settings: Record<string, SettingValue> = {};
  for (const [name, setting] of Object.entries(workflow.settings)) {
    const value = workflow.presets[preset]?.[name] ?? setting.default;
    if (typeof value === "number" && value > bound) settings[name] = Math.max(setting.min ?? 0, bound);
    if (Array.isArray(value) && value.length > bound - 1) settings[name] = value.slice(0, bound - 1);
  }
  return settings;
}
