import { expect, test } from "vitest";
import { endsTheSame, undisturbed } from "../faults/die-everywhere.ts";

// Like test/faults/boundaries.test.ts, with every pair of deaths.

const sides = ["before", "after"] as const;
/** By then the second process has recovered, and is where the first could have died. */
const recovered = 25;

test("wherever a process dies, and wherever the next one dies during its recovery, the end is the same", async () => {
  const { end, calls } = await undisturbed();
  let pairs = 0;
  for (let at = 1; at <= calls; at++) {
    for (const when of sides) {
      for (const other of sides) {
        for (let next = 1; next <= recovered; next++) {
          const deaths = [
            { at, when },
            { at: next, when: other },
          ];
          if (!(await endsTheSame(deaths, end))) break;
          pairs++;
        }
      }
    }
  }
  expect(pairs).toBeGreaterThan(calls * 4);
});
