import fc from "fast-check";
import { expect, test } from "vitest";
import { isSame } from "./world.ts";

// Few keys and values, so that many pairs are equal or nearly equal.
const small = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(0, 1, "", "a", true, null),
    fc.array(tie("value"), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom("a", "b", "c"), fc.oneof(fc.constant(undefined), tie("value")), { maxKeys: 3 }),
  ),
})).value;

test("two values are the same if their JSON is the same text", () => {
  fc.assert(
    fc.property(small, small, (one, other) => {
      expect(isSame(one, other)).toBe(JSON.stringify(one) === JSON.stringify(other));
      expect(isSame(one, structuredClone(one))).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});
