import { expect, test } from "vitest";
import { costText, shortNumber } from "./money.ts";

test("an unknown cost is called unknown, also beside a known one, and never nothing", () => {
  expect(costText({ dollars: null, unknown: 2 })).toBe("unknown");
  expect(costText({ dollars: 0, unknown: 1 })).toBe("unknown");
  expect(costText({ dollars: 1.5, unknown: 1 })).toBe("≥ $1.50");
  expect(costText({ dollars: 1.5, unknown: 0 })).toBe("$1.50");
  expect(costText({ dollars: 0.001, unknown: 0 })).toBe("< $0.01");
  expect(costText({ dollars: null, unknown: 0 })).toBe("");
});

test("large numbers are short", () => {
  expect([999, 1000, 1_234_567, 250_000].map(shortNumber)).toEqual(["999", "1k", "1.2M", "250k"]);
});
