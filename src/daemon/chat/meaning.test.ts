import { expect, test } from "vitest";
import type { IncomingMessage } from "../../ports/chat.ts";
import { chatHelp, meaningOf } from "./meaning.ts";

const one = { question: "k2m4p.3.1", isOpen: true, message: 10 };
const two = { question: "abcde.5", isOpen: true, message: 12 };
const over = { question: "k2m4p.2", isOpen: false, message: 4 };
const answer = (question: string, text: string) => ({ kind: "answer", question, text });

const read = (text: string, asked = [over, one], more: Partial<IncomingMessage> = {}) =>
  meaningOf({ next: 1, chat: "5", isPrivate: true, id: 20, from: "Ann", text, ...more }, asked);

test("a reply answers the question that it replies to, also a question that is over", () => {
  expect(read(" Arabica ", [over, one, two], { repliesTo: 10 })).toEqual(answer("k2m4p.3.1", "Arabica"));
  expect(read("/etc/hosts", [one, two], { repliesTo: 12 })).toEqual(answer("abcde.5", "/etc/hosts"));
  expect(read("late", [over, one], { repliesTo: 4 })).toEqual(answer("k2m4p.2", "late"));
});

test("a text after an id answers that question", () => {
  for (const text of ["abcde.5 the blue\none", "abcde.5: the blue\none"])
    expect(read(text, [one, two])).toEqual(answer("abcde.5", "the blue\none"));
  // A mistyped id is refused later, and never taken for a part of another answer.
  expect(read("k2m4p.9 yes", [one])).toEqual(answer("k2m4p.9", "yes"));
});

test("another text answers the only open question", () => {
  expect(read("Arabica")).toEqual(answer("k2m4p.3.1", "Arabica"));
  expect(read("v1.2 is fine")).toEqual(answer("k2m4p.3.1", "v1.2 is fine"));
});

test("a text without an id is no answer where several questions are open, or none", () => {
  expect(read("Arabica", [one, two])).toEqual({
    kind: "none",
    why: "Several questions are open: k2m4p.3.1, abcde.5. Reply to one of them, or begin with its id.",
  });
  expect(read("hello", [over])).toEqual({ kind: "none", why: "No question is open in this chat." });
});

test("a text that was written before the chat received the question is no answer to it", () => {
  expect(read("hello", [one], { id: 9 })).toMatchObject({ kind: "none" });
});

test("in a group only replies, ids and commands count", () => {
  const inGroup = { isPrivate: false };
  expect(read("Shall we have lunch?", [one], inGroup)).toEqual({ kind: "none", why: "" });
  expect(read("Arabica", [one], { ...inGroup, repliesTo: 10 })).toMatchObject({ kind: "answer" });
  expect(read("/cancel@my_bot k2m4p", [one], inGroup)).toEqual({ kind: "cancel", task: "k2m4p" });
});

test("/cancel names a question or a task, or replies to a question", () => {
  expect(read("/cancel k2m4p.3.1")).toEqual({ kind: "cancel", task: "k2m4p" });
  expect(read("/cancel k2m4p")).toEqual({ kind: "cancel", task: "k2m4p" });
  expect(read("/cancel", [one], { repliesTo: 10 })).toEqual({ kind: "cancel", task: "k2m4p" });
  for (const text of ["/cancel", "/cancel everything now"]) expect(read(text)).toMatchObject({ kind: "none" });
});

test("other commands and messages without a text change nothing", () => {
  expect(read("/start")).toEqual({ kind: "none", why: chatHelp });
  expect(read("/dance")).toMatchObject({ kind: "none", why: expect.stringContaining("/help") });
  expect(read("")).toEqual({ kind: "none", why: "Only a text can be an answer." });
});
