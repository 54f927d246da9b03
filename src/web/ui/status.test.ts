import { expect, test } from "vitest";
import { signalOf } from "./status.tsx";

const task = { needsPerson: false, outcome: null, undone: false, held: null, paused: "", waiting: "" } as const;
const held = { reason: "Its agent has ended.", word: "error", again: "wait" } as const;

test("a task that needs a person is shown as such, also if it is held", () => {
  expect(signalOf({ ...task, needsPerson: true })).toMatchObject({ word: "needs you" });
  expect(signalOf({ ...task, needsPerson: true, held })).toMatchObject({ word: "needs you" });
  expect(signalOf({ ...task, held })).toMatchObject({ word: "held" });
});
