import { type Config, configFields, configNames, type PartialConfig } from "./config-fields.ts";

/** Who may say something, the strongest first. `project` is what is recorded about the project. */
const said = ["flag", "environment", "repository", "project", "user"] as const;

export type ConfigSource = (typeof said)[number] | "default";

export type Layers = { readonly [Source in (typeof said)[number]]?: PartialConfig | undefined };

export type ResolvedConfig = {
  readonly [Name in keyof Config]: { readonly value: Config[Name]; readonly source: ConfigSource };
};

/** What holds for each key, and who said so. */
export function resolveConfig(layers: Layers): ResolvedConfig {
  const entries = configNames.map((name) => {
    const source = said.find((each) => layers[each]?.[name] !== undefined);
    const value = source === undefined ? configFields[name].default : layers[source]?.[name];
    return [name, { value, source: source ?? "default" }] as const;
  });
  return Object.fromEntries(entries) as ResolvedConfig;
}
