import { placedRuns } from "./run-spec.ts";
import type { Task } from "./task.ts";
import { settingOf } from "./when.ts";
import type { RunSpec, SettingValue, Workflow } from "./workflow.ts";

/** The model of each harness for a tier, by tier and harness. An empty model is the harness's own choice. */
export type ModelTiers = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The models that may take the place of a model, the best first. */
export type ModelFallback = Readonly<Record<string, readonly string[]>>;

/** The tiers that workflows can name without configuration. */
const builtInTiers: readonly string[] = ["large", "small"];

/** Other names of tiers, which workflows of other programs use. */
const aliases: ReadonlyMap<string, string> = new Map([
  ["gpt-4o", "large"],
  ["gpt-4o-mini", "small"],
]);

/** The tier that a name stands for; undefined where it names a model. */
export function tierOf(tiers: ModelTiers, name: string): string | undefined {
  const known = aliases.get(name) ?? name;
  return builtInTiers.includes(known) || Object.hasOwn(tiers, known) ? known : undefined;
}

export interface ModelHarness {
  readonly name: string;
  /** Whether a model can be chosen. */
  readonly takesModel: boolean;
  /** Follows a script: any name is a model for it. */
  readonly isScripted: boolean;
}

/** The model that a harness is asked for. `unmapped` is a tier that has no model in that harness. */
export type ResolvedModel =
  | { readonly tier: string; readonly model: string; readonly unmapped?: undefined }
  | { readonly unmapped: string };

/** Translates a tier to the harness's model. A name that is no tier is passed on as it is. */
export function resolveModel(tiers: ModelTiers, harness: ModelHarness, name: string): ResolvedModel {
  const tier = tierOf(tiers, name);
  if (tier === undefined) return { tier: "", model: name };
  const models = Object.hasOwn(tiers, tier) ? tiers[tier] : undefined;
  const model = models !== undefined && Object.hasOwn(models, harness.name) ? models[harness.name] : undefined;
  if (model !== undefined) return { tier, model };
  if (harness.isScripted) return { tier, model: tier };
  return harness.takesModel ? { unmapped: tier } : { tier, model: "" };
}

/**
 * The models that a run in a state asks for: its own, or those of the setting that it names, which is one name, a map
 * from states to names, or a list with a name for each member of a panel. Without any, it is the task's.
 */
export function askedModels(
  workflow: Workflow,
  task: Pick<Task, "settings" | "preset" | "model">,
  { model }: Pick<RunSpec, "model">,
  status: string,
): readonly string[] {
  if (model === undefined) return [task.model];
  const setting = settingName.exec(model)?.[1];
  const value = setting === undefined ? model : settingOf(workflow, task, setting);
  if (Array.isArray(value)) return value.map(String);
  if (typeof value !== "object" || value === null) return [String(value ?? "")];
  const byState = value as Readonly<Record<string, string>>;
  return [(Object.hasOwn(byState, status) ? byState[status] : byState.default) ?? ""];
}

const settingName = /^\{([a-z][a-z0-9_]*)\}$/;

/**
 * How to choose the models of a workflow whose roles all have models of their own, so that the task's model is for none of them;
 * undefined where it is for some.
 */
export function ownModels(workflows: readonly Pick<Workflow, "states" | "ways" | "settings">[]): string | undefined {
  const placed = workflows.flatMap((workflow) => placedRuns(workflow).map(({ spec }) => ({ spec, workflow })));
  if (placed.length === 0 || placed.some(({ spec }) => spec.model === undefined)) return undefined;
  for (const { spec, workflow } of placed) {
    const name = settingName.exec(spec.model ?? "")?.[1] ?? "";
    const value = workflow.settings[name]?.default;
    if (value === undefined) continue;
    const isMap = typeof value === "object" && !Array.isArray(value);
    return `Choose them with a setting: --set ${name}=${isMap ? "default:" : ""}MODEL`;
  }
  return "They are written in its file; to change them, make your own copy of it.";
}

/**
 * Why a setting that runs take their models from cannot have a value: a list has a model for each member of a panel, and a map
 * has one for each state.
 */
export function modelsProblem(
  workflow: Pick<Workflow, "states" | "ways">,
  name: string,
  value: SettingValue,
): string | undefined {
  if (typeof value !== "object") return undefined;
  if (!placedRuns(workflow).some(({ spec }) => spec.model === `{${name}}`)) return undefined;
  if (Array.isArray(value)) {
    const isWhole = value.length > 0 && value.every((model) => model !== "");
    return isWhole ? undefined : `The setting "${name}" needs at least one model, and none may be empty.`;
  }
  const unknown = Object.keys(value).find((key) => key !== "default" && !Object.hasOwn(workflow.states, key));
  if (unknown === undefined) return undefined;
  return `The setting "${name}" names "${unknown}", but the workflow has no such state.`;
}

/** Why a configuration of tiers is wrong, as a sentence; undefined where it is not. */
export function tiersProblem(tiers: ModelTiers): string | undefined {
  for (const [tier, models] of Object.entries(tiers)) {
    const meant = aliases.get(tier);
    if (meant !== undefined) return `"model_tiers.${tier}" is another name of "${meant}". Write model_tiers.${meant}.`;
    for (const [harness, model] of Object.entries(models)) {
      const inner = tierOf(tiers, model);
      if (inner !== undefined && !aliases.has(model))
        return `"model_tiers.${tier}.${harness}" must name a model, but "${model}" is a tier.`;
    }
  }
  return undefined;
}

/** Tiers with those of another source laid over them: each harness of each tier counts for itself. */
export function mergeTiers(below: ModelTiers, above: ModelTiers): ModelTiers {
  const names = [...new Set([...Object.keys(below), ...Object.keys(above)])];
  return Object.fromEntries(names.map((tier) => [tier, { ...below[tier], ...above[tier] }]));
}
