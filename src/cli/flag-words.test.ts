import { expect, test } from "vitest";
import { inFlagWords } from "./flag-words.ts";

test.each([
  ["The body.harness must have at most 100 characters.", "--harness must have at most 100 characters."],
  ["The body.reviewHarness must be text.", "--review-harness must be text."],
  ["The body.labels[3] must have at most 100 characters.", "--label must have at most 100 characters."],
  [
    "The query.limit must be text.\nThe body.dependsOn.0 must be text.",
    "--limit must be text.\n--depends-on must be text.",
  ],
  ["The body.summary must have at most 2000 characters.", "SUMMARY must have at most 2000 characters."],
  ["The body is no JSON.", "The body is no JSON."],
])("a person reads %j in words of the command line", (told, shown) => {
  expect(inFlagWords(told)).toBe(shown);
});
