import { expect, test } from "vitest";
import { suggestCommand } from "./suggest-command.ts";

const all = ["project list", "task list", "task merge", "crew stop", "up", "down", "demo", "usage"];

test.each([
  ["taks", ["task", "trust"], 'Did you mean "task"?'],
  ["merge", ["usage"], 'Did you mean "signalbox task merge"?'],
  ["list", ["trust"], 'Did you mean "signalbox task list" or "signalbox project list"?'],
  ["help", ["demo"], 'Did you mean "signalbox --help"?'],
  ["stop", ["status"], 'Did you mean "signalbox down" or "signalbox crew stop"?'],
  ["restart", ["rehearse"], 'Did you mean "signalbox down && signalbox up"?'],
  ["logz", ["down"], "To see all commands: signalbox --help"],
  ["-V", ["up"], "To see all commands: signalbox --help"],
])("somebody who says %s is told what can be meant by it", (input, near, told) => {
  expect(suggestCommand(input, near, all)).toBe(told);
});
