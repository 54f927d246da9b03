import { fieldOf } from "../json.ts";
import type { Finder, ProjectFiles, TestCommand } from "./finders.ts";
import { readJson } from "./manifests.ts";

type PackageManager = "npm" | "pnpm" | "yarn" | "bun";

interface ChosenManager {
  readonly name: PackageManager;
  /** A sentence; empty if no file names it. */
  readonly why: string;
}

/** The package manager that runs the scripts of a package.json: the one it names, else the one with a lockfile. */
function packageManager(files: ProjectFiles, manifest: unknown): ChosenManager {
  for (const path of [["packageManager"], ["devEngines", "packageManager", "name"]]) {
    const [name] = String(fieldOf(manifest, ...path)).split("@");
    if (isManager(name)) return { name, why: `Its "${path.join(".")}" is ${name}.` };
  }
  const found = lockfiles.find(([file]) => files.has(file));
  return found === undefined ? { name: "npm", why: "" } : { name: found[1], why: `There is a "${found[0]}".` };
}

// npm is last: its lockfile is easily written by mistake in a project that uses another package manager.
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

export const packageScript: Finder = (files, note) => {
  const from = "package.json";
  const manifest = readJson(files, from, note);
  if (!hasTestScript(manifest)) return undefined;
  const { name, why } = packageManager(files, manifest);
  // Not `bun test`, which is bun's own test runner.
  return { argv: [name, "run", "test"], from, why: `"${from}" has a script "test". ${why}`.trim() };
};

/** npm adds a placeholder script to every new package.json that only prints that there are no tests. */
function hasTestScript(manifest: unknown): boolean {
  const script = fieldOf(manifest, "scripts", "test");
  return typeof script === "string" && script.trim() !== "" && !/no test specified/i.test(script);
}

const maxPackages = 500;

/** The scripts of the packages, if the root of a monorepo has none. */
export const workspaceScripts: Finder = (files, note) => {
  const manifest = readJson(files, "package.json", note);
  if (manifest === undefined || hasTestScript(manifest)) return undefined;
  const folders = patternsOf(files, manifest).flatMap((pattern) => expand(files, pattern));
  const packages = [...new Set(folders)]
    .filter((folder) => files.has(`${folder}/package.json`))
    .slice(0, maxPackages)
    .map((folder) => ({ folder, isTested: hasTestScript(readJson(files, `${folder}/package.json`, note)) }));
  const first = packages.find(({ isTested }) => isTested);
  // Otherwise a command that skips packages without tests would pass with nothing tested.
  if (first === undefined) return undefined;
  const { name, why } = packageManager(files, manifest);
  const argv = commands[name];
  if (name === "yarn" && !isModernYarn(files, manifest)) {
    if (packages.every(({ isTested }) => isTested))
      return found(["yarn", "workspaces", "run", "test"], first.folder, why);
    note("Yarn 1 cannot run the tests of workspaces if only some of them have tests.");
    return undefined;
  }
  return found(argv, first.folder, why);
};

const commands = {
  npm: ["npm", "run", "test", "--workspaces", "--if-present"],
  pnpm: ["pnpm", "--recursive", "--if-present", "run", "test"],
  yarn: ["yarn", "workspaces", "foreach", "--all", "run", "test"],
  bun: ["bun", "run", "--filter", "*", "test"],
} as const;

function found(argv: TestCommand["argv"], folder: string, why: string): TestCommand {
  return {
    argv,
    from: "package.json",
    why: `It has workspaces, and "${folder}/package.json" has a script "test". ${why}`.trim(),
  };
}

function patternsOf(files: ProjectFiles, manifest: unknown): readonly string[] {
  const own = fieldOf(manifest, "workspaces");
  const lists = [own, fieldOf(own, "packages"), pnpmPackages(files.read("pnpm-workspace.yaml") ?? "")];
  return lists.flatMap((list) => (Array.isArray(list) ? list.filter((each) => typeof each === "string") : []));
}

/** Reads the list under `packages` line by line, because the YAML parser needs minutes for some texts. */
function pnpmPackages(text: string): readonly string[] {
  const lines = text.replace(/(?<=^|\s)#.*$/gm, "").split("\n");
  const start = lines.findIndex((line) => /^packages[ \t]*:/.test(line));
  if (start === -1) return [];
  const end = lines.findIndex((line, index) => index > start && /^[^\s-]/.test(line));
  const list = lines.slice(start, end === -1 ? undefined : end).join("\n");
  const items = /"([^"\n]*)"|'([^'\n]*)'|(?=[^\s"',[\]-])(?<=[-[,][ \t]*)([^\s,\]]+)/g;
  return [...list.matchAll(items)].map(([, double, single, plain]) => double ?? single ?? plain ?? "");
}

/** The folders of `packages/*`, `packages/**` or `packages/one`. Other patterns are rare, and give none. */
function expand(files: ProjectFiles, pattern: string): readonly string[] {
  const plain = pattern.replace(/^\.\//, "").replace(/\/$/, "");
  const [, parent, star] = /^((?:[\w@-][\w@.-]*\/)*)(?:(\*\*?)|[\w@-][\w@.-]*)$/.exec(plain) ?? [];
  if (parent === undefined) return [];
  return star === undefined ? [plain] : files.list(parent.replace(/\/$/, "")).map((name) => `${parent}${name}`);
}

function isModernYarn(files: ProjectFiles, manifest: unknown): boolean {
  const named = /^yarn@(\d+)/.exec(String(fieldOf(manifest, "packageManager")))?.[1];
  return named === undefined ? files.has(".yarnrc.yml") : Number(named) > 1;
}
