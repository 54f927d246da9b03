import { expect, test } from "vitest";
import { explanation, readSince } from "./ask.ts";

const now = Date.parse("2026-11-15T12:00:00Z");

test("a time is a duration before now, or a local date or time", () => {
  expect(readSince("24h", now)).toBe("2026-11-14T12:00:00.000Z");
  expect(readSince("7d", now)).toBe("2026-11-08T12:00:00.000Z");
  expect(readSince("2026-11-15", now)).toBe(new Date(2026, 10, 15).toISOString());
  expect(readSince("2026-11-15T08:30", now)).toBe(new Date(2026, 10, 15, 8, 30).toISOString());
});

test.each(["", "yesterday", "5", "7w", "2026-13-40"])("%j is not a time", (text) => {
  expect(() => readSince(text, now)).toThrow("is not a time");
});

test("the question about full permissions says what the sandbox keeps away, or that there is none", () => {
  const about = { allowed: false, needed: [], workspaces: "clone" } as const;
  const told = (sandboxed: boolean) => explanation("coffee", { ...about, sandboxed }).join("\n");
  expect(told(true)).toMatch(/A sandbox confines them: .*nothing else of your home, .* nor other tasks\./);
  expect(told(true)).not.toContain("they can too");
  expect(told(false)).toMatch(/they have no sandbox here: what you can read.*they can too\. .* signalbox doctor/);
});
