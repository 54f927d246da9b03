import type { Setting, Settings, SettingValue } from "../workflow.ts";
import type { Context } from "./context.ts";
import { suggest } from "./nearest.ts";
import type { Path } from "./problem.ts";
import { isEngineField } from "./read-guard.ts";

/** Reads settings and presets; a preset is a named set of settings and must keep their types and bounds. */
export function readSettings(context: Context): {
  settings: Readonly<Record<string, Setting>>;
  presets: Readonly<Record<string, Settings>>;
} {
  const settings: Record<string, Setting> = Object.create(null);
  for (const [name, source] of Object.entries(context.source.settings ?? {})) {
    const path: Path = ["settings", name];
    const setting: Setting = {
      default: source.default,
      description: source.description ?? "",
      oneOf: source.one_of,
      min: source.min,
      max: source.max,
    };
    if (!/^[a-z][a-z0-9_]*$/.test(name)) {
      context.error(path, `"${name}" cannot name a setting.`, "Use lower case letters, digits and _.", { key: true });
    }
    if (isEngineField(name)) {
      context.error(path, `"${name}" is counted by the engine, and cannot be a setting.`, "Choose another name.", {
        key: true,
      });
    }
    const problem = settingProblem(name, setting, source.default);
    if (problem !== undefined) context.error([...path, "default"], problem, "");
    settings[name] = setting;
  }

  const presets: Record<string, Settings> = Object.create(null);
  for (const [name, values] of Object.entries(context.source.presets ?? {})) {
    for (const [key, value] of Object.entries(values)) {
      const path: Path = ["presets", name, key];
      const setting = settings[key];
      if (setting === undefined) {
        context.error(path, `There is no setting "${key}".`, suggest(key, Object.keys(settings)), {
          key: true,
        });
        continue;
      }
      const problem = settingProblem(key, setting, value);
      if (problem !== undefined) context.error(path, problem, "");
    }
    presets[name] = values;
  }
  return { settings, presets };
}

/** Says why a setting cannot have a value; undefined where it can. */
export function settingProblem(name: string, setting: Setting, value: unknown): string | undefined {
  const wanted = typeName(setting.default);
  const given = typeName(value as SettingValue);
  if (wanted !== given) return `The setting "${name}" must be ${wanted}, but is ${given}.`;
  if (setting.oneOf && !setting.oneOf.includes(value as never)) {
    return `The setting "${name}" must be one of ${setting.oneOf.join(", ")}, but is ${String(value)}.`;
  }
  if (typeof value !== "number") return undefined;
  if (setting.min !== undefined && value < setting.min)
    return `The setting "${name}" must be at least ${setting.min}, but is ${value}.`;
  if (setting.max !== undefined && value > setting.max)
    return `The setting "${name}" must be at most ${setting.max}, but is ${value}.`;
  return undefined;
}

function typeName(value: SettingValue | undefined): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a map";
  if (typeof value === "boolean") return "true or false";
  return typeof value === "number" ? "a number" : "text";
}
