import { expect, test } from "vitest";
import type { QuestionView } from "../../api/questions.ts";
import { inputOf, inputWith } from "./action-input.ts";

const question = { id: "q1" } as QuestionView;

test("an answer goes with the question on the screen, an approval with the commit, and nothing else with either", () => {
  const shown = { question, commit: "c0ffee" };
  const inputs = ["answer", "reply", "approve", "merge", "move"].map((name) => inputOf({ name }, shown));
  expect(inputs).toEqual([{ question: "q1" }, { question: "q1" }, { commit: "c0ffee" }, {}, {}]);
  expect(["answer", "approve"].map((name) => inputOf({ name }, {}))).toEqual([{}, {}]);
});

test("where an answer also chooses a state, it is sent with the person's choice, and not before there is one", () => {
  const choices = ["planning", "working"];
  expect(inputWith({ question: "q1" }, { text: "Two", choice: "working" }, choices)).toEqual({
    ...{ question: "q1", text: "Two", to: "working" },
  });
  expect(inputWith({}, { text: "Two", choice: "" }, choices)).toBeUndefined();
  // It was chosen for an earlier question.
  expect(inputWith({}, { text: "Two", choice: "stuck" }, choices)).toBeUndefined();
});

test("words are sent as they were written, and never without any", () => {
  expect(inputWith({}, { text: " Two\n", choice: "" }, [])).toEqual({ text: " Two\n" });
  expect(inputWith({}, { text: " \n", choice: "" }, [])).toBeUndefined();
});
