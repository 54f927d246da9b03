import { expect, test } from "vitest";
import { findSetupCommand } from "./find-test-command.ts";

function filesOf(texts: Readonly<Record<string, string>>, programs: readonly string[] = []) {
  return {
    has: (path: string) => path in texts,
    canRun: (path: string) => programs.includes(path),
    list: () => Object.keys(texts),
    read: (path: string) => texts[path],
  };
}

test.each([
  [{ "package.json": "{}", "package-lock.json": "{}" }, "npm ci"],
  [{ "package.json": "{}", "pnpm-lock.yaml": "" }, "pnpm install --frozen-lockfile"],
  [{ "yarn.lock": "", ".yarnrc.yml": "" }, "yarn install --immutable"],
  [{ "package.json": '{ "devDependencies": { "vitest": "5" } }' }, "npm install"],
  [{ "package.json": '{ "scripts": {} }' }, undefined],
  [{ "pyproject.toml": "", "uv.lock": "" }, "uv sync"],
  [{ "Cargo.toml": "" }, "cargo fetch"],
  [{ "go.mod": "" }, "go mod download"],
  [{ Makefile: "setup: deps\n\tnpm ci\n", "package-lock.json": "{}" }, "make setup"],
  [{ Makefile: "setup := x\n" }, undefined],
  [{ "README.md": "" }, undefined],
])("%j is set up with %j", (texts, line) => {
  expect(findSetupCommand(filesOf(texts as Readonly<Record<string, string>>))?.argv.join(" ")).toBe(line);
});

test("the project's own script comes first", () => {
  expect(findSetupCommand(filesOf({ "package-lock.json": "" }, ["bin/setup"]))?.argv).toEqual(["./bin/setup"]);
});
