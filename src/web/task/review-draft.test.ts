import { expect, test } from "vitest";
import { type LineComment, type ReviewDraft, saidIn, textOf, withComment, withoutSent } from "./review-draft.ts";

const comment = (line: number, text: string, more: Partial<LineComment> = {}): LineComment => ({
  ...{ path: "src/a.ts", side: "new", line, code: "const a = 1;", commit: "1234567890abcdef", text },
  ...more,
});
const nothing: ReviewDraft = { comments: [], remark: "" };

test("a line has one comment, which is replaced, and taken out once it is empty", () => {
  const one = withComment(withComment(nothing, comment(3, "why?")), comment(3, "why not?"));
  expect(one.comments.map(({ text }) => text)).toEqual(["why not?"]);
  const two = withComment(one, comment(3, "gone?", { side: "old" }));
  expect(two.comments).toHaveLength(2);
  expect(withComment(two, comment(3, "")).comments.map(({ side }) => side)).toEqual(["old"]);
});

test("what is sent names file, line and commit of each comment, in order, and quotes the line", () => {
  const draft = [comment(12, "second"), comment(3, "first"), comment(1, "other", { path: "README.md" })].reduce(
    withComment,
    { ...nothing, remark: "  Nearly there.  " },
  );
  expect(textOf(withComment(draft, comment(5, "removed", { side: "old" })))).toBe(
    [
      "Nearly there.",
      "README.md:1 at 1234567890\n> const a = 1;\nother",
      "src/a.ts:3 at 1234567890\n> const a = 1;\nfirst",
      "src/a.ts:5 (removed line) at 1234567890\n> const a = 1;\nremoved",
      "src/a.ts:12 at 1234567890\n> const a = 1;\nsecond",
    ].join("\n\n"),
  );
});

test("a comment of spaces is kept while it is written, and not sent", () => {
  const draft = withComment(nothing, comment(3, "  "));
  expect(draft.comments).toHaveLength(1);
  expect(saidIn(draft)).toEqual([]);
  expect(textOf(draft)).toBe("");
});

test("after a review was sent, only what was written meanwhile is left of the draft", () => {
  const sent = [comment(3, "first"), comment(5, "second")].reduce(withComment, { ...nothing, remark: "Nearly." });
  expect(withoutSent(sent, sent)).toEqual(nothing);
  const meanwhile = [comment(5, "second, and why?"), comment(3, "removed line", { side: "old" })].reduce(
    withComment,
    sent,
  );
  const left = withoutSent({ ...meanwhile, remark: "Nearly.\n\nOne more." }, sent);
  expect(left.comments.map(({ text }) => text)).toEqual(["second, and why?", "removed line"]);
  expect(left.remark).toBe("One more.");
  expect(withoutSent({ ...sent, remark: "Not at all." }, sent).remark).toBe("Not at all.");
});
