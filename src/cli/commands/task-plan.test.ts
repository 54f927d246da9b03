import { expect, test } from "vitest";
import { createPaint } from "../fast/tell.ts";
import { showPlan } from "./task-plan.ts";

test("titles and descriptions of a plan forge no rows, and send no commands to the terminal", () => {
  const printed: string[] = [];
  const paint = createPaint(false);
  const items = [
    {
      ...{ id: "docs", needs: [], files: [], size: "M" as const },
      title: "Write the docs\nlogin  S  –  src/login.ts  Mend the login form",
      description: "First\u001b[31m line\nlogin  S  –  –  Again",
    },
  ];
  const context = { paint, talkPaint: paint, print: (text: string) => void printed.push(text), say: () => {} };
  const plan = { task: "p1", items, fingerprint: "", canChange: true, why: "" };
  for (const tableWidth of [80, Number.POSITIVE_INFINITY]) showPlan({ ...context, tableWidth }, plan);
  const lines = printed.join("\n").split("\n");
  expect(lines.filter((line) => line.startsWith("login"))).toEqual([]);
  expect(lines.filter((line) => line.startsWith("docs"))).toHaveLength(2);
  expect(printed.join("")).not.toContain("\u001b");
});
