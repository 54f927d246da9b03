import { packageManager } from "./package-manager.ts";
import { hasTestScript } from "./package-script.ts";
import type { Finder, ProjectFiles, TestCommand } from "./project-files.ts";
import { fieldOf, readJson } from "./read-json.ts";

const mostPackages = 500;

/** The scripts of the packages, where the root of a monorepo has none of its own. */
export const workspaceScripts: Finder = (files, note) => {
  const manifest = readJson(files, "package.json", note);
  if (manifest === undefined || hasTestScript(manifest)) return undefined;
  const folders = patternsOf(files, manifest).flatMap((pattern) => expand(files, pattern));
  const packages = [...new Set(folders)]
    .filter((folder) => files.has(`${folder}/package.json`))
    .slice(0, mostPackages)
    .map((folder) => ({ folder, isTested: hasTestScript(readJson(files, `${folder}/package.json`, note)) }));
  const first = packages.find(({ isTested }) => isTested);
  // Without this, a command that leaves out packages without tests would pass with nothing tested.
  if (first === undefined) return undefined;
  const { name, why } = packageManager(files, manifest);
  const argv = commands[name];
  if (name === "yarn" && !isModernYarn(files, manifest)) {
    if (packages.every(({ isTested }) => isTested))
      return found(["yarn", "workspaces", "run", "test"], first.folder, why);
    note("Yarn 1 cannot run the tests of workspaces of which only some have any.");
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

/** The list under `packages`, found by its lines: the parser of YAML needs minutes for some texts. */
function pnpmPackages(text: string): readonly string[] {
  const lines = text.replace(/(?<=^|\s)#.*$/gm, "").split("\n");
  const start = lines.findIndex((line) => /^packages[ \t]*:/.test(line));
  if (start === -1) return [];
  const end = lines.findIndex((line, index) => index > start && /^[^\s-]/.test(line));
  const list = lines.slice(start, end === -1 ? undefined : end).join("\n");
  const items = /"([^"\n]*)"|'([^'\n]*)'|(?=[^\s"',[\]-])(?<=[-[,][ \t]*)([^\s,\]]+)/g;
  return [...list.matchAll(items)].map(([, double, single, plain]) => double ?? single ?? plain ?? "");
}

/** The folders of `packages/*`, `packages/**` or `packages/one`. Other patterns are rare, and name none. */
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
