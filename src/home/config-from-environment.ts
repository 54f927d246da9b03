import { type Config, configFields, configNames, type Field, type PartialConfig } from "./config-fields.ts";
import { configValue } from "./config-value.ts";

/** What the environment says, such as SIGNALBOX_POOL_SIZE. A variable that is empty says nothing. */
export function configFromEnvironment(env: Readonly<Record<string, string | undefined>>): PartialConfig {
  const values = configNames.flatMap((name) => {
    const field: Field = configFields[name];
    const variable = variableOf(name);
    const written = env[variable];
    return field.level === "user" || field.isDaemons || !written
      ? []
      : [[name, configValue(field, written, variable)] as const];
  });
  return Object.fromEntries(values);
}

function variableOf(name: keyof Config): string {
  return `SIGNALBOX_${configFields[name].key.toUpperCase()}`;
}
