import type { Finder } from "./project-files.ts";
import { tomlTables } from "./toml-tables.ts";

export const cargoTests: Finder = (files, note) => {
  const from = "Cargo.toml";
  const text = files.read(from);
  if (text === undefined) return undefined;
  const tables = tomlTables(text);
  if (tables === undefined) note(`"${from}" is not valid TOML.`);
  if (tables?.some((name) => name === "workspace" || name.startsWith("workspace."))) {
    return { argv: ["cargo", "test", "--workspace"], from, why: `"${from}" describes a workspace.` };
  }
  if (!tables?.includes("package")) return undefined;
  return { argv: ["cargo", "test"], from, why: `"${from}" describes a package.` };
};
