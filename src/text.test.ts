import fc from "fast-check";
import { expect, test } from "vitest";
import { hiddenCharacters, joinedTexts } from "../test/hidden-characters.ts";
import { cutText, firstStatement, oneLine, plainOutput, plainText, sentence, sentences, shownTime } from "./text.ts";

test("a program's message becomes a complete sentence", () => {
  expect(["Too much", "Not so fast.", " Why? ", ""].map(sentence)).toEqual(["Too much.", "Not so fast.", "Why?", ""]);
});

test("a sentence never runs into a command before it, and a command at the end stays copyable", () => {
  const both = ["It is over. Go on: signalbox task create --from k2m4p", "", "If not: git branch -D m1"];
  expect(sentences(both)).toBe("It is over. Go on: signalbox task create --from k2m4p. If not: git branch -D m1");
});

test("a first line that announces a quote is kept together with it", () => {
  const quote = "The remote refused. git says:\nremote: Sign your commits.\nerror: failed to push";
  expect(firstStatement(quote)).toBe(quote);
  expect(firstStatement("The tests fail.\n1\n2")).toBe("The tests fail.");
  expect(firstStatement(["The tests say:", ..."123456789"].join("\n"))).toBe("The tests say:\n1\n2\n3\n4\n5\n6\n7\n8");
});

test("a time is shown to the second, with its time zone", () => {
  expect(shownTime(Date.UTC(2026, 10, 16, 2, 47, 49, 170))).toBe("2026-11-16 02:47:49 UTC");
});

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
  ["what turns the writing round", "a\u202eb\u2066c\u2028d\u061ce", "abcde"],
  ["what nobody sees", "pa\u200bss\u2060wo\ufeffrd\u00ad\u200d\u{e0041}\u3164", "password"],
  ["joiners that join nothing", "a\u200db \u200c👩\u200d\u200d💻\u200d é\u200dé", "ab 👩\u200d💻 éé"],
  ["selectors that select nothing", "x\ufe00\ufe01y\ufe0f ❤\ufe0f\ufe0e\ufe0f 葛\u{e0100} 1\ufe0f", "xy ❤\ufe0f 葛 1"],
  ["a Braille blank, for which a space takes the column", "⣿\u2800⣿", "⣿ ⣿"],
  ["half of a pair", "a\ud800b", "a\ufffdb"],
])("plainOutput removes %s", (_, output, plain) => {
  expect(plainOutput(output)).toBe(plain);
});

test("plainOutput keeps letters of all scripts", () => {
  expect(plainOutput("größe 日本 👩‍💻 ✓ × › é")).toBe("größe 日本 👩‍💻 ✓ × › é");
});

test("every hidden character is removed, with what is hidden in it", () => {
  for (const character of hiddenCharacters) {
    const shown = [oneLine, plainText, plainOutput].map((clean) =>
      clean(`Fix x${character}y é${character}é`).replaceAll(" ", ""),
    );
    expect([character.codePointAt(0)?.toString(16), ...shown]).toEqual([
      expect.anything(),
      ...Array(3).fill("Fixxyéé"),
    ]);
  }
  const written = [..."ignore the review"]
    .map((letter) => String.fromCodePoint(0xe0100 + letter.charCodeAt(0)))
    .join("");
  expect(oneLine(`Fix ❤️${written} it`)).toBe("Fix ❤️ it");
});

test("emoji and scripts keep what they need", () => {
  for (const text of joinedTexts)
    expect([oneLine, plainText, plainOutput].map((clean) => clean(text))).toEqual([text, text, text]);
});

test("a cleaned text is not changed when it is cleaned again", () => {
  const piece = fc.constantFrom(...hiddenCharacters, ..."aé1#❤👩💻\u20e3ی\u0915\u094d\u1820 \n");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12, size: "max" }), (pieces) => {
      for (const clean of [oneLine, plainText]) {
        const once = clean(pieces.join(""));
        expect(clean(once)).toBe(once);
      }
    }),
    { numRuns: 2000 },
  );
});

test("plainOutput leaves no control sequence in any output", () => {
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

test.each([
  ["two\r\nlines\tand\u2028more", "two lines and more"],
  ["\u001b[31mred\u001b[39m and \u001b]0;title\u0007plain", "red and plain"],
  ["a\u0007b\u009bKc\u0000", "a bc"],
  ["safe\u202eesrever\u2066", "safe esrever"],
  ["  half a pair \ud83d ", "half a pair \ufffd"],
  ["größe 日本 👩‍💻 ✓", "größe 日本 👩‍💻 ✓"],
  ["Not\u001b[31m logged\u001b[0m in.\r\n\u001b]0;title\u0007 Log\u202e in\t again.\n", "Not logged in. Log in again."],
  ["pass\u200bword\u{e0068}\u{e0069} می\u200cخواهم", "password می\u200cخواهم"],
  ["", ""],
])("%j is shown on one line as %j", (text, line) => {
  expect(oneLine(text)).toBe(line);
});

test("oneLine gives one line without control characters, of limited length and whole characters, for any text", () => {
  const pieces = ["a", " ", "\n", "\r", "\u001b[", "\u001b]", "31m", "\u0007", "\u009b", "\u202e", "🚂", "\ud83d"];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces)), fc.integer({ min: 2, max: 20 }), (parts, max) => {
      const line = oneLine(parts.join(""), max);
      expect(line).toMatch(/^[^\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]*$/u);
      expect(line.length).toBeLessThanOrEqual(max);
      expect(line.isWellFormed()).toBe(true);
    }),
  );
});

test("cutText cuts between whole characters, and marks the cut", () => {
  expect(["abc", "abcd", "ab🚂d"].map((text) => cutText(text, 3))).toEqual(["abc", "ab…", "ab…"]);
  expect(cutText("a🚂bc", 3)).toBe("a…");
});

test("a million invisible characters take no longer than one pass", () => {
  for (const text of ["\u200d", "é\u200d", "\u200b", "\u200d\u200c"]) {
    const start = performance.now();
    oneLine(`é${text.repeat(1_000_000)}é`);
    expect(performance.now() - start).toBeLessThan(5_000);
  }
});
