import { expect, test } from "vitest";
import { expectNoContradiction } from "./contradictions.ts";

// Each file takes about 28 ms of processor time; test/long does the same with 20,000 of them, and more places in each.
const files = 1_000;
const timeout = 300_000;

test(
  `what the naive explorer reaches in ${files} random workflows, verify covers; what verify reports can be followed`,
  () => {
    expect(expectNoContradiction(files, 1, 60)).toBeGreaterThan(files / 4);
  },
  timeout,
);
