import { expect, test } from "vitest";
import { shownTime } from "./shown-time.ts";

test("a time is told to the second, and whose it is", () => {
  expect(shownTime(Date.UTC(2026, 10, 16, 2, 47, 49, 170))).toBe("2026-11-16 02:47:49 UTC");
});
