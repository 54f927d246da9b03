import { expect, test } from "vitest";
import { sentence, sentences } from "./sentence.ts";

test("what a program says becomes a sentence, behind which another can follow", () => {
  expect(["Too much", "Not so fast.", " Why? ", ""].map(sentence)).toEqual(["Too much.", "Not so fast.", "Why?", ""]);
});

test("sentences on one line are never glued to a command, and a command at the end stays as it is to be copied", () => {
  const both = ["It is over. Go on: signalbox task create --from k2m4p", "", "If not: git branch -D m1"];
  expect(sentences(both)).toBe("It is over. Go on: signalbox task create --from k2m4p. If not: git branch -D m1");
});
