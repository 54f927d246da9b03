import { expect, test } from "vitest";
import { expectNoContradiction } from "./contradictions.ts";

// Each file takes about 50 ms of processor time; test/long does the same with 20,000 of them.
const files = 200;

test(`what the naive explorer reaches in ${files} random workflows, verify covers; what verify reports can be followed`, () => {
  expect(expectNoContradiction(files, 1, 100)).toBeGreaterThan(files / 4);
});
