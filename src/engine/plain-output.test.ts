import fc from "fast-check";
import { expect, test } from "vitest";
import { plainOutput } from "./plain-output.ts";

test.each([
  ["colours", "\u001b[1;31mFAIL\u001b[0m a\u001b[38;5;9mb\u001b[39m", "FAIL ab"],
  ["colours with colons, and places", "\u001b[38:2::1:2:3mx\u001b[2K\u001b[1A\u001b[?25l", "x"],
  ["titles and links", "\u001b]0;title\u0007a\u001b]8;;https://x\u001b\\link\u001b]8;;\u001b\\", "alink"],
  ["a title that never ends", "\u001b]0;title\nnext", "\nnext"],
  ["commands in one character", "\u009b31mred\u009b0m \u009dtitle\u009c!", "red !"],
  ["short escapes", "\u001bc\u001b(Ba\u001b7\u001b=", "a"],
  ["half of an escape", "a\u001b[", "a"],
  ["lines written over", "10 %\r50 %\rdone\r\nnext\r", "done\nnext"],
  ["control characters", "a\u0000\u0007\b\u007fb\tc\u000b\u000c", "ab\tc"],
  ["what turns the writing round", "a\u202eb\u2066c\u2028d", "abcd"],
  ["half of a pair", "a\ud800b", "a\ufffdb"],
])("takes away %s", (_, output, plain) => {
  expect(plainOutput(output)).toBe(plain);
});

test("leaves letters of all kinds alone", () => {
  expect(plainOutput("größe 日本 👩‍💻 ✓ × › é")).toBe("größe 日本 👩‍💻 ✓ × › é");
});

test("nothing that a terminal obeys is left of any output", () => {
  const piece = fc.oneof(
    fc.constantFrom("\u001b", "\u001b[", "\u001b]", "\u009b", "m", "0;1", "\u0007", "\u001b\\", "\r", "\n", "a"),
    fc.string({ unit: "binary", maxLength: 3 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20, size: "max" }), (pieces) => {
      expect(plainOutput(pieces.join(""))).toMatch(/^(?:\P{Cc}|[\n\t])*$/u);
    }),
    { numRuns: 2000 },
  );
});
