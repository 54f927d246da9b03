import { expect, onTestFinished, test, vi } from "vitest";
import {
  draftOf,
  keepDraft,
  type LineComment,
  listen,
  type ReviewDraft,
  saidIn,
  textOf,
  withComment,
  withoutSent,
} from "./review-draft.ts";

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

test("comments on the same line of two files are two comments, and each is taken out by itself", () => {
  const both = [comment(3, "here"), comment(3, "there", { path: "src/b.ts" })].reduce(withComment, nothing);
  expect(saidIn(both).map(({ path, text }) => [path, text])).toEqual([
    ["src/a.ts", "here"],
    ["src/b.ts", "there"],
  ]);
  expect(withComment(both, comment(3, "")).comments.map(({ text }) => text)).toEqual(["there"]);
  const onlyHere = { ...both, comments: both.comments.slice(0, 1) };
  expect(withoutSent(both, onlyHere).comments.map(({ text }) => text)).toEqual(["there"]);
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

/** What a browser keeps for all tabs of the page, and the events of this tab. */
function stubBrowser({ isFull = false } = {}) {
  const kept = new Map<string, string>();
  const tab = new EventTarget();
  vi.stubGlobal("addEventListener", tab.addEventListener.bind(tab));
  vi.stubGlobal("removeEventListener", tab.removeEventListener.bind(tab));
  vi.stubGlobal("localStorage", {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem(name: string, value: string) {
      if (isFull) throw new Error("QuotaExceededError");
      kept.set(name, value);
    },
    removeItem: (name: string) => void kept.delete(name),
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  const name = (task: string) => `signalbox.draft.review ${task}`;
  return {
    kept: (task: string) => kept.get(name(task)),
    /** Another tab keeps a draft: this tab gets an event if it listens. */
    keepElsewhere(task: string, draft: ReviewDraft) {
      kept.set(name(task), JSON.stringify(draft));
      tab.dispatchEvent(new Event("storage"));
    },
  };
}

test("two tabs write into one draft: neither takes out what the other has written, whether or not it shows the draft", () => {
  const { keepElsewhere, kept } = stubBrowser();
  const shown: (readonly string[])[] = [];
  const texts = () => draftOf("t1").comments.map(({ text }) => text);
  const end = listen(() => shown.push(texts()));
  keepDraft("t1", withComment(draftOf("t1"), comment(1, "here")));
  const both = withComment(draftOf("t1"), comment(2, "there"));
  keepElsewhere("t1", both);
  expect(shown).toEqual([["here"], ["here", "there"]]);
  end();
  // This tab shows another part of the task.
  keepElsewhere("t1", withComment(both, comment(3, "and there")));
  keepDraft("t1", withComment(draftOf("t1"), comment(4, "here again")));
  expect(texts()).toEqual(["here", "there", "and there", "here again"]);
  keepDraft("t1", nothing);
  expect([kept("t1"), texts()]).toEqual([undefined, []]);
});

test("a draft that is read again without a change is the same object, so that nothing is drawn again", () => {
  stubBrowser();
  keepDraft("t2", withComment(nothing, comment(1, "here")));
  expect(draftOf("t2")).toBe(draftOf("t2"));
  expect(draftOf("other")).toBe(draftOf("other"));
});

test("what is written stays on the screen where the browser can keep nothing", () => {
  stubBrowser({ isFull: true });
  keepDraft("t3", withComment(draftOf("t3"), comment(1, "here")));
  expect(draftOf("t3").comments.map(({ text }) => text)).toEqual(["here"]);
});
