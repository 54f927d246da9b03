import type { Finder } from "./project-files.ts";
import { fieldOf, readJson } from "./read-json.ts";

export const composerScript: Finder = (files, note) => {
  const from = "composer.json";
  const script = fieldOf(readJson(files, from, note), "scripts", "test");
  const steps = Array.isArray(script) ? script : [script];
  if (!steps.some((step) => typeof step === "string" && step.trim() !== "")) return undefined;
  // Without the option, composer ends everything after five minutes.
  return {
    argv: ["composer", "run-script", "--timeout=0", "test"],
    from,
    why: `"${from}" has a script "test".`,
  };
};
