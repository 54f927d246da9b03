import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { builtInWorkflows, childNames, findWorkflow, listWorkflows } from "./workflows.ts";

const base = mkdtempSync(join(tmpdir(), "signalbox-workflows-"));
afterAll(() => rmSync(base, { recursive: true }));
let home: string;
let repository: string;

beforeEach(() => {
  home = mkdtempSync(join(base, "home-"));
  repository = mkdtempSync(join(base, "app-"));
});

function put(folder: string, ...names: string[]) {
  mkdirSync(folder, { recursive: true });
  for (const name of names) writeFileSync(join(folder, name), "");
}
const own = () => join(home, "workflows");
const project = () => join(repository, ".signalbox", "workflows");
const fromOf = (name: string, lookup: Parameters<typeof findWorkflow>[0]) => findWorkflow(lookup, name).from;

test("a name is searched for in the repository, then in the user's workflows, then in the built-in ones", () => {
  expect(fromOf("default", { home, repository })).toBe("built-in");
  put(own(), "default.yml");
  expect(fromOf("default", { home, repository })).toBe("user");
  put(project(), "default.yml", "ours.yml");
  expect(findWorkflow({ home, repository }, "default")).toEqual({
    name: "default",
    from: "project",
    file: join(project(), "default.yml"),
    shown: join(project(), "default.yml"),
  });
  expect(fromOf("default", { home })).toBe("user");
  expect(() => findWorkflow({ home }, "ours")).toThrow('There is no workflow "ours".');
});

test("each name is listed once, as it would be found", () => {
  put(own(), "default.yml", "mine.yml");
  put(project(), "default.yml", "mine.yml", "ours.yml");
  const all = listWorkflows({ home, repository });
  expect(all.map(({ name }) => name).sort()).toEqual(
    [...builtInWorkflows().map(({ name }) => name), "mine", "ours"].sort(),
  );
  for (const found of all) expect(findWorkflow({ home, repository }, found.name)).toEqual(found);
  expect(all.filter(({ from }) => from !== "built-in").map(({ name, from }) => `${from} ${name}`)).toEqual([
    "project default",
    "project mine",
    "project ours",
  ]);
});

test("only files that end in .yml and are not hidden count; devices and folders never", () => {
  put(project(), "a.yml", ".b.yml", "c.yaml", "d.txt");
  mkdirSync(join(project(), "e.yml"));
  symlinkSync("/dev/zero", join(project(), "f.yml"));
  symlinkSync(join(project(), "a.yml"), join(project(), "g.yml"));
  const names = listWorkflows({ home, repository }).filter(({ from }) => from === "project");
  expect(names.map(({ name }) => name)).toEqual(["a", "g"]);
});

test("a repository without workflows, or whose .signalbox is a file, changes nothing", () => {
  const without = listWorkflows({ home });
  expect(listWorkflows({ home, repository })).toEqual(without);
  writeFileSync(join(repository, ".signalbox"), "");
  expect(listWorkflows({ home, repository })).toEqual(without);
});

test("the user's workflows stay the user's where the folder around the home is a repository", () => {
  const inner = { home: join(repository, ".signalbox"), repository };
  put(project(), "mine.yml");
  expect(fromOf("mine", inner)).toBe("user");
});

test("a path is read as a path, even if a workflow has that name", () => {
  put(project(), "default.yml");
  put(repository, "default.yml");
  const file = join(repository, "default.yml");
  expect(findWorkflow({ home, repository }, file)).toEqual({ name: "default", from: "file", file, shown: file });
});

test("an unknown name is answered with the nearest known name", () => {
  put(project(), "release.yml");
  expect(() => findWorkflow({ home, repository }, "relaese")).toThrow(
    expect.objectContaining({ code: "not-found", hint: expect.stringContaining('Did you mean "release"?') }),
  );
});

test("children may have every workflow with a name and, for a file given by path, also those beside it", () => {
  put(own(), "mine.yml");
  put(repository, "parent.yml", "part.yml");
  const file = { from: "file" as const, file: join(repository, "parent.yml") };
  expect(childNames({ home }, file)).toEqual(expect.arrayContaining(["team-subtask", "mine", "part"]));
  expect(childNames({ home }, findWorkflow({ home }, "mine"))).not.toContain("part");
});
