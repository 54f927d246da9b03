import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { cliFile } from "../programs.ts";
import { atTerminal } from "./at-terminal.ts";
import { startBrew } from "./brew-stage.ts";

vi.setConfig({ testTimeout: 120_000 });

test("lists fit into a terminal of 80 and of 40 columns, commands stay whole, and in a pipe nothing is cut", async () => {
  const { base, env, signalbox, in: at } = await startBrew(["the-coffee-of-all-offices"]);
  const folder = at("the-coffee-of-all-offices");
  const summary = "Make the coffee stronger, and the pot so large that it lasts until the evening of the next day";
  await signalbox(["task", "create", "a-branch-with-a-name-that-is-really-long", summary], folder);
  await signalbox(["task", "continue", "1"], folder);
  // Create a salvage.
  await signalbox(["task", "create", "another-branch-with-a-name-that-is-really-long", summary], folder);
  await signalbox(["task", "continue", "2"], folder);
  const path = async () => (await signalbox(["task", "path", "2"], folder)).stdout.trim();
  await vi.waitFor(async () => expect(await path()).not.toBe(""), 30_000);
  writeFileSync(join(await path(), "idea.md"), "cold brew\n");
  await signalbox(["task", "cancel", "2"], folder);
  const piped = await signalbox(["task", "list"], folder);
  expect(piped.stdout).toContain(summary);
  expect(piped.stdout).toContain("a-branch-with-a-name-that-is-really-long");
  expect((await signalbox(["project", "list"], folder)).stdout.trimEnd().split("\n")).toHaveLength(2);
  expect((await signalbox(["salvage", "list"], folder)).stdout.trimEnd().split("\n")).toHaveLength(2);
  const lists = [
    ...["task list", "workspace list", "project list", "harness list", "salvage list"],
    ...["task history 1", "task actions 1"],
  ];
  for (const columns of [80, 40])
    for (const list of lists) {
      const line = [process.execPath, cliFile, ...list.split(" ")];
      const screen = atTerminal(line, { base, env, folder, columns, rows: 100 });
      await screen.shows(/it ended with 0/);
      // Lines that the terminal wrapped are joined.
      const lines = screen
        .tmux("capture-pane", "-p", "-J")
        .split("\n")
        .map((each) => each.trimEnd());
      const broken = lines.filter(
        (each) => each.length > columns && !/^ *(?:(?:path|where|branch) +)?\S+$|signalbox /.test(each),
      );
      expect({ list, columns, broken }).toEqual({ list, columns, broken: [] });
      expect(lines.filter((each) => /^ +--\w|^ +"/.test(each))).toEqual([]);
    }
});
