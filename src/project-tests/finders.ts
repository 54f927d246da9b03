import { fieldOf } from "../json.ts";
import { readJson, readToml } from "./manifests.ts";

export const cargoTests: Finder = (files, note) => {
  const from = "Cargo.toml";
  const manifest = readToml(files, from, note);
  if (isTable(fieldOf(manifest, "workspace"))) {
    return { argv: ["cargo", "test", "--workspace"], from, why: `"${from}" describes a workspace.` };
  }
  if (!isTable(fieldOf(manifest, "package"))) return undefined;
  return { argv: ["cargo", "test"], from, why: `"${from}" describes a package.` };
};

export const composerScript: Finder = (files, note) => {
  const from = "composer.json";
  const script = fieldOf(readJson(files, from, note), "scripts", "test");
  const steps = Array.isArray(script) ? script : [script];
  if (!steps.some((step) => typeof step === "string" && step.trim() !== "")) return undefined;
  // Without this option composer kills the tests after five minutes.
  return {
    argv: ["composer", "run-script", "--timeout=0", "test"],
    from,
    why: `"${from}" has a script "test".`,
  };
};

/** A workflow preset builds before it tests, so it comes before a preset that only tests an existing build. */
export const ctestPresets: Finder = (files, note) => {
  const from = "CMakePresets.json";
  const presets = readJson(files, from, note);
  const workflow = namesOf(presets, "workflowPresets", (preset) =>
    listOf(fieldOf(preset, "steps")).some((step) => fieldOf(step, "type") === "test"),
  )[0];
  if (workflow !== undefined) {
    const why = `"${from}" has the workflow preset "${workflow}", which tests.`;
    return { argv: ["cmake", "--workflow", "--preset", workflow], from, why };
  }
  const [test] = namesOf(presets, "testPresets", (preset) => fieldOf(preset, "hidden") !== true);
  if (test === undefined) return undefined;
  return { argv: ["ctest", "--preset", test], from, why: `"${from}" has the test preset "${test}".` };
};

