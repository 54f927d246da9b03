import type { ProjectFiles } from "./project-files.ts";
import { fieldOf } from "./read-json.ts";

export type PackageManager = "npm" | "pnpm" | "yarn" | "bun";

export interface ChosenManager {
  readonly name: PackageManager;
  /** As a sentence; empty where nothing said so. */
  readonly why: string;
}

/** With which program the scripts of a package.json are run: the one it names itself, else the one with a lockfile. */
export function packageManager(files: ProjectFiles, manifest: unknown): ChosenManager {
  for (const path of [["packageManager"], ["devEngines", "packageManager", "name"]]) {
    const [name] = String(fieldOf(manifest, ...path)).split("@");
    if (isManager(name)) return { name, why: `Its "${path.join(".")}" is ${name}.` };
  }
  const found = lockfiles.find(([file]) => files.has(file));
  return found === undefined ? { name: "npm", why: "" } : { name: found[1], why: `There is a "${found[0]}".` };
}

// npm's are last: its lockfile is soon written by mistake in a project that uses another program.
const lockfiles: readonly (readonly [file: string, name: PackageManager])[] = [
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
  ["pnpm-lock.yaml", "pnpm"],
  ["pnpm-workspace.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["package-lock.json", "npm"],
  ["npm-shrinkwrap.json", "npm"],
];

function isManager(name: string | undefined): name is PackageManager {
  return name === "npm" || name === "pnpm" || name === "yarn" || name === "bun";
}
