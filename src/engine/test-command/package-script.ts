import { packageManager } from "./package-manager.ts";
import type { Finder } from "./project-files.ts";
import { fieldOf, readJson } from "./read-json.ts";

export const packageScript: Finder = (files, note) => {
  const from = "package.json";
  const manifest = readJson(files, from, note);
  if (!hasTestScript(manifest)) return undefined;
  const { name, why } = packageManager(files, manifest);
  // Not `bun test`, which would be bun's own runner.
  return { argv: [name, "run", "test"], from, why: `"${from}" has a script "test". ${why}`.trim() };
};

/** npm writes a script into every new package.json that only says that there are no tests. */
export function hasTestScript(manifest: unknown): boolean {
  const script = fieldOf(manifest, "scripts", "test");
  return typeof script === "string" && script.trim() !== "" && !/no test specified/i.test(script);
}
