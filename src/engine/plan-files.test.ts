import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createOverlaps } from "./plan-files.ts";

function overlap(a: string, b: string): boolean {
  const one = createOverlaps([a, b])(0).includes(1);
  expect(createOverlaps([a, b])(1).includes(0)).toBe(one);
  expect(createOverlaps([b, a])(0).includes(1)).toBe(one);
  return one;
}

describe("files that share something", () => {
  test.each([
    ["src/a.ts", "src/a.ts"],
    ["src", "src/a.ts"],
    ["src/**", "src/deep/er/a.ts"],
    ["**", "README.md"],
    ["**/*.ts", "src/a.ts"],
    ["**/*.ts", "a.ts"],
    ["src/*.ts", "src/a*"],
    ["src/**/test.ts", "src/a/**"],
    ["src/?.ts", "src/[ab].ts"],
    ["src/{a,b}.ts", "src/a.ts"],
    ["*/a.ts", "src/*"],
  ])("%s and %s", (a, b) => expect(overlap(a, b)).toBe(true));

  test.each([
    ["src/a.ts", "src/b.ts"],
    ["src/a.ts", "src/a.tsx"],
    ["src", "srcs/a.ts"],
    ["src/**", "docs/a.md"],
    ["**/*.ts", "README.md"],
    ["src/*.ts", "src/*.md"],
    ["src/?.ts", "src/ab.ts"],
    ["*/a.ts", "src/b.ts"],
  ])("not %s and %s", (a, b) => expect(overlap(a, b)).toBe(false));

  const name = fc.constantFrom("a", "b", "ab", "*", "a*", "?", "**", "*b");
  const file = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
  const path = fc
    .array(fc.constantFrom("a", "b", "ab"), { minLength: 1, maxLength: 4 })
    .map((names) => names.join("/"));

  test("two globs that match the same path share something", () => {
    const matches = (glob: string, text: string) => {
      const pattern = glob.split("/").map((each) => each.replaceAll("*", "[^/]*").replaceAll("?", "[^/]"));
      const source = glob.split("/").map((each, i) => (each === "**" ? "(?:.*)" : pattern[i]));
      return new RegExp(`^${source.join("/")}$`).test(text);
    };
    fc.assert(
      fc.property(file, file, path, (a, b, text) => {
        if (matches(a, text) && matches(b, text)) expect(overlap(a, b)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test("a file overlaps in a long list as it does alone", () => {
    fc.assert(
      fc.property(fc.uniqueArray(file, { minLength: 2, maxLength: 8 }), (files) => {
        const overlaps = createOverlaps(files);
        for (const [one, a] of files.entries())
          for (const [other, b] of files.entries())
            expect(overlaps(one).includes(other)).toBe(a === b || overlap(a, b));
      }),
    );
  });

  test("a glob with many wildcards costs little", () => {
    expect(overlap(`${"*a".repeat(100)}b`, `${"*a".repeat(100)}c`)).toBe(false);
    expect(overlap(`${"**/a/".repeat(60)}b`, `${"**/a/".repeat(60)}c`)).toBe(true);
  });
});
