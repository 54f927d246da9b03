import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Account,
  accountOf,
  type BudgetRun,
  estimateRun,
  judgeStart,
  raisedFlags,
  readBudget,
  writeAccount,
} from "./budget.ts";

const ended = (used: number | undefined, reserves?: number, role = "swe"): BudgetRun => ({
  ...{ role, isLive: false, isAtWork: false, used, reserves },
});
const live = (used: number | undefined, reserves?: number, isAtWork = true): BudgetRun => ({
  ...{ role: "swe", isLive: true, isAtWork, used, reserves },
});

test.each([
  [["5"], { cost: 5 }],
  [["$2.50"], { cost: 2.5 }],
  [["200k"], { tokens: 200_000 }],
  [["1.5M"], { tokens: 1_500_000 }],
  [["5", "200k"], { cost: 5, tokens: 200_000 }],
  [["none"], {}],
  [[""], {}],
])("the budget %j is %j", (given, budget) => {
  expect(readBudget(given)).toEqual(budget);
});

test.each([
  [["-5"], 'The budget "-5" is negative.'],
  [["0"], 'With the budget "0" no agent could start.'],
  [["0k"], 'With the budget "0k" no agent could start.'],
  [["abc"], '"abc" is not a budget.'],
  [["5 apples"], '"5 apples" is not a budget: "apples" is not a unit.'],
  [["5 constructor"], '"5 constructor" is not a budget: "constructor" is not a unit.'],
  [["NaN"], '"NaN" is not a budget.'],
  [["1e9"], '"1e9" is not a budget: "e9" is not a unit.'],
  [["5", "6"], "The budget in US dollars is given twice."],
  [["5", "200k", "1m"], "The budget in tokens is given twice."],
  [["none", "5"], '"none" removes the budget, so it cannot be given together with 5.'],
  [["99999999"], 'The budget "99999999" is more than $1000000.00.'],
])("the budget %j is refused", (given, problem) => {
  expect(readBudget(given)).toMatchObject({ problem, fix: expect.stringMatching(/\w/) });
});

test("an account counts what ended runs used, and reserves the rest for live ones", () => {
  const runs = [ended(1), live(0.5, 2), live(3, 2, false)];
  expect(accountOf("cost", 10, runs, undefined)).toMatchObject({ spent: 4.5, reserved: 1.5, atWork: 1.5, left: 4 });
});

test("a run of unknown use counts as the configured value, else as what was reserved for it, else as unknown", () => {
  const runs = [ended(undefined, 2), ended(undefined)];
  expect(accountOf("cost", 10, runs, 0.5)).toMatchObject({ spent: 1, unknown: 0 });
  expect(accountOf("cost", 10, runs, undefined)).toMatchObject({ spent: 2, unknown: 1 });
});

test("a live run that started before there was a budget reserves the mean of the ended runs", () => {
  expect(accountOf("cost", 10, [ended(1), ended(3), live(0.5)], undefined)).toMatchObject({
    reserved: 1.5,
    unknown: 0,
  });
  expect(accountOf("cost", 10, [live(undefined)], undefined)).toMatchObject({ reserved: 0, unknown: 1 });
});

test("a run is estimated by its limit, its role in the tree, its role elsewhere, the tree, and then the configuration", () => {
  const cheap = ended(0.05, undefined, "architect");
  const tree = [cheap, ended(1), ended(3), live(9)];
  expect(estimateRun("swe", 4, tree, [ended(7)], 6)).toEqual({ amount: 4, from: "limit" });
  expect(estimateRun("swe", undefined, tree, [ended(7)], 6)).toEqual({ amount: 2, from: "own-role" });
  expect(estimateRun("swe", undefined, [cheap, live(9)], [ended(7), ended(undefined)], 6)).toEqual({
    ...{ amount: 7, from: "role" },
  });
  expect(estimateRun("swe", undefined, [cheap], [], 6)).toEqual({ amount: 0.05, from: "tree" });
  expect(estimateRun("swe", undefined, [], [ended(undefined)], 6)).toEqual({ amount: 6, from: "key" });
  expect(estimateRun("swe", undefined, [], [], undefined)).toBeUndefined();
});

test("a live run without a reservation reserves the mean of its role, not that of cheaper ones", () => {
  const runs = [ended(0.1, undefined, "architect"), ended(3), live(0.5)];
  expect(accountOf("cost", 10, runs, undefined)).toMatchObject({ reserved: 2.5 });
});

test.each([
  ["start", [ended(3)], 2],
  ["person", [ended(3)], 2.01],
  ["person", [ended(5)], 0],
  ["runs", [ended(1), live(0.5, 3)], 2],
  ["person", [ended(1), live(0.5, 3, false)], 2],
  ["unknown", [ended(undefined)], 1],
] as const)("with a budget of 5: %s, after %j, for a run of %d", (verdict, runs, amount) => {
  expect(judgeStart(accountOf("cost", 5, runs, undefined), { amount, from: "limit" })).toBe(verdict);
});

test("a run that cannot be estimated does not start, and sums of cents are no obstacle", () => {
  expect(judgeStart(accountOf("cost", 5, [], undefined), undefined)).toBe("unknown");
  const cents = [ended(0.1), ended(0.2)];
  expect(judgeStart(accountOf("cost", 0.6, cents, undefined), { amount: 0.3, from: "limit" })).toBe("start");
});

test("runs that keep to their estimate never pass the budget, in whatever order they start and end", () => {
  const steps = fc.array(
    fc.record({
      limit: fc.double({ min: 0.01, max: 4, noNaN: true }),
      used: fc.double({ min: 0, max: 1, noNaN: true }),
      ends: fc.boolean(),
    }),
  );
  fc.assert(
    fc.property(steps, fc.double({ min: 1, max: 10, noNaN: true }), (all, limit) => {
      const runs: BudgetRun[] = [];
      for (const { limit: own, used, ends } of all) {
        const open = runs.findIndex(({ isLive }) => isLive);
        if (ends && open >= 0) runs[open] = ended((runs[open]?.reserves ?? 0) * used);
        const estimate = { amount: own, from: "limit" } as const;
        if (judgeStart(accountOf("cost", limit, runs, undefined), estimate) === "start") runs.push(live(0, own));
      }
      const worst = runs.reduce((sum, run) => sum + (run.used || run.reserves || 0), 0);
      expect(worst).toBeLessThanOrEqual(limit + 1e-6);
    }),
  );
});

test("the flags that raise a budget are enough for the run, and keep the other kind", () => {
  const account: Account = accountOf("cost", 5, [ended(4.2), live(0, 0.5)], undefined);
  const flags = raisedFlags({ cost: 5, tokens: 200_000 }, account, { amount: 2, from: "tree" });
  expect(flags).toBe("--budget 7 --budget 200k");
  expect(judgeStart({ ...account, limit: 7 }, { amount: 2, from: "tree" })).toBe("start");
  const tokens = accountOf("tokens", 2_000, [ended(1_900)], undefined);
  expect(raisedFlags({ tokens: 2_000 }, tokens, { amount: 1_900, from: "tree" })).toBe("--budget 4k");
});

test("an account is written with what is spent, reserved and left", () => {
  expect(writeAccount(accountOf("cost", 5, [ended(4.2), live(0, 0.5)], undefined))).toBe(
    "$4.20 of $5.00 spent, $0.50 reserved, $0.30 left",
  );
  expect(writeAccount(accountOf("tokens", 200_000, [ended(950), ended(undefined)], undefined))).toBe(
    "950 tokens of 200k tokens spent, 0 tokens reserved, 199.1k tokens left, 1 run of unknown use",
  );
});
