import { expect, test } from "vitest";
import { readNeed } from "./watch-board.ts";

test.each([
  [
    "Merge",
    "Say yes: signalbox task approve k2m4p\nAnswer: signalbox task answer k2m4p",
    "Merge",
    "signalbox task approve k2m4p",
  ],
  [
    "The disk\n  is full.",
    "Mend the cause, then try again: signalbox task continue k2m4p",
    "The disk is full.",
    "signalbox task continue k2m4p",
  ],
  ["worker#1 asks: Which beans?", "", "worker#1 asks: Which beans?", ""],
  // Where the reason itself names a command, that is the one that helps.
  [
    "Nobody has allowed that yet. To allow it: signalbox project update coffee --full-permissions allow",
    "Try again: signalbox task continue k2m4p",
    "Nobody has allowed that yet.",
    "signalbox project update coffee --full-permissions allow",
  ],
])("what is needed is read from %j and %j", (reason, fix, why, command) => {
  expect(readNeed({ reason, fix })).toEqual({ reason: why, command });
});
