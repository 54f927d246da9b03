import { didYouMean } from "../engine/language/nearest.ts";
import { settingProblem } from "../engine/language/read-settings.ts";
import type { Setting, Settings, SettingValue, Workflow } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";

/** Reads `--set name=value` against what the workflow declares. */
export function readSettingFlags(workflow: Workflow, flags: readonly string[]): Settings {
  const settings: Record<string, SettingValue> = {};
  for (const flag of flags) {
    const [, name, text] = /^([^=]+)=(.*)$/s.exec(flag) ?? [];
    if (name === undefined || text === undefined) throw wrong(`--set ${flag} has no value.`, "Write --set NAME=VALUE.");
    const setting = Object.hasOwn(workflow.settings, name) ? workflow.settings[name] : undefined;
    if (setting === undefined) throw notKnown(workflow, "setting", name, Object.keys(workflow.settings));
    const value = parseValue(setting, text);
    const problem = settingProblem(name, setting, value);
    if (problem !== undefined) throw wrong(problem, `To see its settings: signalbox workflow show ${workflow.name}`);
    settings[name] = value;
  }
  return settings;
}

export function checkPreset(workflow: Workflow, preset: string | undefined): void {
  if (preset === undefined || Object.hasOwn(workflow.presets, preset)) return;
  throw notKnown(workflow, "preset", preset, Object.keys(workflow.presets));
}

/** Lists are written a,b and maps key:value,key:value; what does not fit stays text, and is refused as such. */
function parseValue({ default: usual }: Setting, text: string): SettingValue {
  if (typeof usual === "boolean") return text === "true" ? true : text === "false" ? false : text;
  if (typeof usual === "number") return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
  if (typeof usual === "string") return text;
  const items = text.split(",").filter((item) => item !== "");
  if (Array.isArray(usual)) return items;
  const pairs = items.map((item) => item.split(":"));
  return pairs.every((pair) => pair.length === 2) ? Object.fromEntries(pairs) : text;
}

function notKnown(workflow: Workflow, what: string, name: string, known: readonly string[]): Fault {
  const hint = known.length === 0 ? `The workflow "${workflow.name}" has no ${what}s.` : didYouMean(name, known);
  return wrong(`There is no ${what} "${name}".`, hint);
}

function wrong(message: string, hint: string): Fault {
  return new Fault("usage", message, { hint });
}
