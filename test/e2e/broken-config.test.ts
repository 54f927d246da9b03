import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { git, startBrew } from "./brew-stage.ts";

vi.setConfig({ testTimeout: 240_000 });

const warning = /^warning: The configuration is wrong: .*config\.yml:\d+:\d+ error: .*$/m;

test("a daemon that starts with a broken configuration refuses what settings guard, and says so", async () => {
  const stage = await startBrew(["coffee"]);
  const coffee = stage.in("coffee");
  const config = join(stage.home, "config.yml");
  const signalbox = (...args: readonly string[]) => stage.signalbox(args, coffee);
  const task = async (id: string) => JSON.parse((await signalbox("task", "show", id, "--json")).stdout).task;
  await signalbox("config", "set", "test_merges", "true");
  await signalbox("config", "set", "test_command", '["false"]');
  await signalbox("task", "create", "espresso", "Espresso");
  await signalbox("task", "create", "latte", "Latte");
  for (const name of ["espresso", "latte"]) await signalbox("task", "update", name, "--status", "brewing");
  await vi.waitFor(async () => expect((await task("espresso")).phase).toBe("waiting"), 60_000);
  await vi.waitFor(async () => expect((await task("latte")).phase).toBe("waiting"), 60_000);
  const folder = (await task("espresso")).workspace;
  writeFileSync(join(folder, "recipe.md"), "beans\nwater\n");
  git(folder, "commit", "-qam", "Add water");
  const before = git(coffee, "rev-parse", "main");
  expect(await signalbox("task", "merge", "espresso")).toMatchObject({ code: 1 });

  // The running daemon has read a valid file before.
  const sound = readFileSync(config, "utf8");
  appendFileSync(config, "harness: [\n");
  await vi.waitFor(async () => expect((await signalbox("task", "list")).stderr).toMatch(warning), 60_000);
  const list = await signalbox("task", "list");
  expect(list.stderr).toContain("The last good configuration is still in use.");
  expect(list.stderr.match(/warning:/g)).toHaveLength(1);
  expect((await signalbox("status")).stdout).toMatch(
    /^config +not used: .*config\.yml:\d+:\d+ error: .*signalbox doctor/m,
  );
  expect(await signalbox("task", "merge", "espresso")).toMatchObject({ code: 1 });

  await signalbox("down");
  const looked = await signalbox("task", "list");
  expect(looked).toMatchObject({ code: 0, stdout: expect.stringContaining("espresso") });
  expect(looked.stderr).toMatch(warning);
  expect(looked.stderr).toContain(`Nothing is started, merged or changed until ${config} is fixed.`);
  expect((await signalbox("status")).stdout).toMatch(/^tasks +2 open/m);
  for (const args of [
    ["task", "merge", "espresso"],
    ["task", "create", "mocha", "Mocha"],
    ["task", "update", "espresso", "--status", "served"],
    ["resume", "--all"],
  ]) {
    const refused = await signalbox(...args);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(/config\.yml:\d+:\d+ error: /);
    expect(refused.stderr).toContain(`mv ${config} ${config}.broken`);
    expect(refused.stderr.match(/^warning:/gm)).toHaveLength(1);
  }
  expect(git(coffee, "rev-parse", "main")).toBe(before);
  // Cancel and pause work; their further effects wait.
  expect(await signalbox("pause", "--all")).toMatchObject({ code: 0 });
  expect(await signalbox("task", "cancel", "latte")).toMatchObject({ code: 0 });
  expect((await task("2")).status).toBe("spilled");

  writeFileSync(config, sound);
  await vi.waitFor(async () => expect((await signalbox("task", "list")).stderr).not.toContain("warning:"), 60_000);
  expect(await signalbox("resume", "--all")).toMatchObject({ code: 0 });
  await vi.waitFor(async () => expect((await task("2")).phase).toBe("over"), 60_000);
  expect(await signalbox("task", "merge", "espresso")).toMatchObject({ code: 1 });
  expect(git(coffee, "rev-parse", "main")).toBe(before);
});
