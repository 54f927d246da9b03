import { expect, test } from "vitest";
import { type AgentCommand, validFrom, whyNotFrom } from "./agent-commands.ts";

const states = ["idle", "ready", "working", "done", "stuck"] as const;

/** As the seed has it; merging is also for one that is stuck, where it is when its work was done and its tests could not be run. */
const table = `
assign   idle
peek     idle ready working done stuck
logs     idle ready working done stuck
kill     working stuck
cleanup  idle ready working done stuck
merge    done stuck
`;

test("every command is for the states that the table says, and for no others says so with the next step", () => {
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
      expect(refusal.text).toBe(`A is ${state}; "${command}" is for one that is ${valid.join(" or ")}.`);
      expect(refusal.fix).toContain("signalbox crew ");
    }
});
