import fc from "fast-check";
import { expect } from "vitest";
import { loadWorkflow } from "../../src/engine/language/load.ts";
import { follow } from "../../src/engine/simulate/simulate.ts";
import { verify } from "../../src/engine/verify/verify.ts";
import { builtIn } from "./workflow-texts.ts";

/** Verifies built-in files with lines lost, doubled or moved, and follows every example. Returns how many of them load. */
export function verifyAltered(runs: number): number {
  const change = fc.record({ kind: fc.constantFrom("lose", "double", "move"), at: fc.nat(), other: fc.nat() });
  let verified = 0;
  fc.assert(
    fc.property(
      fc.constantFrom("default", "classic", "minimal", "team", "team-subtask"),
      fc.array(change, { minLength: 1, maxLength: 3 }),
      (name, changes) => {
        let lines = builtIn(name).split("\n");
        for (const { kind, at, other } of changes) {
          const i = at % lines.length;
          const line = lines[i] ?? "";
          if (kind !== "double") lines = lines.toSpliced(i, 1);
          if (kind !== "lose") lines = lines.toSpliced(other % lines.length, 0, line);
        }
        const { workflow, problems } = loadWorkflow(lines.join("\n"), "b.yml");
        if (workflow === undefined) return;
        verified++;
        for (const { example } of verify(workflow, problems).findings) {
          if (example !== undefined) expect(follow(workflow, example).problem).toBeUndefined();
        }
      },
    ),
    { numRuns: runs, seed: 7 },
  );
  return verified;
}
