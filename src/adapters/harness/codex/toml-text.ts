export type Toml = string | number | boolean | readonly Toml[] | { readonly [key: string]: Toml };

/** A value as TOML in one line, as `-c key=value` takes it. */
export function tomlText(value: Toml): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value !== "object") return String(value);
  if (isList(value)) return `[${value.map(tomlText).join(",")}]`;
  return `{${Object.entries(value)
    .map(([key, each]) => `${quoted(key)}=${tomlText(each)}`)
    .join(",")}}`;
}

/** JSON's escapes are TOML's too, but for two things that only JSON lets through: DEL, and halves of characters. */
function quoted(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll("\u007f", "\\u007f");
}

function isList(value: readonly Toml[] | { readonly [key: string]: Toml }): value is readonly Toml[] {
  return Array.isArray(value);
}
