import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./documents.ts";
import { killPlan } from "./kill-plan.ts";

const sum = (suite: "usual" | "long") => Object.values(killPlan).reduce((total, kills) => total + kills[suite], 0);

test(`npm test kills ${sum("usual")} times, and npm run test:long ${sum("long")} times, as is promised`, () => {
  expect(sum("usual")).toBeGreaterThanOrEqual(50);
  expect(sum("long")).toBeGreaterThanOrEqual(1_000);
  const [usual, long] = [sum("usual"), sum("long")].map((count) => count.toLocaleString("en"));
  const text = readFileSync(join(root, "docs/promises.md"), "utf8");
  expect(text).toContain(`${usual} times in \`npm test\`, ${long} times in \`npm run test:long\``);
});
