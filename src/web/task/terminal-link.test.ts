import { expect, test } from "vitest";
import type { ScreenView } from "../../api/terminal.ts";
import { gapOf, withScrollback } from "./terminal-link.ts";

const screenWith = (above: number): ScreenView => ({ columns: 80, lines: [], cursor: null, title: "", above });
const rows = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `row ${from + i}`);

test("older lines come in front of those that are known", () => {
  const screen = screenWith(100);
  const first = withScrollback({ earlier: { lines: [], above: 0 }, screen }, { skip: 0, lines: rows(60, 100) });
  const all = withScrollback({ earlier: first, screen }, { skip: 40, lines: rows(20, 60) });
  expect(all.lines).toEqual(rows(20, 100));
  expect(gapOf({ earlier: all, screen })).toBe(0);
});

test("lines that have left the screen since are added once", () => {
  const earlier = { lines: rows(60, 100), above: 100 };
  const screen = screenWith(105);
  expect(gapOf({ earlier, screen })).toBe(5);
  const all = withScrollback({ earlier, screen }, { skip: 0, lines: rows(55, 105) });
  expect(all).toEqual({ lines: rows(60, 105), above: 105 });
});

test("where more have left the screen than one page has, the page stands alone: nothing is left out in between", () => {
  const earlier = { lines: rows(0, 10), above: 10 };
  const all = withScrollback({ earlier, screen: screenWith(2_000) }, { skip: 0, lines: rows(1_500, 2_000) });
  expect(all).toEqual({ lines: rows(1_500, 2_000), above: 2_000 });
});
