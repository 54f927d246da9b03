import { expect, test } from "vitest";
import { killPlan } from "./kill-plan.ts";

const sum = (suite: "usual" | "long") => Object.values(killPlan).reduce((total, kills) => total + kills[suite], 0);

test(`npm test kills ${sum("usual")} times, and npm run test:long ${sum("long")} times`, () => {
  expect(sum("usual")).toBeGreaterThanOrEqual(50);
  expect(sum("long")).toBeGreaterThanOrEqual(1_000);
});
