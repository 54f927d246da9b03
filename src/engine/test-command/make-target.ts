import type { Finder } from "./project-files.ts";

export const makeTarget: Finder = (files) => {
  // The order in which make itself looks; it reads only the first.
  const from = ["GNUmakefile", "makefile", "Makefile"].find((name) => files.has(name));
  if (from === undefined || !hasTarget(files.read(from) ?? "", "test")) return undefined;
  return { argv: ["make", "test"], from, why: `"${from}" has a target "test".` };
};

/** Whether some rule makes the target: one with a recipe or with prerequisites, because make passes any other as done. */
function hasTarget(text: string, target: string): boolean {
  const lines = text.replace(/\\\r?\n/g, " ").split(/\r?\n/);
  let isInDefinition = false;
  for (const [index, line] of lines.entries()) {
    if (isInDefinition || /^ *(?:override +|export +)*define\b/.test(line)) isInDefinition = !/^ *endef\b/.test(line);
    else if (!line.startsWith("\t")) {
      const rule = readRule(line);
      if (rule?.targets.includes(target) && (rule.needs !== "" || hasRecipe(lines, index + 1))) return true;
    }
  }
  return false;
}

interface MakeRule {
  readonly targets: readonly string[];
  readonly needs: string;
}

function readRule(line: string): MakeRule | undefined {
  const code = line.replace(/(?<!\\)#.*$/, "");
  const colon = code.indexOf(":");
  if (colon === -1 || code.slice(0, colon).includes("=")) return undefined;
  const needs = code.slice(colon).replace(/^:+/, "");
  const setsVariable = /^[ \t]*(?:(?:export|unexport|override|private)[ \t]+)*[^\s;:=]+[ \t]*:*=/.test(needs);
  if (needs.startsWith("=") || setsVariable) return undefined;
  return { targets: code.slice(0, colon).split(/\s+/), needs: needs.trim() };
}

function hasRecipe(lines: readonly string[], from: number): boolean {
  for (let index = from; index < lines.length; index++) {
    const line = lines[index] ?? "";
    if (line.startsWith("\t")) return true;
    if (!/^ *(?:#|$)/.test(line)) return false;
  }
  return false;
}
