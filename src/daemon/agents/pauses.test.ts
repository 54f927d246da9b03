import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createPauses } from "./pauses.ts";

const base = mkdtempSync(join(tmpdir(), "signalbox-pauses-"));
afterAll(() => rmSync(base, { recursive: true }));

test("a pause stops what a person began before it, also after a restart, and not what a person begins during it", () => {
  const file = join(base, "paused.json");
  let now = 100;
  const first = createPauses(file, () => now);
  expect(first.stops("coffee", undefined)).toBe(false);
  first.set("coffee", true);
  for (const pauses of [first, createPauses(file, () => now)])
    expect([undefined, 99, 100, 101].map((word) => pauses.stops("coffee", word))).toEqual([true, true, true, false]);
  expect(first.stops("tea", 99)).toBe(false);
  now = 200;
  first.set("", true);
  expect([first.stops("coffee", 150), first.stops("tea", 199), first.stops("tea", 201)]).toEqual([true, true, false]);
  first.set("", false);
  expect(first.stops("coffee", undefined)).toBe(false);
});

test("a pause that an earlier version has stored stops only what no person began", () => {
  const file = join(base, "older.json");
  writeFileSync(file, JSON.stringify({ all: false, projects: ["coffee"] }));
  const pauses = createPauses(file, () => 100);
  expect([pauses.stops("coffee", undefined), pauses.stops("coffee", 1)]).toEqual([true, false]);
});
