import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { changedRunners, findRunners, removeInstalled } from "./runners.ts";

function installed(): { readonly folder: string; put(path: string, text: string): void } {
  const folder = mkdtempSync(join(tmpdir(), "runners-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  put("node_modules/brewtest/package.json", "{}");
  put("node_modules/brewtest/cli.mjs", "1");
  put("node_modules/brewtest/lib/deep.mjs", "2");
  put("node_modules/other/index.mjs", "3");
  mkdirSync(join(folder, "node_modules/.bin"));
  symlinkSync("../brewtest/cli.mjs", join(folder, "node_modules/.bin/brewtest"));
  put(".venv/bin/pytest", "#!python");
  put(".venv/lib/python3.13/site-packages/_pytest/main.py", "4");
  return { folder, put };
}

const words = async () => ["brewtest", "--run", "./.venv/bin/pytest", "node", "..", "/"];

test("only installed programs that the commands name are runners", async () => {
  const { folder } = installed();
  expect(Object.keys(await findRunners(folder, words))).toEqual([".venv/bin/pytest", "node_modules/.bin/brewtest"]);
  expect(await findRunners(folder, async () => ["node"])).toEqual({});
  expect(await findRunners(join(folder, "nowhere"), words)).toEqual({});
});

test.each([
  ["node_modules/.bin/brewtest", "node_modules/brewtest/lib/deep.mjs"],
  ["node_modules/.bin/brewtest", "node_modules/brewtest/new.mjs"],
  [".venv/bin/pytest", ".venv/bin/pytest"],
  [".venv/bin/pytest", ".venv/lib/python3.13/site-packages/_pytest/main.py"],
  ["node_modules/.bin/node", "node_modules/.bin/node"],
])("%s has changed after %s was written", async (runner, file) => {
  const { folder, put } = installed();
  const before = await findRunners(folder, words);
  put(file, "exit 0");
  expect(changedRunners(before, await findRunners(folder, words))).toEqual([runner]);
});

test("a program that points elsewhere, or may be run by others, has changed; another package has not", async () => {
  const { folder, put } = installed();
  const before = await findRunners(folder, words);
  put("node_modules/other/index.mjs", "changed");
  expect(changedRunners(before, await findRunners(folder, words))).toEqual([]);
  chmodSync(join(folder, "node_modules/brewtest/cli.mjs"), 0o777);
  expect(changedRunners(before, await findRunners(folder, words))).toEqual(["node_modules/.bin/brewtest"]);
  rmSync(join(folder, "node_modules/.bin/brewtest"));
  symlinkSync("../other/index.mjs", join(folder, "node_modules/.bin/brewtest"));
  expect(changedRunners(before, await findRunners(folder, words))).toEqual(["node_modules/.bin/brewtest"]);
});

test("the folders of changed programs are removed, unless they are part of the commit", async () => {
  const { folder } = installed();
  const control = { listFiles: async () => [{ name: ".venv", mode: "040000", id: "" }] };
  await removeInstalled(control, "commit", folder, ["node_modules/.bin/brewtest", ".venv/bin/pytest"]);
  expect(Object.keys(await findRunners(folder, words))).toEqual([".venv/bin/pytest"]);
});
