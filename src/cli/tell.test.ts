import { expect, test } from "vitest";
import type { MergeView } from "../api/tasks.ts";
import type { Context } from "./context.ts";
import { tellMerge } from "./tell.ts";

/** The output for a merge that moved nothing. */
function told(answer: Partial<MergeView>): readonly string[] {
  const lines: string[] = [];
  const plain = new Proxy({}, { get: () => String });
  const print = (line: string) => lines.push(line);
  const context = { print, say: print, paint: plain, talkPaint: plain } as unknown as Context;
  const task = { id: "k2m4p", project: "coffee", number: 1, status: "done", previousStatus: "reviewing" };
  const merge = { state: "merged", reason: "", target: "main", before: "a", after: "a", warnings: [], task, ...answer };
  tellMerge(context, merge as unknown as MergeView);
  return lines;
}

test("a task without its own commits is reported as empty, and other work as already merged", () => {
  const why = "its branch has no commits of its own";
  expect(told({ empty: true })).toEqual([`coffee#1 merged nothing into main: ${why}`, "reviewing → done"]);
  expect(told({ empty: true, dryRun: true })).toEqual([`coffee#1 would merge nothing into main: ${why}`]);
  expect(told({ empty: false })).toEqual(["coffee#1 was already in main", "reviewing → done"]);
});
