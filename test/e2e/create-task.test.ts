import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { cliFile } from "../programs.ts";
import { atTerminal } from "./at-terminal.ts";
import { startBrew } from "./brew-stage.ts";

vi.setConfig({ testTimeout: 120_000 });

test("a task without a summary is not made; on a terminal the person is asked for it", async () => {
  const { base, env, signalbox, in: at } = await startBrew(["coffee"]);
  const coffee = at("coffee");
  expect(await signalbox(["task", "create"], coffee)).toEqual({
    code: 2,
    stdout: "",
    stderr:
      'error: What is to be done is missing, so there is no new task.\nSay it: signalbox task create "What is to be done"\nTo let its workflow ask for it: signalbox task create --summary ""\n',
  });
  const word = await signalbox(["task", "create", "refactor"], coffee);
  expect(word).toMatchObject({ code: 2, stdout: "" });
  expect(word.stderr).toContain(
    '"refactor" is taken for the name of the task\'s branch. What is to be done is missing, so there is no new task.\nSay it: signalbox task create refactor "What is to be done"\nIf "refactor" is what is to be done: signalbox task create --summary refactor\n',
  );
  const both = await signalbox(["task", "create", "a", "One", "--summary", "Two"], coffee);
  expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("cannot both be given") });
  const long = await signalbox(["task", "create", "Brew it", "--label", "x".repeat(300)], coffee);
  expect(long.stderr).toMatch(/^error: --label must have at most \d+ char/);
  expect((await signalbox(["task", "list", "--open", "--closed"], coffee)).stdout).toBe("");

  const sitting = { base, env, folder: coffee };
  const left = atTerminal([process.execPath, cliFile, "task", "create"], sitting);
  await left.shows(/^What is to be done, in one line\?/m);
  left.press("Enter");
  await left.shows(/There is no new task\.\nit ended with 1/);
  const asked = atTerminal([process.execPath, cliFile, "task", "create", "refactor", "--no-spawn"], sitting);
  await asked.shows(/"refactor" is taken for the name of the task's branch\. What is to be done, in one line\?/);
  asked.say("Tidy up the kitchen");
  await asked.shows(/coffee#1 {2}refactor {2}todo/);
  expect(await signalbox(["task", "create", "  "], coffee)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("What is to be done is missing"),
  });
  // The advice works as it is printed, and an empty summary is a choice.
  expect((await signalbox(["task", "create", "--summary", "refactor"], coffee)).code).toBe(0);
  expect((await signalbox(["task", "create", "blank", "--summary", ""], coffee)).stdout).toContain("asking");
  const { tasks } = JSON.parse((await signalbox(["task", "list", "--json"], coffee)).stdout);
  expect(tasks.map(({ summary }: { summary: string }) => summary).sort()).toEqual([
    "",
    "Tidy up the kitchen",
    "refactor",
  ]);
});

test("cancel says what was salvaged, and the command that it prints brings it back", async () => {
  const { base, signalbox, in: at } = await startBrew(["coffee"]);
  const coffee = at("coffee");
  await signalbox(["task", "create", "Brew it"], coffee);
  await signalbox(["task", "continue", "1"], coffee);
  const path = async () => (await signalbox(["task", "path", "1"], coffee)).stdout.trim();
  await vi.waitFor(async () => expect(await path()).not.toBe(""), 30_000);
  writeFileSync(join(await path(), "idea.md"), "cold brew\n");
  const { code, stdout, stderr } = await signalbox(["task", "cancel", "1"], coffee);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "brewing → spilled\n" });
  const [, command = ""] =
    /Salvaged 1 file that was not committed\. To get it back:\n {2}signalbox (.+)\n/.exec(stderr) ?? [];
  const found = join(base, "found");
  expect(await signalbox(command.replace("FOLDER", found).split(" "), coffee)).toMatchObject({ code: 0 });
  expect((await signalbox(["salvage", "list", "--json"])).stdout).toContain('"files": 1');
});
