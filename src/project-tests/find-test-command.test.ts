import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ownTime } from "../../test/scripted-ports.ts";
import { findTestCommand } from "./find-test-command.ts";
import type { ProjectFiles } from "./finders.ts";

/** A project made of texts; files whose text begins like a program are executable. */
function project(texts: Readonly<Record<string, string>>): ProjectFiles {
  const paths = Object.keys(texts);
  return {
    has: (path) => Object.hasOwn(texts, path),
    canRun: (path) => Object.hasOwn(texts, path) && /^(?:#!|\u007fELF)/.test(texts[path] ?? ""),
    list: (folder) => {
      const start = folder === "" ? "" : `${folder}/`;
      const inside = paths.filter((path) => path.startsWith(start)).map((path) => path.slice(start.length));
      return [...new Set(inside.map((path) => path.split("/")[0] ?? ""))].sort();
    },
    read: (path) => (Object.hasOwn(texts, path) ? texts[path] : undefined),
  };
}

function commandsOf(texts: Readonly<Record<string, string>>): readonly string[] {
  const search = findTestCommand(project(texts));
  return search.kind === "none" ? [] : search.commands.map(({ argv }) => argv.join(" "));
}

const script = (text: string) => JSON.stringify({ scripts: { test: text } });
const placeholder = script('echo "Error: no test specified" && exit 1');
const workspaces = JSON.stringify({ workspaces: ["packages/*"] });

describe("finds", () => {
  test.each<readonly [string, Readonly<Record<string, string>>, string]>([
    ["npm by default", { "package.json": script("vitest") }, "npm run test"],
    ["pnpm by its lockfile", { "package.json": script("vitest"), "pnpm-lock.yaml": "" }, "pnpm run test"],
    ["yarn by its lockfile", { "package.json": script("jest"), "yarn.lock": "" }, "yarn run test"],
    ["bun by its lockfile", { "package.json": script("x"), "bun.lock": "" }, "bun run test"],
    ["bun by its old lockfile", { "package.json": script("x"), "bun.lockb": "" }, "bun run test"],
    [
      "npm's lockfile after all others",
      { "package.json": script("x"), "package-lock.json": "", "yarn.lock": "" },
      "yarn run test",
    ],
    [
      "the program in packageManager before any lockfile",
      {
        "package.json": '{"packageManager":"pnpm@9.1.0","scripts":{"test":"x"}}',
        "yarn.lock": "",
        "package-lock.json": "",
      },
      "pnpm run test",
    ],
    [
      "the program in devEngines",
      { "package.json": '{"devEngines":{"packageManager":{"name":"bun"}},"scripts":{"test":"x"}}' },
      "bun run test",
    ],
    [
      "the lockfile's program where packageManager is unknown",
      { "package.json": '{"packageManager":"rm@1","scripts":{"test":"x"}}', "yarn.lock": "" },
      "yarn run test",
    ],
    ["a script after a byte order mark", { "package.json": `\uFEFF${script("x")}` }, "npm run test"],
    ["a deno task", { "deno.json": '{"tasks":{"test":"deno test -A"}}' }, "deno task test"],
    [
      "a deno task among comments",
      { "deno.jsonc": '{ // see https://x\n "tasks": { /* all */ "test": { "command": "deno test \\"//\\"", }, }, }' },
      "deno task test",
    ],
    [
      "the workspaces' scripts with npm",
      { "package.json": workspaces, "packages/a/package.json": script("x") },
      "npm run test --workspaces --if-present",
    ],
    [
      "the workspaces' scripts with pnpm",
      {
        "package.json": "{}",
        "pnpm-workspace.yaml": "packages: ['apps/**', '!apps/b']",
        "apps/a/package.json": script("x"),
      },
      "pnpm --recursive --if-present run test",
    ],
    [
      "the workspaces' scripts with pnpm, one below the other",
      {
        "package.json": "{}",
        "pnpm-workspace.yaml": 'catalog:\n  x: 1\npackages:\n# all\n- "b/*"\n- apps/*  # here\n\nnodeLinker: hoisted\n',
        "apps/a/package.json": script("x"),
      },
      "pnpm --recursive --if-present run test",
    ],
    [
      "the workspaces' scripts with a modern yarn",
      {
        "package.json": '{"workspaces":{"packages":["./a/"]},"packageManager":"yarn@4.1.0"}',
        "a/package.json": script("x"),
      },
      "yarn workspaces foreach --all run test",
    ],
    [
      "the workspaces' scripts with yarn 1 where all have one",
      { "package.json": workspaces, "yarn.lock": "", "packages/a/package.json": script("x") },
      "yarn workspaces run test",
    ],
    [
      "the workspaces' scripts with bun",
      { "package.json": workspaces, "bun.lock": "", "packages/a/package.json": script("x") },
      "bun run --filter * test",
    ],
    [
      "the root's script before those of workspaces",
      {
        "package.json": '{"workspaces":["packages/*"],"scripts":{"test":"turbo test"}}',
        "packages/a/package.json": script("x"),
      },
      "npm run test",
    ],
    ["pytest by pyproject.toml", { "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-q'" }, "pytest"],
    [
      "pytest by the newer table",
      { "pyproject.toml": "[project]\nname = 'x'\n[ tool . 'pytest' ] # here\n" },
      "pytest",
    ],
    ["pytest by a dotted key", { "pyproject.toml": "tool.pytest.ini_options.addopts = '-q'" }, "pytest"],
    ["pytest by a table after a long text", { "pyproject.toml": "a = '''\n[x\n'''\n[tool.pytest]\n" }, "pytest"],
    ["pytest by an empty pytest.ini", { "pytest.ini": "" }, "pytest"],
    ["pytest by setup.cfg", { "setup.cfg": "[metadata]\n[tool:pytest]\n" }, "pytest"],
    ["pytest by tox.ini", { "tox.ini": "[tox]\n[pytest]\n" }, "pytest"],
    ["pytest by a test's name", { "tests/test_a.py": "" }, "pytest"],
    ["pytest by the other kind of name", { "test/a_test.py": "" }, "pytest"],
    ["pytest through uv", { "pytest.ini": "", "uv.lock": "", Pipfile: "" }, "uv run pytest"],
    ["pytest through poetry", { "pytest.ini": "", "poetry.lock": "" }, "poetry run pytest"],
    [
      "pytest through poetry by its table",
      { "pyproject.toml": "[tool.poetry.group.dev]\n[tool.pytest]\n" },
      "poetry run pytest",
    ],
    ["pytest through pdm", { "pytest.ini": "", "pdm.lock": "" }, "pdm run pytest"],
    ["pytest through pipenv", { "tests/test_a.py": "", "Pipfile.lock": "" }, "pipenv run pytest"],
    [
      "pytest in the project's own environment",
      { "pytest.ini": "", ".venv/bin/pytest": "#!python" },
      "./.venv/bin/pytest",
    ],
    ["cargo for a package", { "Cargo.toml": '[package]\nname = "x"\n' }, "cargo test"],
    [
      "cargo for a workspace",
      { "Cargo.toml": '[workspace]\nmembers = [\n  "a", # ]\n  "b",\n]\n' },
      "cargo test --workspace",
    ],
    ["go for a module", { "go.mod": "module x" }, "go test ./..."],
    [
      "go for a workspace",
      { "go.work": 'go 1.22\nuse (\n  ./a // first\n  "./b/"\n  ../c\n)\nuse .\n' },
      "go test ./a/... ./b/... ./...",
    ],
    ["maven", { "pom.xml": "<project/>" }, "mvn --batch-mode test"],
    ["maven's wrapper first", { "pom.xml": "<project/>", mvnw: "#!/bin/sh" }, "./mvnw --batch-mode test"],
    ["a wrapper that may not be run", { "pom.xml": "<project/>", mvnw: "exec mvn" }, "sh ./mvnw --batch-mode test"],
    ["gradle", { "build.gradle": "" }, "gradle --console=plain test"],
    ["gradle's wrapper first", { "settings.gradle.kts": "", gradlew: "#!/bin/sh" }, "./gradlew --console=plain test"],
    ["a target of make", { Makefile: ".PHONY: test\ntest: build\n\tgo test\n" }, "make test"],
    ["a target with a recipe after a comment", { makefile: "test:\n# why\n\n\tx\n" }, "make test"],
    ["a target among others, over two lines", { GNUmakefile: "check \\\n test: a\n" }, "make test"],
    ["a target with a recipe on its line", { Makefile: "test: ;FOO=1 run\n" }, "make test"],
    ["a target with two colons", { Makefile: "test:: a\n" }, "make test"],
    ["a target after variables", { Makefile: "A := test:\nB = x:y\ntest: CI = 1\ntest: a\n" }, "make test"],
    ["a target with carriage returns", { Makefile: "test:\r\n\tx\r\n" }, "make test"],
    ["a recipe of just", { justfile: "build:\n  x\n\n@test: build\n  x\n" }, "just test"],
    ["a recipe of just with optional parameters", { ".justfile": "test filter='a: b' *args:\n  x" }, "just test"],
    ["another name of a recipe", { Justfile: "alias test := check\n" }, "just test"],
    ["a solution of .NET", { "App.sln": "", "A.csproj": "" }, "dotnet test ./App.sln"],
    ["a project of .NET", { "-x.fsproj": "" }, "dotnet test ./-x.fsproj"],
    ["mix", { "mix.exs": "" }, "mix test"],
    ["rspec", { ".rspec": "" }, "rspec"],
    ["rspec by the Gemfile", { Gemfile: "group :test do\n  gem 'rspec-rails'\nend" }, "bundle exec rspec"],
    ["a rake task", { Rakefile: "task default: :test\ntask :test => :build do\nend" }, "rake test"],
    ["a rake task in newer syntax", { Rakefile: "task(test: [:a])", Gemfile: "" }, "bundle exec rake test"],
    ["a task of rake's own class", { Rakefile: "Rake::TestTask.new do |t|\nend" }, "rake test"],
    ["rails", { "bin/rails": "#!ruby", "test/models/a.rb": "" }, "./bin/rails test"],
    [
      "a script of composer",
      { "composer.json": '{"scripts":{"test":["@phpunit"]}}' },
      "composer run-script --timeout=0 test",
    ],
    ["phpunit", { "phpunit.xml.dist": "<phpunit/>" }, "phpunit"],
    [
      "the project's own phpunit",
      { "phpunit.xml": "<?xml?><phpunit></phpunit>", "vendor/bin/phpunit": "#!php" },
      "./vendor/bin/phpunit",
    ],
    [
      "a preset of ctest",
      { "CMakePresets.json": '{"testPresets":[{"name":"base","hidden":true},{"name":"all"}]}' },
      "ctest --preset all",
    ],
    [
      "a workflow of cmake that tests",
      {
        "CMakePresets.json":
          '{"testPresets":[{"name":"all"}],"workflowPresets":[{"name":"b","steps":[{"type":"build"}]},{"name":"ci","steps":[{"type":"build"},{"type":"test"}]}]}',
      },
      "cmake --workflow --preset ci",
    ],
    ["the project's own program", { "bin/test": "#!/bin/sh" }, "./bin/test"],
    ["the project's own program elsewhere", { "script/test": "#!/bin/sh" }, "./script/test"],
  ])("%s", (_, texts, command) => {
    expect(commandsOf(texts)[0]).toBe(command);
  });
});

describe("no test command is found", () => {
  test.each<readonly [string, Readonly<Record<string, string>>]>([
    ["in an empty folder", {}],
    ["in npm's placeholder", { "package.json": placeholder }],
    ["in an empty script", { "package.json": script(" ") }],
    ["in a package.json that is no object", { "package.json": "null" }],
    [
      "in inherited names",
      { "package.json": '{"scripts":"test"}', "deno.json": '{"tasks":[]}', "composer.json": "[]" },
    ],
    ["in workspaces without scripts", { "package.json": workspaces, "packages/a/package.json": placeholder }],
    [
      "in workspaces outside the project",
      { "package.json": '{"workspaces":["../a","/a","*/**/b"]}', "../a/package.json": script("x") },
    ],
    ["where a target is only declared phony", { Makefile: ".PHONY: test\n.PHONY: all test\n" }],
    ["where a target does nothing", { Makefile: "test:\nall:\n\techo\n" }],
    [
      "where only a recipe's line, a comment or a definition has the target",
      { Makefile: "all:\n\ttest: x\n# test: x\ndefine D\ntest: x\nendef\n" },
    ],
    ["where the target only gets a variable", { Makefile: "test: export CI := 1\ntest: A+=b\n\n" }],
    ["where a variable is called test", { Makefile: "test := a:b\ntest ::= a\ntest = a: b\ntest ?= a:b\n" }],
    ["where targets only begin with test", { Makefile: "test-unit: a\nunit/test: a\ntest.o: a\n" }],
    ["in the Makefile that make does not read", { GNUmakefile: "all: a\n", Makefile: "test: a\n" }],
    ["where a recipe of just needs an argument", { justfile: "test name:\n  x\ntest-all:\n  x\ntest := 'a:'\n" }],
    [
      "where rake's task has another name",
      { Rakefile: "task default: :test\nnamespace :db do\n  task :test\nend\nRake::TestTask.new(:unit)" },
    ],
    ["in a table inside a text", { "pyproject.toml": 'a = """\n[tool.pytest]\n"""\nb = [\n["x"],\n]\n' }],
    ["in a Cargo.toml that describes nothing", { "Cargo.toml": "[profile.release]\nlto = true" }],
    ["in a compiled program", { "bin/test": "\u007fELF" }],
    ["in a Cargo.toml whose package is no table", { "Cargo.toml": "package = 1" }],
    [
      "in a field named __proto__",
      {
        "package.json": '{ "__proto__": { "scripts": { "test": "x" } }, } // no own field',
        "pyproject.toml": "[__proto__.tool.pytest]",
        "Cargo.toml": "[__proto__]\npackage = {}",
      },
    ],
    ["in a preset that looks like an option", { "CMakePresets.json": '{"testPresets":[{"name":"--help"}]}' }],
    ["in a folder of rails without tests", { "bin/rails": "#!ruby" }],
  ])("%s", (_, texts) => {
    expect(commandsOf(texts)).toEqual([]);
  });
});

test("the project's own command comes before its language's default, and a caller before the program that it calls", () => {
  const all = {
    "script/test": "#!/bin/sh",
    justfile: "test:\n  x",
    Makefile: "test: a",
    "package.json": script("vitest"),
    "pyproject.toml": "[tool.pytest]\n",
    "Cargo.toml": "[package]\n",
    "go.mod": "",
    "tests/test_a.py": "",
  };
  expect(commandsOf(all)).toEqual([
    "./script/test",
    "just test",
    "make test",
    "npm run test",
    "pytest",
    "cargo test",
    "go test ./...",
  ]);
});

test("a command comes with its file and the reason", () => {
  expect(findTestCommand(project({ "package.json": script("x"), "pnpm-lock.yaml": "" }))).toEqual({
    kind: "found",
    commands: [
      {
        argv: ["pnpm", "run", "test"],
        from: "package.json",
        why: '"package.json" has a script "test". There is a "pnpm-lock.yaml".',
      },
    ],
    notes: [],
  });
});

test("an unreadable file is skipped and noted once", () => {
  const broken = {
    "package.json": '{"scripts":',
    "deno.json": "{",
    "composer.json": "<",
    "pyproject.toml": "[tool.pytest\n",
    "Cargo.toml": '[package]\nname = "x\n',
    "pom.xml": "",
    "phpunit.xml": "<",
    "CMakePresets.json": "",
  };
  expect(findTestCommand(project({ ...broken, "go.mod": "" }))).toMatchObject({
    commands: [{ argv: ["go", "test", "./..."] }],
    notes: [
      '"package.json" is not valid JSON.',
      '"deno.json" is not valid JSON.',
      '"composer.json" is not valid JSON.',
      '"pyproject.toml" is not valid TOML.',
      '"phpunit.xml" has no "phpunit" element.',
      '"CMakePresets.json" is not valid JSON.',
      '"Cargo.toml" is not valid TOML.',
      '"pom.xml" has no "project" element.',
    ],
  });
});

test("files that are nested too deep for a parser count as broken", () => {
  const deep = "[".repeat(1_000_000);
  expect(findTestCommand(project({ "package.json": `// ${deep}\n${deep}`, "Cargo.toml": `a = ${deep}` }))).toEqual({
    kind: "none",
    notes: ['"package.json" is not valid JSON.', '"Cargo.toml" is not valid TOML.'],
  });
});

test("yarn 1 is not used for workspaces that it cannot test", () => {
  const some = { "packages/a/package.json": script("x"), "packages/b/package.json": "{}" };
  expect(findTestCommand(project({ "package.json": workspaces, "yarn.lock": "", ...some }))).toEqual({
    kind: "none",
    notes: ["Yarn 1 cannot run the tests of workspaces if only some of them have tests."],
  });
});

const paths = [
  ...["package.json", "pnpm-workspace.yaml", "packages/a/package.json", "yarn.lock", "deno.jsonc", "composer.json"],
  ...["pyproject.toml", "setup.cfg", "tox.ini", "Cargo.toml", "go.work", "go.mod", "pom.xml", "phpunit.xml"],
  ...["Makefile", "justfile", "Rakefile", "Gemfile", "CMakePresets.json", "bin/test", "build.gradle", "a.sln"],
];
const pieces = [
  ...[
    '{"scripts":{"test":',
    '"x"',
    "}}",
    "{",
    "}",
    "[",
    "]",
    ",",
    '"',
    "'",
    '"""',
    "'''",
    "\\",
    "\n",
    "\t",
    " ",
    "#",
    "//",
  ],
  ...[
    "/*",
    "*/",
    "test",
    ":",
    "=",
    "test:",
    "\ntest: a\n",
    "[tool.pytest]\n",
    "[package]\n",
    "use (",
    "./a",
    "null",
    "1e999",
  ],
  ...[
    '"workspaces":["packages/*"]',
    "packages:\n- packages/*\n",
    "&a [*a, *a]",
    "__proto__",
    "task :test",
    "gem 'rspec'",
  ],
  ...[
    "<project",
    "<phpunit",
    "define",
    "endef",
    "#!",
    "\u0000",
    "\ud800",
    "\uFEFF",
    '"testPresets":[{"name":"a"}]',
    "alias test :=",
  ],
];
const anyText = fc.oneof(
  fc.array(fc.constantFrom(...pieces), { maxLength: 30, size: "max" }).map((all) => all.join("")),
  fc.string({ unit: "binary", maxLength: 40, size: "max" }),
  fc.json(),
);

test("a command or none is found, whatever is in the files", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom(...paths), anyText, { noNullPrototype: true, size: "max", maxKeys: 15 }),
      (texts) => {
        const search = findTestCommand(project(texts));
        if (search.kind === "none") return;
        for (const { argv, from, why } of search.commands) {
          for (const word of argv) expect(word).toMatch(/^[^\0]+$/);
          expect(argv).not.toContain("-c");
          expect(Object.keys(texts)).toContain(from);
          expect(why).toMatch(/\.$/);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

test("large hostile files take no longer than other large files", () => {
  const hostile = [
    " ",
    "\n",
    "\t",
    '"',
    '\\"',
    "'",
    "/*",
    "[",
    "{",
    '"""',
    "#",
    "test ",
    "test:",
    "=",
    ",",
    "- ",
    "a.",
  ];
  const start = ownTime();
  for (const path of paths) {
    for (const piece of hostile) {
      const text = `packages:\n${piece.repeat(100_000 / piece.length)}`;
      findTestCommand(project({ "package.json": "{}", [path]: text }));
      findTestCommand(project({ "package.json": "{}", [path]: text.slice(10) }));
    }
  }
  expect(ownTime() - start).toBeLessThan(20_000);
});
