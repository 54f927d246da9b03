import { expect, test } from "vitest";
import { mergeTold, pushOutlook, stopTold } from "./merge-answer.ts";

const answer = { reason: "", target: "main", warnings: [], empty: false, pushed: null, task: { id: "k2m4p" } };

test("only a merge that has reached its branch is told as done", () => {
  expect(mergeTold({ ...answer, state: "merged" })).toEqual({
    text: "Merged into main.\nTo undo it: signalbox task merge k2m4p --undo",
    tone: "good",
  });
  expect(mergeTold({ ...answer, state: "lined-up" })).toEqual({ text: "In the queue of main.", tone: "wait" });
  const waits = {
    ...answer,
    state: "waits",
    reason: "Untracked files are in the way: a.txt.",
    warnings: ["Look."],
  } as const;
  expect(mergeTold(waits)).toEqual({
    text: "Not merged yet. Untracked files are in the way: a.txt.\nLook.",
    tone: "wait",
  });
  expect(mergeTold({ ...answer, state: "refused", reason: "No." })).toEqual({ text: "Not merged. No.", tone: "bad" });
  expect(mergeTold({ ...answer, state: "conflict", reason: "a.ts" }).tone).toBe("bad");
});

test("a merge of nothing is not told as merged", () => {
  expect(mergeTold({ ...answer, state: "merged", empty: true }).text).toContain("nothing was merged");
});

test("a merge that was stopped is told as done, and one that was too late to stop is not", () => {
  expect(stopTold({ ...answer, state: "refused" })).toEqual({ text: "Its merge into main is stopped.", tone: "good" });
  expect(stopTold({ ...answer, state: "merged" })).toMatchObject({ tone: "bad" });
});

test("after a merge a person is told what was pushed with it, and how to undo it", () => {
  const pushed = { remote: "origin", commits: 2 };
  expect(mergeTold({ ...answer, state: "merged", pushed }).text.split("\n")).toEqual([
    "Merged into main.",
    "Pushed main to origin, with 2 other commits of yours that were not there yet.",
    "To undo it: signalbox task merge k2m4p --undo",
  ]);
});

test("before a merge a person is told which commits of their own would be pushed with it", () => {
  const outlook = (commits: number | null) => pushOutlook({ target: "main", pushed: { remote: "origin", commits } });
  expect(outlook(0)).toBe("It would also push main to origin");
  expect(outlook(1)).toBe("It would also push main to origin, with 1 other commit of yours that is not there yet");
  expect(outlook(null)).toContain("with all of your commits that are not there yet");
});
