import { expect, test } from "vitest";
import { writeRefusal } from "./write-refusal.ts";

test("one reason stands by itself, with what to do about it", () => {
  expect(writeRefusal([{ code: "guard", text: "It is too early.", fix: "Wait." }])).toEqual({
    message: "It is too early.",
    hint: "Wait.\nNothing has changed.",
  });
});

test("of several reasons each has its own fix below it", () => {
  const reasons = [
    { code: "guard", text: "It is too early.", fix: "Wait." },
    { code: "gate-missing", text: "The plan is missing.", fix: "" },
  ];
  expect(writeRefusal(reasons, "Nothing else has changed.")).toEqual({
    message: "There are 2 reasons against it.",
    hint: "- It is too early.\n  Wait.\n- The plan is missing.\nNothing else has changed.",
  });
});
