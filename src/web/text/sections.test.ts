import { expect, test } from "vitest";
import { lastWritten } from "./sections.ts";

test("a section that was written again has the age of its last version, in whatever order they come", () => {
  const first = { section: "Review", at: "2026-01-01T10:00:00.000Z" };
  const again = { section: "Review", at: "2026-01-01T12:00:00.000Z" };
  expect(lastWritten([first, again]).get("Review")).toBe(again);
  expect(lastWritten([again, first]).get("Review")).toBe(again);
});
