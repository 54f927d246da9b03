import fc from "fast-check";
import { expect, test } from "vitest";
import { globOf } from "./glob.ts";

/** The meaning of a pattern, as a regular expression: right, and slow for hostile paths. */
function meaningOf(pattern: string): RegExp {
  const parts = [...pattern.matchAll(/\*\*\/|\*\*|\*|\?|\{|\}|,|./gs)].map(([token]) => {
    const known: Record<string, string> = {
      ...{ "**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]", "{": "(?:", "}": ")", ",": "|" },
    };
    return known[token] ?? token.replace(/[.]/g, "\\.");
  });
  return new RegExp(`^(?:${parts.join("")})(?:/.*)?$`, "s");
}

test("patterns with many wildcards mean the same as those with few", () => {
  const piece = fc.constantFrom("*", "**", "**/", "?", "a", "b", ".", "/", "{a,b}", "{a*,}", "{,b/}");
  const patterns = fc.array(piece, { minLength: 3, maxLength: 8 }).map((all) => all.join(""));
  const paths = fc.array(fc.constantFrom("a", "b", ".", "/", "ab"), { maxLength: 8 }).map((all) => all.join(""));
  fc.assert(
    fc.property(patterns, fc.array(paths, { minLength: 5, maxLength: 5 }), (pattern, all) => {
      const plain = pattern.replace(/^(?:\.\/)+/, "").replace(/\/+$/, "");
      for (const path of all) expect(globOf(pattern).test(path)).toBe(meaningOf(plain).test(path));
    }),
    { numRuns: 2_000 },
  );
});

test("a path that an agent chooses does not slow a pattern down", () => {
  const path = `test/${"a".repeat(4_000)}`;
  expect(globOf("test/*a*a*a*a*a*.snap").test(path)).toBe(false);
  expect(globOf("test/*a*a*a*a*a*.snap").test(`${path}.snap`)).toBe(true);
  expect(globOf("**/*a*/**/*.{js,ts}").test("x/bad/y/z.ts")).toBe(true);
});
