import { expect, test } from "vitest";
import { suggestCommand } from "./suggest-command.ts";

const all = [
  ...["project list", "project remove", "task list", "task merge", "task cancel", "task delete", "crew stop"],
  ...["crew clean", "crew cleanup", "crew kill", "agent cleanup", "agent kill", "agent ps", "workspace list"],
  ...["workspace gc", "salvage drop", "up", "down", "demo", "usage"],
];

test.each([
  ["taks", "", ["task", "trust"], 'Did you mean "task"?'],
  ["merge", "", ["usage"], 'Did you mean "signalbox task merge"?'],
  [
    "list",
    "",
    ["trust"],
    'Did you mean "signalbox task list" or "signalbox project list" or "signalbox workspace list"?',
  ],
  ["stop", "", ["status"], 'Did you mean "signalbox down"?'],
  ["restart", "", ["rehearse"], 'Did you mean "signalbox down && signalbox up"?'],
  ["cancel", "", [], 'Did you mean "signalbox task cancel"?'],
  ["logz", "", ["down"], "To see all commands: signalbox --help"],
  ["-V", "", ["up"], "To see all commands: signalbox --help"],
  ["clean", "agent", ["cleanup"], 'Did you mean "cleanup"?'],
  ["clen", "crew", ["clean", "cleanup"], 'Did you mean "clean"?'],
  ["clean", "workspace", [], 'Did you mean "signalbox workspace gc"?'],
  ["list", "config", ["set"], 'Did you mean "signalbox config get"?'],
  ["merge", "crewe", [], 'Did you mean "signalbox task merge"?'],
])("somebody who says %s after %j is told what can be meant by it", (input, noun, near, told) => {
  expect(suggestCommand(input, noun, near, all).replaceAll(", ", " or ")).toBe(told);
});

test("no slip in one noun leads to a command of another that ends something or takes it away", () => {
  const verbs = ["cancel", "clean", "cleanup", "delete", "drop", "gc", "kill", "remove", "stop"];
  const nouns = ["workspace", "salvage", "project", "agent", "harness", "workflow", "ticket", "config", "crew"];
  for (const noun of ["", ...nouns])
    for (const verb of verbs) {
      const offers = [...suggestCommand(verb, noun, [], all).matchAll(/"signalbox (\w+) (\w+)/g)];
      const foreign = offers.filter(([, of = ""]) => of !== (noun || "task"));
      expect({ noun, verb, foreign: foreign.map(([offer]) => offer) }).toEqual({ noun, verb, foreign: [] });
    }
});
