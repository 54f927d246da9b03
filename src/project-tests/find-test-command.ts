import {
  cargoTests,
  composerScript,
  configuredPytest,
  ctestPresets,
  denoTask,
  dotnetTests,
  type Finder,
  goTests,
  gradleTests,
  justRecipe,
  makeTarget,
  mavenTests,
  mixTests,
  ownScript,
  type ProjectFiles,
  phpunitTests,
  pytestFiles,
  railsTests,
  rakeTask,
  rspecTests,
  type TestCommand,
} from "./finders.ts";
import { packageScript, workspaceScripts } from "./package-scripts.ts";

type TestCommandSearch =
  | {
      readonly kind: "found";
      /** The best first. */
      readonly commands: readonly [TestCommand, ...TestCommand[]];
      readonly notes: readonly string[];
    }
  | {
      readonly kind: "none";
      /** Files that could not be read, as sentences. */
      readonly notes: readonly string[];
    };

/** Detects the test command from a project's files. Never throws, whatever they contain. */
export function findTestCommand(files: ProjectFiles): TestCommandSearch {
  const notes = new Set<string>();
  const all = finders.flatMap((find) => find(files, (sentence) => notes.add(sentence)) ?? []);
  const [best, ...others] = all.filter(
    ({ argv }, index) => all.findIndex((each) => each.argv.join("\0") === argv.join("\0")) === index,
  );
  if (best === undefined) return { kind: "none", notes: [...notes] };
  return { kind: "found", commands: [best, ...others], notes: [...notes] };
}

const finders: readonly Finder[] = [
  // The project's own commands come before its language's default, and a caller before the program that it calls: a
  // Makefile often runs npm among other things, while a package.json that runs make means the same as the Makefile.
  ownScript,
  justRecipe,
  makeTarget,
  packageScript,
  denoTask,
  composerScript,
  rakeTask,
  workspaceScripts,
  // A configured runner proves that there are tests; a Cargo.toml proves only that there is Rust.
  configuredPytest,
  rspecTests,
  phpunitTests,
  ctestPresets,
  railsTests,
  cargoTests,
  goTests,
  mavenTests,
  gradleTests,
  dotnetTests,
  mixTests,
  pytestFiles,
];

interface SetupCommand {
  readonly argv: readonly string[];
  /** The file that it was found in. */
  readonly from: string;
}

/** Detects from a project's files the command that prepares a fresh checkout by installing its dependencies. */
export function findSetupCommand(files: ProjectFiles): SetupCommand | undefined {
  const found = [setupScript, setupTarget, installer].map((find) => find(files)).find((each) => each !== undefined);
  return found;
}

/** The project's own setup command comes before its language's default. */
function setupScript(files: ProjectFiles): SetupCommand | undefined {
  const from = ["scripts/setup", "scripts/setup.sh", "script/setup", "script/bootstrap", "bin/setup"].find(
    files.canRun,
  );
  return from === undefined ? undefined : { argv: [`./${from}`], from };
}

function setupTarget(files: ProjectFiles): SetupCommand | undefined {
  const from = ["Makefile", "makefile", "GNUmakefile"].find(files.has);
  const target = ["setup", "bootstrap"].find((name) =>
    new RegExp(`^${name}\\s*:(?!=)`, "m").test((from && files.read(from)) ?? ""),
  );
  return from === undefined || target === undefined ? undefined : { argv: ["make", target], from };
}

/** Files that identify a package manager, with its command that installs exactly the locked versions. */
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
  // Newer versions of yarn have another flag for it.
  if (from === "yarn.lock" && files.has(".yarnrc.yml")) return { argv: ["yarn", "install", "--immutable"], from };
  return { argv, from };
}

/** A manifest without a lock file may exist only for its scripts. */
function needsPackages(files: ProjectFiles): boolean {
  return /"(dev)?[dD]ependencies"\s*:\s*\{\s*"/.test(files.read("package.json") ?? "");
}
