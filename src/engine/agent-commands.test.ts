import { expect, test } from "vitest";
import { type AgentCommand, validFrom, whyNotFrom } from "./reconcile.ts";

const states = ["idle", "ready", "working", "done", "stuck"] as const;

/**
 * The seed's table. Merging is also allowed for a stuck agent, whose work may be done although its tests could not run.
 */
const table = `
assign   idle
peek     idle ready working done stuck
logs     idle ready working done stuck
kill     working stuck
cleanup  idle ready working done stuck
merge    done stuck
`;

test("a command is allowed in the states of the table, and in all others it is refused with the next step", () => {
  const rows = table
    .trim()
    .split("\n")
    .map((row) => row.split(/\s+/));
  expect(rows.map(([command]) => command)).toEqual(Object.keys(validFrom));
  for (const [command, ...valid] of rows)
    for (const state of states) {
      const refusal = whyNotFrom(command as AgentCommand, "A", state);
      expect([command, state, refusal === undefined]).toEqual([command, state, valid.includes(state)]);
      if (refusal === undefined) continue;
      expect(refusal.text).toBe(`A is ${state}; "${command}" needs an agent that is ${valid.join(" or ")}.`);
      expect(refusal.fix).toContain("signalbox crew ");
    }
});
