import type { Settings, SettingValue, Workflow } from "../workflow.ts";

export interface Variant {
  readonly preset: string;
  readonly settings: Settings;
}

// More switches than this would double the work each; the rest keep their defaults.
const mostSwitches = 4;
/** In a proof only the comparison matters, not how far away the bound is: larger numbers of settings are cut to this. */
export const largestBound = 3;

/** Every preset with every combination of switches. With a `bound`, larger numbers and longer lists are cut to it. */
export function variantsOf(workflow: Workflow, bound = Number.POSITIVE_INFINITY): readonly Variant[] {
  const presets = Object.keys(workflow.presets).length > 0 ? Object.keys(workflow.presets) : [""];
  return presets.flatMap((preset) => {
    let combinations: Record<string, SettingValue>[] = [small(workflow, preset, bound)];
    for (const name of switchesOf(workflow, preset).tried) {
      combinations = combinations.flatMap((each) => [
        { ...each, [name]: false },
        { ...each, [name]: true },
      ]);
    }
    return combinations.map((settings) => ({ preset, settings }));
  });
}

/** The switches that guards compare and the preset leaves open: those of which every combination is tried, and the rest. */
export function switchesOf(
  workflow: Workflow,
  preset: string,
): { readonly tried: readonly string[]; readonly left: readonly string[] } {
  const inStates = Object.values(workflow.states).flatMap((state) => [
    ...state.unless,
    ...state.rules.flatMap((rule) => rule.when),
  ]);
  const compared = new Set([...workflow.ways.flatMap((way) => way.when), ...inStates].map((guard) => guard.field));
  const free = Object.keys(workflow.settings).filter(
    (name) =>
      typeof workflow.settings[name]?.default === "boolean" &&
      compared.has(name) &&
      workflow.presets[preset]?.[name] === undefined,
  );
  return { tried: free.slice(0, mostSwitches), left: free.slice(mostSwitches) };
}

function small(workflow: Workflow, preset: string, bound: number): Record<string, SettingValue> {
  const settings: Record<string, SettingValue> = {};
  for (const [name, setting] of Object.entries(workflow.settings)) {
    const value = workflow.presets[preset]?.[name] ?? setting.default;
    if (typeof value === "number" && value > bound) settings[name] = Math.max(setting.min ?? 0, bound);
    if (Array.isArray(value) && value.length > bound - 1) settings[name] = value.slice(0, bound - 1);
  }
  return settings;
}
