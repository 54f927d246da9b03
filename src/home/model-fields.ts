import type { Shape } from "../engine/language/shape.ts";
import { type ModelFallback, type ModelTiers, mergeTiers, tiersProblem } from "../engine/model-tiers.ts";
import type { Settings } from "../engine/workflow.ts";
import type { Field } from "./config-fields.ts";

/** Which models the tiers of workflows mean, and which model may take the place of another. */
export interface ModelConfig {
  readonly modelTiers: ModelTiers;
  readonly modelFallback: ModelFallback;
  readonly presets: Presets;
}

/** For workflows by name: presets by name, each with values of settings. */
export type Presets = Readonly<Record<string, Readonly<Record<string, Settings>>>>;

const settingValue: Shape = {
  kind: "either",
  options: [
    { kind: "boolean" },
    { kind: "number" },
    { kind: "text" },
    { kind: "list", of: { kind: "text" } },
    { kind: "map", what: "texts", names: /^\S+$/, of: { kind: "text" } },
  ],
  expected: "a text, a number, true or false, a list of texts, or a map from names to texts",
};

const modelName: Shape = {
  kind: "text",
  pattern: /^([\w@][\w./:@-]*)?$/,
  expected: "the name of a model, without spaces; empty for the harness's own choice",
};
/** Models have dots, slashes and colons in their names. */
const models = /^[\w@][\w./:@-]*$/;

export const modelFields: { readonly [Name in keyof ModelConfig]: Field<ModelConfig[Name]> } = {
  modelTiers: {
    key: "model_tiers",
    level: "project",
    isChoice: true,
    isDaemons: true,
    shape: {
      kind: "map",
      what: "tiers",
      of: { kind: "map", what: "models by harness", names: /^[a-z][a-z0-9-]*$/, of: modelName },
    },
    default: {
      large: { claude: "opus", codex: "gpt-5.5", gemini: "gemini-2.5-pro", opencode: "" },
      small: { claude: "haiku", codex: "gpt-5.4-mini", gemini: "gemini-2.5-flash", opencode: "" },
    },
    description:
      "The model that each harness is asked for where a workflow names a tier, such as model_tiers.large.codex; an empty model is the harness's own choice",
    merge: mergeTiers,
    problem: tiersProblem,
  },
  modelFallback: {
    key: "model_fallback",
    level: "project",
    isChoice: true,
    isDaemons: true,
    shape: { kind: "map", what: "models", names: models, of: { kind: "list", of: { ...modelName, pattern: models } } },
    default: { large: ["small"] },
    description:
      "The tiers or models whose named agents may do the work of another, the best first, such as model_fallback.large; an empty list for none",
    merge: (below, above) => ({ ...below, ...above }),
  },
  presets: {
    key: "presets",
    level: "project",
    isChoice: true,
    isDaemons: true,
    shape: {
      kind: "map",
      what: "workflows",
      of: { kind: "map", what: "presets", of: { kind: "map", what: "settings", of: settingValue } },
    },
    default: {},
    description:
      "Presets for the workflows of others, such as presets.pipeline.careful.max_rounds; a preset of the workflow's file with that name comes first",
    merge: (below, above) => {
      const names = [...new Set([...Object.keys(below), ...Object.keys(above)])];
      return Object.fromEntries(names.map((name) => [name, { ...below[name], ...above[name] }]));
    },
  },
};
