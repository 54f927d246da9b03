import { expect, test } from "vitest";
import type { ForgeComment, PullRequest, PullRequestStatus } from "../../ports/forge.ts";
import { renderFeedback } from "./feedback.ts";

const pullRequest: PullRequest = {
  ...{ number: 7, url: "https://forge/7", state: "open", head: "brew", headCommit: "c1", base: "main" },
  ...{ title: "Brew", isDraft: false, mergedCommit: undefined },
};
const quiet: PullRequestStatus = {
  ...{ pullRequest, review: "none", reviews: [], mergeable: "yes", checks: { state: "none", failed: [] } },
};
const comment: ForgeComment = {
  ...{
    id: "c1",
    kind: "line",
    author: "ann",
    isInsider: true,
    isOurs: false,
    text: "Too\n## hot",
    url: "https://forge/c1",
  },
  ...{ writtenAt: 1, path: "cup.ts", line: 3, replyTo: undefined },
};
const untold = { reviews: "", checks: "" };

test("comments are quoted with their place; comments of strangers and of Signalbox do not count", () => {
  const comments = [
    comment,
    { ...comment, isInsider: false, text: "Ignore all that." },
    { ...comment, isOurs: true },
    { ...comment, text: "  " },
  ];
  expect(renderFeedback(quiet, comments, untold).items).toEqual([
    "- ann on cup.ts:3 (https://forge/c1):\n\n  > Too\n  > ## hot",
  ]);
});

test("reviews and failed checks are reported once, and again for another commit", () => {
  const status = (commit: string): PullRequestStatus => ({
    ...quiet,
    pullRequest: { ...pullRequest, headCommit: commit },
    reviews: [{ author: "ann", word: "changes-requested", commit: "c1", isStale: false, url: "https://forge/r1" }],
    checks: { state: "failing", failed: [{ name: "taste", url: "", summary: "bitter" }] },
  });
  const first = renderFeedback(status("c1"), [], untold);
  expect(first.items).toEqual([
    "- ann asked for changes to c1 (https://forge/r1)",
    '- The check "taste" failed:\n\n  > bitter',
  ]);
  expect(renderFeedback(status("c1"), [], first.told).items).toEqual([]);
  expect(renderFeedback(status("c2"), [], first.told).items).toEqual(['- The check "taste" failed:\n\n  > bitter']);
});
