import { expect, test } from "vitest";
import { rowsOf } from "./rows.ts";

const texts = (...lines: readonly string[]) => rowsOf(lines).map(({ text }) => text);

test("each row begins with the style that the row before it has left", () => {
  expect(texts("\x1b[1;31mred", "still", "\x1b[39mbold", "\x1b[22mplain", "plain")).toEqual([
    "\x1b[1;31mred",
    "\x1b[1;31mstill",
    "\x1b[1;31m\x1b[39mbold",
    "\x1b[1m\x1b[22mplain",
    "plain",
  ]);
  expect(texts("\x1b[38;5;200mone", "\x1b[48;2;1;2;3mtwo", "\x1b[4:3mthree", "four\x1b[0m", "five")).toEqual([
    "\x1b[38;5;200mone",
    "\x1b[38;5;200m\x1b[48;2;1;2;3mtwo",
    "\x1b[38;5;200;48;2;1;2;3m\x1b[4:3mthree",
    "\x1b[38;5;200;48;2;1;2;3;4:3mfour\x1b[0m",
    "five",
  ]);
});

test("drawn lines continue in the next row, and colours keep the spaces behind a text", () => {
  expect(texts("\x0eqq", "qx\x0fq", "q")).toEqual(["──", "─│q", "q"]);
  expect(texts("plain   ", "\x1b[41mred   ", "\x1b[0mx  ")).toEqual(["plain", "\x1b[41mred   ", "\x1b[41m\x1b[0mx"]);
});

test("nothing but text and styles is left of a row", () => {
  expect(texts("a\x1b]52;c;eA==\x07b\x1b]8;;http://x\x1b\\c\x1b[2Jd\x1b[5;2He\x08f\x9b31mg")).toEqual(["abcdef31mg"]);
});

test("rows that have not changed are the earlier ones, unless the style before them has", () => {
  const before = rowsOf(["\x1b[31ma", "b", "\x1b[0mc"]);
  const after = rowsOf(["\x1b[32ma", "b", "\x1b[0mc"], before);
  expect(rowsOf(["\x1b[31ma", "b", "\x1b[0mc"], before)).toEqual(before);
  expect(rowsOf(["\x1b[31ma", "b", "\x1b[0mc"], before).every((row, at) => row === before[at])).toBe(true);
  expect(after.map(({ text }) => text)).toEqual(["\x1b[32ma", "\x1b[32mb", "\x1b[32m\x1b[0mc"]);
});
