import { expect, test } from "vitest";
import { sendMany } from "../agents/send-many.ts";

test("500 messages reach an agent that is alternately busy, idle and in a dialog, each once and in order", async () => {
  const { sent, heard, swallowed, states } = await sendMany(500);
  expect(heard).toEqual(sent);
  expect(swallowed).toEqual([]);
  expect(new Set(states)).toEqual(new Set(["delivered"]));
});
