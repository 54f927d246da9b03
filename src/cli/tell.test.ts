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
  const none = { untested: null, pushed: null, warnings: [] };
  const merge = { state: "merged", reason: "", target: "main", before: "a", after: "a", ...none, task, ...answer };
  tellMerge(context, merge as unknown as MergeView);
  return lines;
}

test("a task without its own commits is reported as empty, and other work as already merged", () => {
  const why = "its branch has no commits of its own";
  expect(told({ empty: true })).toEqual([`coffee#1 merged nothing into main: ${why}`, "reviewing → done"]);
  expect(told({ empty: true, dryRun: true })).toEqual([`coffee#1 would merge nothing into main: ${why}`]);
  expect(told({ empty: false })).toEqual(["coffee#1 was already in main", "reviewing → done"]);
});

test("a push is reported with the person's own commits that it publishes", () => {
  const pushed = (commits: number | null) => told({ pushed: { remote: "origin", commits } })[1];
  expect(pushed(0)).toBe("Pushed main to origin");
  expect(pushed(1)).toBe("Pushed main to origin, with 1 other commit of yours that was not there yet");
  expect(pushed(2)).toBe("Pushed main to origin, with 2 other commits of yours that were not there yet");
  expect(pushed(null)).toBe("Pushed main to origin, with all of your commits that were not there yet");
  expect(told({ pushed: { remote: "origin", commits: 1 }, dryRun: true })).toEqual([
    "coffee#1 is already in main",
    "It would also push main to origin, with 1 other commit of yours that is not there yet",
    "To merge without pushing: signalbox config set push_merges false",
  ]);
  expect(told({ state: "undone", pushed: { remote: "origin", commits: 0 } })).toContain("Pushed main to origin");
});

test("an untested merge is reported with the setting that would change it", () => {
  expect(told({ untested: "off" }).at(-1)).toMatch(/^The result of the merge was not tested\. .* test_merges true$/);
  expect(told({ untested: "no-command", dryRun: true }).at(-1)).toMatch(
    /^The result of the merge would not be tested: no test command was found\. .* test_command COMMAND/,
  );
});
