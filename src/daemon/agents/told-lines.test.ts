import { expect, test } from "vitest";
import { toldLines } from "./read-turn.ts";

test("people see an agent's prompts, its tool calls and its words, and no machine-readable lines", () => {
  const told = toldLines([
    { kind: "session", id: "s-1", transcript: "/t" },
    { kind: "prompted", text: "# Ticket c-1: Grind\nTASK.md has it all.\n" },
    { kind: "busy", what: "" },
    { kind: "tool", name: "Bash", state: "began" },
    { kind: "tool", name: "Bash", state: "ended" },
    { kind: "said", text: "Ground.\n\nDONE\n" },
    { kind: "failed", error: { kind: "server", message: "Overloaded.", resetAt: undefined } },
    { kind: "over" },
  ]);
  expect(told).toBe("> # Ticket c-1: Grind\n· Bash\nGround.\n\nDONE\n! Overloaded.");
  expect(toldLines([{ kind: "session", id: "s-1", transcript: "" }])).toBe("");
});
