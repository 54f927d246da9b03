import { expect, test } from "vitest";
import { writeCost, writeCosts, writeDuration, writeTokens } from "./write-usage.ts";

test("a cost that nobody told is no cost of nothing", () => {
  expect([writeCost(null), writeCost(0), writeCost(0.012), writeCost(12.5)]).toEqual([
    "?",
    "$0.00",
    "$0.012",
    "$12.50",
  ]);
  expect(writeCosts({ cost: 0, runs: 2, unknown: 2 })).toBe("?");
  expect(writeCosts({ cost: 1.2, runs: 3, unknown: 1 })).toBe("$1.20 + ?");
  expect(writeCosts({ cost: 1.2, runs: 3, unknown: 0 })).toBe("$1.20");
});

test("tokens and times are as long as they need to be", () => {
  expect([0, 999, 1_000, 1_250, 45_900, 2_000_000].map(writeTokens)).toEqual(["0", "999", "1k", "1.3k", "45k", "2M"]);
  expect([900, 59_400, 200_000, 7_500_000].map(writeDuration)).toEqual(["1s", "59s", "3m 20s", "2h 05m"]);
});
