import { expect, test } from "vitest";
import { sentence, shownTime } from "./sentence.ts";

test("what a program says becomes a sentence, behind which another can follow", () => {
  expect(["Too much", "Not so fast.", " Why? ", ""].map(sentence)).toEqual(["Too much.", "Not so fast.", "Why?", ""]);
});

test("a time is told to the second, and whose it is", () => {
  expect(shownTime(Date.UTC(2026, 10, 16, 2, 47, 49, 170))).toBe("2026-11-16 02:47:49 UTC");
});
