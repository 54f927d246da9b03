import type { Finder, ProjectFiles, TestCommand } from "./project-files.ts";
import { tomlTables } from "./toml-tables.ts";

/** Where some file configures pytest. */
export const configuredPytest: Finder = (files, note) => {
  const own = ["pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"].find((name) => files.has(name));
  if (own !== undefined) return found(files, own, `There is a "${own}".`);
  if (projectTables(files, note).some(isOf("tool.pytest"))) return found(files, ...configures("pyproject.toml"));
  if (/^\[pytest\]/m.test(files.read("tox.ini") ?? "")) return found(files, ...configures("tox.ini"));
  if (/^\[tool:pytest\]/m.test(files.read("setup.cfg") ?? "")) return found(files, ...configures("setup.cfg"));
  return undefined;
};

/** Where files have names that pytest looks for. */
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

/** How pytest is started with the project's own packages, and which file says so. */
function runnerOf(files: ProjectFiles): readonly [argv: TestCommand["argv"], file?: string] {
  const locked = locks.find(([file]) => files.has(file));
  if (locked !== undefined) return [[locked[1], "run", "pytest"], locked[0]];
  const tables = projectTables(files, () => {});
  const named = tools.find((tool) => tables.some(isOf(`tool.${tool}`)));
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

function projectTables(files: ProjectFiles, note: (sentence: string) => void): readonly string[] {
  const path = "pyproject.toml";
  const text = files.read(path);
  const tables = text === undefined ? [] : tomlTables(text);
  if (tables === undefined) note(`"${path}" is not valid TOML.`);
  return tables ?? [];
}

function isOf(table: string): (name: string) => boolean {
  return (name) => name === table || name.startsWith(`${table}.`);
}
