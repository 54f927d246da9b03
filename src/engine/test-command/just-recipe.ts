import type { Finder } from "./project-files.ts";

export const justRecipe: Finder = (files) => {
  const from = files.list("").find((name) => /^\.?justfile$/i.test(name));
  if (from === undefined || !files.read(from)?.split("\n").some(isTestRecipe)) return undefined;
  return { argv: ["just", "test"], from, why: `"${from}" has a recipe "test".` };
};

/** Whether the line begins a recipe `test` that can be called without arguments, or names another one so. */
function isTestRecipe(line: string): boolean {
  if (/^alias[ \t]+test[ \t]*:=/.test(line)) return true;
  const [, rest] = /^@?test(?=[ \t:])(.*)$/.exec(line.trimEnd()) ?? [];
  return rest !== undefined && /^[ \t]*:(?!=)/.test(withoutOptional(rest));
}

/** Takes away the parameters that need no argument: those with a default, and `*rest`. */
function withoutOptional(parameters: string): string {
  const optional = /[ \t]+(?:[*+]?\$?[\w-]+=(?:"[^"]*"|'[^']*'|[^\s:"'=]+)|\*\$?[\w-]+)(?=[ \t:])/y;
  let end = 0;
  while (optional.test(parameters)) end = optional.lastIndex;
  return parameters.slice(end);
}
