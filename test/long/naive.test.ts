import { expect, test } from "vitest";
import { expectNoContradiction } from "../language/naive/contradictions.ts";

// Like test/language/naive/naive.test.ts, with more files and more places in each.
const files = Number(process.env.SIGNALBOX_WORKFLOWS ?? 20_000);

test(`verify and the naive explorer agree about ${files} random workflows`, () => {
  expect(expectNoContradiction(files, Number(process.env.SIGNALBOX_SEED ?? 1_000_000), 300)).toBeGreaterThan(files / 4);
});
