import type { Settings, SettingValue, Workflow } from "../workflow.ts";

export interface Variant {
  readonly preset: string;
  readonly settings: Settings;
}

// More switches than this would double the work each; the rest keep their defaults.
const mostSwitches = 4;
/** Every preset with every combination of switches. With a `bound`, larger numbers and longer lists are cut to it. */
export function variantsOf(workflow: Workflow, bound = Number.POSITIVE_INFINITY): readonly Variant[] {
  const presets = Object.keys(workflow.presets).length > 0 ? Object.keys(workflow.presets) : [""];
  const names = Object.keys(workflow.settings);
  const compared = new Set(
    [
      ...workflow.ways.flatMap((way) => way.when),
      ...Object.values(workflow.states).flatMap((state) => [
        ...state.unless,
        ...state.rules.flatMap((rule) => rule.when),
      ]),
    ].map((guard) => guard.field),
  );
  return presets.flatMap((preset) => {
    const free = names.filter(
      (name) =>
        typeof workflow.settings[name]?.default === "boolean" &&
        compared.has(name) &&
        workflow.presets[preset]?.[name] === undefined,
    );
    let combinations: Record<string, SettingValue>[] = [small(workflow, preset, bound)];
    for (const name of free.slice(0, mostSwitches)) {
      combinations = combinations.flatMap((each) => [
        { ...each, [name]: false },
        { ...each, [name]: true },
      ]);
    }
    return combinations.map((settings) => ({ preset, settings }));
  });
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