function namesOf(presets: unknown, kind: string, isMeant: (preset: unknown) => boolean): readonly string[] {
  return (
    listOf(fieldOf(presets, kind))
      .filter(isMeant)
      .map((preset) => fieldOf(preset, "name"))
      // A name that looks like an option would be read as one; an argument cannot contain NUL.
      .filter((name) => typeof name === "string")
      .filter((name) => /^[^-\0][^\0]*$/.test(name))
  );
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export const denoTask: Finder = (files, note) => {
  const from = ["deno.json", "deno.jsonc"].find((name) => files.has(name));
  if (from === undefined) return undefined;
  const task = fieldOf(readJson(files, from, note), "tasks", "test");
  const command = typeof task === "object" ? fieldOf(task, "command") : task;
  if (typeof command !== "string" || command.trim() === "") return undefined;
  return { argv: ["deno", "task", "test"], from, why: `"${from}" has a task "test".` };
};

export const dotnetTests: Finder = (files) => {
  const names = files.list("");
  const from = names.find((name) => /\.slnx?$/.test(name)) ?? names.find((name) => /\.(?:cs|fs|vb)proj$/.test(name));
  if (from === undefined || from.includes("\0")) return undefined;
  // Named explicitly, because dotnet refuses to choose among several.
  return { argv: ["dotnet", "test", `./${from}`], from, why: `There is a "${from}".` };
};

export const goTests: Finder = (files) => {
  const modules = modulesOf(files.read("go.work") ?? "");
  if (modules.length > 0) {
    const argv = ["go", "test", ...modules.map((folder) => `${folder}/...`)] as const;
    return { argv, from: "go.work", why: '"go.work" names the modules.' };
  }
  if (!files.has("go.mod")) return undefined;
  return { argv: ["go", "test", "./..."], from: "go.mod", why: 'There is a "go.mod".' };
};

/** The modules in go.work: on one line, or one per line in brackets. Modules outside the project are left out. */
function modulesOf(text: string): readonly string[] {
  let isInBrackets = false;
  const modules: string[] = [];
  for (const line of text.split("\n")) {
    const words = line.replace(/\/\/.*$/, "").split(/\s+/);
    const [first, second] = words.filter((word) => word !== "");
    if (first === ")") isInBrackets = false;
    else if (isInBrackets) modules.push(first ?? "");
    else if (first === "use" && second === "(") isInBrackets = true;
    else if (first === "use") modules.push(second ?? "");
  }
  return [...new Set(modules)]
    .map((folder) => folder.replace(/^(["`])(.*)\1$/, "$2").replace(/\/$/, ""))
    .filter((folder) => /^\.(?:\/[\w@.-]+)*$/.test(folder) && !folder.split("/").includes(".."));
}

export const gradleTests: Finder = (files) => {
  const names = ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"];
  const from = names.find((name) => files.has(name));
  if (from === undefined) return undefined;
  const program = files.has("gradlew") ? scriptIn(files, "gradlew") : (["gradle"] as const);
  return { argv: [...program, "--console=plain", "test"], from, why: `There is a "${from}".` };
};

export const justRecipe: Finder = (files) => {
  const from = files.list("").find((name) => /^\.?justfile$/i.test(name));
  if (from === undefined || !files.read(from)?.split("\n").some(isTestRecipe)) return undefined;
  return { argv: ["just", "test"], from, why: `"${from}" has a recipe "test".` };
};

/** Whether the line begins a recipe `test` that can be called without arguments, or an alias of that name. */
function isTestRecipe(line: string): boolean {
  if (/^alias[ \t]+test[ \t]*:=/.test(line)) return true;
  const [, rest] = /^@?test(?=[ \t:])(.*)$/.exec(line.trimEnd()) ?? [];
  return rest !== undefined && /^[ \t]*:(?!=)/.test(withoutOptional(rest));
}

/** Removes the parameters that need no argument: those with a default, and `*rest`. */
function withoutOptional(parameters: string): string {
  const optional = /[ \t]+(?:[*+]?\$?[\w-]+=(?:"[^"]*"|'[^']*'|[^\s:"'=]+)|\*\$?[\w-]+)(?=[ \t:])/y;
  let end = 0;
  while (optional.test(parameters)) end = optional.lastIndex;
  return parameters.slice(end);
}

export const makeTarget: Finder = (files) => {
  // The order in which make searches; it reads only the first.
  const from = ["GNUmakefile", "makefile", "Makefile"].find((name) => files.has(name));
  if (from === undefined || !hasTarget(files.read(from) ?? "", "test")) return undefined;
  return { argv: ["make", "test"], from, why: `"${from}" has a target "test".` };
};

/** Whether a rule builds the target: it has a recipe or prerequisites, because make treats any other as done. */
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

/** A line that begins a rule: its targets and prerequisites. Undefined for any other line. */
export function readRule(line: string): MakeRule | undefined {
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

export const mavenTests: Finder = (files, note) => {
  const from = "pom.xml";
  const text = files.read(from);
  if (text === undefined) return undefined;
  if (!text.includes("<project")) {
    note(`"${from}" has no "project" element.`);
    return undefined;
  }
  const program = files.has("mvnw") ? scriptIn(files, "mvnw") : (["mvn"] as const);
  return { argv: [...program, "--batch-mode", "test"], from, why: `There is a "${from}".` };
};

export const mixTests: Finder = (files) =>
  files.has("mix.exs") ? { argv: ["mix", "test"], from: "mix.exs", why: 'There is a "mix.exs".' } : undefined;

/** A program of the project whose only purpose is to run the tests. */
export const ownScript: Finder = (files) => {
  // A program without that line was compiled, perhaps from an older commit.
  const from = ["bin/test", "script/test"].find((path) => files.canRun(path) && files.read(path)?.startsWith("#!"));
  if (from === undefined) return undefined;
  return { argv: [`./${from}`], from, why: `The project has a program "${from}".` };
};

export const phpunitTests: Finder = (files, note) => {
  const from = ["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"].find((name) => files.has(name));
  if (from === undefined) return undefined;
  if (!files.read(from)?.includes("<phpunit")) {
    note(`"${from}" has no "phpunit" element.`);
    return undefined;
  }
  const own = ["vendor/bin/phpunit", "bin/phpunit"].find((path) => files.canRun(path));
  return { argv: [own === undefined ? "phpunit" : `./${own}`], from, why: `There is a "${from}".` };
};

/** Read access to a project's files. Paths are relative to its folder, with slashes. */
export interface ProjectFiles {
  /** Whether there is such a file. */
  has(path: string): boolean;
  /** Whether the file may be run as a program. */
  canRun(path: string): boolean;
  /** The sorted names in a folder; empty if there is no such folder. The project's root is "". */
  list(folder: string): readonly string[];
  /** The text of a file; undefined if it does not exist or is too large. */
  read(path: string): string | undefined;
}

export interface TestCommand {
  /** The program and its arguments, run without a shell. */
  readonly argv: readonly [string, ...string[]];
  /** The file that it was found in. */
  readonly from: string;
  /** A sentence that explains to a person why this command is run. */
  readonly why: string;
}

/** Searches for one kind of command. Skips unreadable files, with a note about each. */
export type Finder = (files: ProjectFiles, note: (sentence: string) => void) => TestCommand | undefined;

/** The command that runs a script of the project: the executable bit may be missing in git. */
function scriptIn(files: ProjectFiles, path: string): readonly [string, ...string[]] {
  return files.canRun(path) ? [`./${path}`] : ["sh", `./${path}`];
}

/** Finds pytest if a file configures it. */
export const configuredPytest: Finder = (files, note) => {
  const own = ["pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"].find((name) => files.has(name));
  if (own !== undefined) return found(files, own, `There is a "${own}".`);
  if (isTable(fieldOf(readToml(files, "pyproject.toml", note), "tool", "pytest")))
    return found(files, ...configures("pyproject.toml"));
  if (/^\[pytest\]/m.test(files.read("tox.ini") ?? "")) return found(files, ...configures("tox.ini"));
  if (/^\[tool:pytest\]/m.test(files.read("setup.cfg") ?? "")) return found(files, ...configures("setup.cfg"));
  return undefined;
};

/** Finds pytest if files have names that pytest searches for. */
export const pytestFiles: Finder = (files) => {
  for (const folder of ["", "tests", "test"]) {
    const name = files.list(folder).find((each) => /^(?:test_.*|.*_test|conftest)\.py$/.test(each));
    const from = folder === "" ? name : `${folder}/${name}`;
    if (name !== undefined && from !== undefined) return found(files, from, `There is a "${from}".`);
  }
  return undefined;
};

function found(files: ProjectFiles, from: string, why: string): TestCommand {
  const [program, file] = runnerOf(files);
  return { argv: program, from, why: file === undefined ? why : `${why} There is a "${file}".` };
}

function configures(file: string): readonly [file: string, why: string] {
  return [file, `"${file}" configures pytest.`];
}

/** The command that runs pytest with the project's own packages, and the file that shows it. */
function runnerOf(files: ProjectFiles): readonly [argv: TestCommand["argv"], file?: string] {
  const locked = locks.find(([file]) => files.has(file));
  if (locked !== undefined) return [[locked[1], "run", "pytest"], locked[0]];
  const project = readToml(files, "pyproject.toml", () => {});
  const named = tools.find((tool) => isTable(fieldOf(project, "tool", tool)));
  if (named !== undefined) return [[named, "run", "pytest"], "pyproject.toml"];
  const own = [".venv/bin/pytest", "venv/bin/pytest"].find((path) => files.canRun(path));
  return own === undefined ? [["pytest"]] : [[`./${own}`], own];
}

const tools = ["uv", "poetry", "pdm"] as const;
const locks = [
  ["uv.lock", "uv"],
  ["poetry.lock", "poetry"],
  ["pdm.lock", "pdm"],
  ["Pipfile.lock", "pipenv"],
  ["Pipfile", "pipenv"],
] as const;

function isTable(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

export const railsTests: Finder = (files) => {
  const from = "bin/rails";
  if (!files.has(from) || files.list("test").length === 0) return undefined;
  const argv = files.canRun(from) ? scriptIn(files, from) : (["ruby", `./${from}`] as const);
  return { argv: [...argv, "test"], from, why: `There are "${from}" and a folder "test".` };
};

export const rakeTask: Finder = (files) => {
  const from = ["rakefile", "Rakefile", "rakefile.rb", "Rakefile.rb"].find((name) => files.has(name));
  if (from === undefined || !hasTestTask(files.read(from) ?? "")) return undefined;
  const argv = files.has("Gemfile") ? (["bundle", "exec", "rake", "test"] as const) : (["rake", "test"] as const);
  return { argv, from, why: `"${from}" has a task "test".` };
};

// Only at the start of a line: an indented task is in a namespace, and has another name.
function hasTestTask(text: string): boolean {
  if (/^(?:multi)?task[ \t(]+(?::test\b|"test"|'test'|test:)/m.test(text)) return true;
  const names = /^(?:Rake|Minitest)::TestTask\.(?:new|create)\b[ \t(]*(?::(\w+)|["'](\w+)["'])?/gm;
  return [...text.matchAll(names)].some(([, symbol, quoted]) => (symbol ?? quoted ?? "test") === "test");
}

export const rspecTests: Finder = (files) => {
  const asksForRspec = /^[ \t]*gem[ \t(]+["']rspec(?:-rails|-core)?["']/m.test(files.read("Gemfile") ?? "");
  const from = files.has(".rspec") ? ".rspec" : asksForRspec ? "Gemfile" : undefined;
  if (from === undefined) return undefined;
  const argv = files.has("Gemfile") ? (["bundle", "exec", "rspec"] as const) : (["rspec"] as const);
  return { argv, from, why: from === ".rspec" ? 'There is a ".rspec".' : '"Gemfile" asks for rspec.' };
};
