import { describe, expect, test } from "vitest";
import type { ProjectFiles } from "./finders.ts";
import { globOf } from "./glob.ts";
import { protectedChanges } from "./protected.ts";

type Files = Readonly<Record<string, string>>;

function filesOf(files: Files): ProjectFiles {
  return {
    has: (path) => Object.hasOwn(files, path),
    canRun: (path) => Object.hasOwn(files, path),
    list: (folder) => Object.keys(files).filter((path) => path.startsWith(folder)),
    read: (path) => (Object.hasOwn(files, path) ? files[path] : undefined),
  };
}

function changes(
  base: Files,
  edit: Files | ((base: Files) => Files),
  command = ["npm", "run", "test"],
  protect: string[] = [],
) {
  const work = typeof edit === "function" ? edit(base) : { ...base, ...edit };
  const all = new Set([...Object.keys(base), ...Object.keys(work)]);
  const changed = [...all].filter((path) => base[path] !== work[path]);
  return protectedChanges({ base: filesOf(base), work: filesOf(work), changed, commands: [command], protect });
}

const paths = (found: ReturnType<typeof changes>) => found.map(({ path }) => path);
const manifest = (scripts: Files, more: object = {}) => JSON.stringify({ name: "brew", ...more, scripts });

describe("of package.json", () => {
  const base = {
    "package.json": manifest({ test: "npm run unit && node tools/check.mjs", unit: "vitest", dev: "vite" }),
    "tools/check.mjs": "1",
  };

  test.each([
    ["the test script", { test: "exit 0", unit: "vitest", dev: "vite" }],
    ["a script that it runs", { test: "npm run unit && node tools/check.mjs", unit: "true", dev: "vite" }],
    [
      "a new pretest script",
      { test: "npm run unit && node tools/check.mjs", unit: "vitest", dev: "vite", pretest: "rm -r test" },
    ],
    [
      "a post script of what it runs",
      { test: "npm run unit && node tools/check.mjs", unit: "vitest", dev: "vite", postunit: "exit 0" },
    ],
    ["a removed test script", { unit: "vitest", dev: "vite" }],
  ])("%s is protected", (_, scripts) => {
    expect(changes(base, { "package.json": manifest(scripts as Files) })).toMatchObject([
      { path: "package.json", what: "the scripts that run the tests" },
    ]);
  });

  test("other scripts, dependencies and the order of keys are not", () => {
    const scripts = {
      dev: "vite --open",
      unit: "vitest",
      test: "npm run unit && node tools/check.mjs",
      build: "vite build",
    };
    expect(changes(base, { "package.json": manifest(scripts, { dependencies: { left: "1.0.0" } }) })).toEqual([]);
  });

  test("the settings of a runner are", () => {
    const scripts = { test: "npm run unit && node tools/check.mjs", unit: "vitest", dev: "vite" };
    expect(paths(changes(base, { "package.json": manifest(scripts, { jest: { testMatch: [] } }) }))).toEqual([
      "package.json",
    ]);
  });

  test("the restored file has the base's scripts and the work's dependencies", () => {
    const text = manifest({ test: "exit 0", pretest: "true", build: "tsc" }, { dependencies: { left: "1.0.0" } });
    const [change] = changes(base, { "package.json": text });
    expect(JSON.parse(change?.restored ?? "")).toEqual({
      name: "brew",
      dependencies: { left: "1.0.0" },
      scripts: { build: "tsc", test: "npm run unit && node tools/check.mjs", unit: "vitest" },
    });
  });

  test("a file that is not JSON any more is protected, and the base's is restored", () => {
    expect(changes(base, { "package.json": "{" })).toMatchObject([{ path: "package.json", restored: undefined }]);
  });

  test("the scripts of a package in a monorepo are protected too", () => {
    const mono = { "package.json": manifest({}), "packages/a/package.json": manifest({ test: "vitest" }) };
    const command = ["npm", "run", "test", "--workspaces", "--if-present"];
    expect(paths(changes(mono, { "packages/a/package.json": manifest({ test: "true" }) }, command))).toEqual([
      "packages/a/package.json",
    ]);
  });

  test("a file that a script names is the script that runs the tests", () => {
    expect(changes(base, { "tools/check.mjs": "process.exit(0)" })).toMatchObject([
      { path: "tools/check.mjs", what: "the script that runs the tests", restored: undefined },
    ]);
  });
});

describe("of a Makefile", () => {
  const text =
    "RUN = sh run.sh\n\nall: build\n\ntest: lint unit\n\t@echo done\nunit:\n\t$(RUN)\nlint:\n\teslint .\nbuild:\n\tcc a.c\n";
  const base = { Makefile: text };
  const edited = (from: string, to: string) => changes(base, { Makefile: text.replace(from, to) }, ["make", "test"]);

  test.each([
    ["the recipe", "@echo done", "@true"],
    ["the prerequisites", "test: lint unit", "test: lint"],
    ["the recipe of a prerequisite", "\teslint .", "\ttrue"],
    ["a variable", "sh run.sh", "true"],
    ["a new rule for a needed target", "build:\n", "unit:\n\ttrue\nbuild:\n"],
  ])("%s is protected", (_, from, to) => {
    expect(edited(from, to)).toMatchObject([{ path: "Makefile", what: "the targets that run the tests" }]);
  });

  test("a target that the tests do not need is not, nor are comments", () => {
    expect(edited("\tcc a.c", "\tcc -O2 a.c")).toEqual([]);
    expect(edited("all:", "# Builds everything.\nall:")).toEqual([]);
  });

  test("a file that make prefers is", () => {
    expect(paths(changes(base, { GNUmakefile: "test:\n\ttrue\n" }, ["make", "test"]))).toEqual(["GNUmakefile"]);
  });
});

