import { expect, test } from "vitest";
import type { AnswerSchema } from "../answers/schema.ts";
import { fittingAnswer } from "./agent.ts";

const finding = { type: "object", properties: { id: { type: "string" }, state: { enum: ["open", "fixed"] } } };
const review = (items: object) =>
  ({
    type: "object",
    required: ["findings"],
    properties: { findings: { type: "array", items } },
  }) as unknown as AnswerSchema;

test("without a script, a judge answers each finding that is still to be dealt with, and no other", () => {
  const prompt = [
    "Known findings, each of which you must answer: F2 (high) cup.md:3 F9 (high) is in this title",
    "  Evidence that names F7 (high)",
    "F1 (medium, approved by a person) pot.md It leaks",
    "Closed findings: F3 (low, fixed: dry) cup.md It was wet",
    "F4 (low, dismissed by a person) cup.md It is small",
  ].join("\n");
  const answer = fittingAnswer(review(finding), prompt) as { readonly findings: readonly object[] };
  expect(answer.findings).toMatchObject([
    { id: "F2", state: "fixed" },
    { id: "F1", state: "fixed" },
  ]);
  const asScout = review({ type: "object", properties: { title: { type: "string" } } });
  expect(fittingAnswer(asScout, prompt)).toEqual({ findings: [] });
});
