import { expect, test } from "vitest";
import { lostAnswer } from "./connect.ts";

test.each([
  ["/v1/tasks/m1/merge?project=coffee", "signalbox task history m1"],
  ["/v1/tasks/12/merge?project=coffee", "signalbox task history coffee#12"],
  ["/v1/tasks/coffee%233", "signalbox task history coffee#3"],
  ["/v1/tasks/./move", "signalbox task history ."],
  ["/v1/tasks", "signalbox status"],
  ["/v1/status", "signalbox status"],
])("the error for a lost answer of %s names a command that a person can copy", (path, command) => {
  expect(lostAnswer(path).hint).toBe(`See what happened with "${command}", then try again if necessary.`);
});