describe("of Python's files", () => {
  const text = '[project]\nname = "brew"\ndependencies = []\n\n[tool.pytest.ini_options]\naddopts = "--strict"\n';

  test("the settings of pytest are protected, the dependencies are not", () => {
    const base = { "pyproject.toml": text };
    const weaker = text.replace("--strict", "--co").replace("dependencies = []", 'dependencies = ["x"]');
    const [change] = changes(base, { "pyproject.toml": weaker }, ["pytest"]);
    expect(change?.what).toBe("the test settings");
    expect(change?.restored).toContain('dependencies = ["x"]');
    expect(change?.restored).toContain("--strict");
    expect(changes(base, { "pyproject.toml": text.replace("[]", '["x"]') }, ["pytest"])).toEqual([]);
  });

  test("sections of setup.cfg are", () => {
    const base = { "setup.cfg": "[metadata]\nname = brew\n[tool:pytest]\naddopts = -q\n" };
    const edit = { "setup.cfg": "[metadata]\nname = tea\n[tool:pytest]\naddopts = --co\n" };
    expect(changes(base, edit, ["pytest"])).toMatchObject([
      { path: "setup.cfg", restored: "[metadata]\nname = tea\n\n[tool:pytest]\naddopts = -q\n" },
    ]);
  });

  test("a new pytest.ini is", () => {
    expect(paths(changes({ "pyproject.toml": text }, { "pytest.ini": "[pytest]\n" }, ["pytest"]))).toEqual([
      "pytest.ini",
    ]);
  });
});

test.each([
  ".github/workflows/ci.yml",
  ".github/workflows/deep/er.yml",
  ".gitlab-ci.yml",
  ".circleci/config.yml",
  "Jenkinsfile",
  ".github/CODEOWNERS",
])("the CI file %s is protected, also where it is new or deleted", (path) => {
  expect(changes({ [path]: "a" }, { [path]: "b" })).toMatchObject([{ path, what: "CI" }]);
  expect(changes({}, { [path]: "b" })).toMatchObject([{ path, what: "CI" }]);
  expect(changes({ [path]: "a" }, () => ({}))).toMatchObject([{ path, what: "CI" }]);
});

test("workflows and the configuration in .signalbox are protected", () => {
  expect(paths(changes({}, { ".signalbox/workflows/mine.yml": "", ".signalbox/config.yml": "" }))).toEqual([
    ".signalbox/config.yml",
    ".signalbox/workflows/mine.yml",
  ]);
});

test("a manifest that is nested too deep is a change, and no error", () => {
  const deep = `{"scripts": ${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
  const composer = { "composer.json": '{"scripts": {"test": "phpunit"}}' };
  expect(paths(changes(composer, { "composer.json": deep }, ["composer", "test"]))).toEqual(["composer.json"]);
});

test("settings of test runners are protected; those of vite only where vitest runs", () => {
  const base = { "package.json": manifest({ test: "vitest run" }) };
  expect(paths(changes(base, { "vitest.config.ts": "", "vite.config.ts": "", ".npmrc": "script-shell=true" }))).toEqual(
    [".npmrc", "vite.config.ts", "vitest.config.ts"],
  );
  expect(changes({ "package.json": manifest({ test: "node --test" }) }, { "vite.config.ts": "" })).toEqual([]);
});

test("tests and sources are not protected, also where the command names a test file", () => {
  const base = { "package.json": manifest({ test: "node --test test/a.test.js" }), "test/a.test.js": "1" };
  expect(changes(base, { "test/a.test.js": "2", "test/b.test.js": "3", "src/a.js": "4" })).toEqual([]);
});

test("test files are protected where the configuration names them", () => {
  const base = { "test/a.test.js": "1", "src/a.js": "1" };
  const edit = { "test/a.test.js": "2", "src/a.js": "2" };
  for (const pattern of ["test/**", "test", "test/", "**/*.test.js", "{test,spec}/a.*", "test/?.test.js"])
    expect(changes(base, edit, [], [pattern])).toMatchObject([
      { path: "test/a.test.js", what: 'protected by "protect"' },
    ]);
});

test("a program that the configured command names is protected, also inside of a shell command", () => {
  const base = { "tools/run.sh": "1", "tools/other.sh": "1" };
  const edit = { "tools/run.sh": "2", "tools/other.sh": "2" };
  for (const command of [
    ["./tools/run.sh"],
    ["sh", "-c", "cd . && ./tools/run.sh -v"],
    ["env", "A=1", "sh", "tools/run"],
  ])
    expect(paths(changes(base, edit, command))).toEqual(["tools/run.sh"]);
});

test("a pattern with characters of regular expressions means those characters", () => {
  expect(globOf("a+(b).x").test("a+(b).x")).toBe(true);
  expect(globOf("a.x").test("abx")).toBe(false);
  expect(globOf("a/{b").test("a/{b")).toBe(true);
  expect(globOf("a/*").test("a/b/c")).toBe(true);
  expect(globOf("*.js").test("a/b.js")).toBe(false);
});

test.each([
  [["python3", "-m", "unittest"], "unittest.py"],
  [["python", "-m", "pytest", "-q"], "pytest/__init__.py"],
  [["sh", "-c", "coverage run -m tools.check"], "tools/check.py"],
])("a module that %j would load from the work is protected; its neighbours are not", (command, file) => {
  const base = { "calc.py": "1", "tests/test_calc.py": "1" };
  expect(changes(base, { [file]: "exit()" }, command)).toMatchObject([{ path: file, restored: undefined }]);
  expect(changes(base, { "tests/test_more.py": "", "unittests.py": "", "m.py": "" }, command)).toEqual([]);
});
