import type { ProjectFiles } from "./test-command/project-files.ts";

export interface SetupCommand {
  readonly argv: readonly string[];
  /** The file that says so. */
  readonly from: string;
}

/** Works out from a project's files how a fresh checkout is made ready: how its dependencies are installed. */
export function findSetupCommand(files: ProjectFiles): SetupCommand | undefined {
  const found = [ownScript, makeTarget, installer].map((find) => find(files)).find((each) => each !== undefined);
  return found;
}

/** What a project wrote down itself comes before what its language usually does. */
function ownScript(files: ProjectFiles): SetupCommand | undefined {
  const from = ["scripts/setup", "scripts/setup.sh", "script/setup", "script/bootstrap", "bin/setup"].find(
    files.canRun,
  );
  return from === undefined ? undefined : { argv: [`./${from}`], from };
}

function makeTarget(files: ProjectFiles): SetupCommand | undefined {
  const from = ["Makefile", "makefile", "GNUmakefile"].find(files.has);
  const target = ["setup", "bootstrap"].find((name) =>
    new RegExp(`^${name}\\s*:(?!=)`, "m").test((from && files.read(from)) ?? ""),
  );
  return from === undefined || target === undefined ? undefined : { argv: ["make", target], from };
}

/** The file by which a program is known that installs exactly what was locked, and how it is called. */
const installers: readonly (readonly [file: string, argv: readonly string[]])[] = [
  ["bun.lock", ["bun", "install", "--frozen-lockfile"]],
  ["bun.lockb", ["bun", "install", "--frozen-lockfile"]],
  ["pnpm-lock.yaml", ["pnpm", "install", "--frozen-lockfile"]],
  ["yarn.lock", ["yarn", "install", "--frozen-lockfile"]],
  ["package-lock.json", ["npm", "ci"]],
  ["npm-shrinkwrap.json", ["npm", "ci"]],
  ["package.json", ["npm", "install"]],
  ["uv.lock", ["uv", "sync"]],
  ["poetry.lock", ["poetry", "install"]],
  ["Pipfile.lock", ["pipenv", "sync", "--dev"]],
  ["requirements.txt", ["sh", "-c", "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"]],
  ["Cargo.toml", ["cargo", "fetch"]],
  ["go.mod", ["go", "mod", "download"]],
  ["Gemfile.lock", ["bundle", "install"]],
  ["composer.lock", ["composer", "install"]],
  ["mix.lock", ["mix", "deps.get"]],
];

function installer(files: ProjectFiles): SetupCommand | undefined {
  const [from, argv] = installers.find(([file]) => files.has(file)) ?? [];
  if (from === undefined || argv === undefined || (from === "package.json" && !needsPackages(files))) return undefined;
  // Newer versions of yarn have another word for it.
  if (from === "yarn.lock" && files.has(".yarnrc.yml")) return { argv: ["yarn", "install", "--immutable"], from };
  return { argv, from };
}

/** A manifest without a lock file may only be there for its scripts. */
function needsPackages(files: ProjectFiles): boolean {
  return /"(dev)?[dD]ependencies"\s*:\s*\{\s*"/.test(files.read("package.json") ?? "");
}
