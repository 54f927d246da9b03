import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { branchNameProblem, defaultBranch, isDefaultBranch, prefixForLabels, slug } from "./branch-name.ts";

function gitAccepts(name: string): boolean {
  return spawnSync("git", ["check-ref-format", "--branch", name]).status === 0;
}

const awkward = [
  ..."a/.-@{}~^:?*[]\\ \t\u007fé—😀;$()#'\"!%&=+,<>|`",
  "..",
  "//",
  ".lock",
  "HEAD",
  "@{",
  "@{-1}",
  "refs/heads/",
];

test("accepts ordinary names", () => {
  for (const name of ["main", "feature/login", "signalbox/a1b2", "fix/größe", "a.b", "x@y", "a;b", "head"]) {
    expect(branchNameProblem(name)).toBeUndefined();
  }
});

test.each([
  ["", "A branch needs a name."],
  ["a b", 'The branch name "a b" contains a space.'],
  ["a\u0007", 'The branch name "a\\u0007" contains a control character.'],
  ["-f", 'The branch name "-f" begins with a hyphen, so commands would take it for an option.'],
  ["/a", 'The branch name "/a" begins or ends with a slash.'],
  ["a//b", 'The branch name "a//b" contains two slashes in a row.'],
  ["a..b", 'The branch name "a..b" contains two dots in a row.'],
  ["a.", 'The branch name "a." ends with a dot.'],
  ["a/.b", 'The branch name "a/.b" has a part that begins with a dot.'],
  ["a.lock/b", 'The branch name "a.lock/b" has a part that ends with .lock.'],
  ["a@{1}", 'The branch name "a@{1}" contains @{.'],
  ["@", 'The branch name "@" means the present commit to git.'],
  ["HEAD", 'The branch name "HEAD" means the present commit to git.'],
  ["a:b", 'The branch name "a:b" contains one of ~ ^ : ? * [ \\.'],
  ["a\ud800", 'The branch name "a\\ud800" contains half of a character pair, which is no valid text.'],
])("says what is wrong with %j", (name, problem) => {
  expect(branchNameProblem(name)).toBe(problem);
});

test("counts the length in bytes", () => {
  expect(branchNameProblem("a".repeat(200))).toBeUndefined();
  expect(branchNameProblem("é".repeat(101))).toContain("is longer than 200 bytes");
});

test("refuses a name exactly where git does", () => {
  const name = fc.array(fc.constantFrom(...awkward), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.oneof(name, fc.string({ unit: "binary", minLength: 1, maxLength: 6 })), (text) => {
      // A NUL cannot be handed to a command, and git reads @{…} as another branch's name before it judges.
      fc.pre(!text.includes("\0") && !text.includes("@{"));
      expect({ text, accepted: branchNameProblem(text) === undefined }).toEqual({ text, accepted: gitAccepts(text) });
    }),
    { numRuns: 250 },
  );
});

test("git accepts every name that is accepted here", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...awkward), { minLength: 1, maxLength: 6 }), (parts) => {
      const text = parts.join("");
      fc.pre(branchNameProblem(text) === undefined);
      expect({ text, accepted: gitAccepts(text) }).toEqual({ text, accepted: true });
    }),
    { numRuns: 100 },
  );
});

test("a task's first branch is named after its id", () => {
  expect(defaultBranch("a1b2")).toBe("signalbox/a1b2");
  expect(isDefaultBranch("signalbox/a1b2", "a1b2")).toBe(true);
  expect(isDefaultBranch("signalbox/a1b2", "a1b")).toBe(false);
});

test("labels choose the prefix", () => {
  expect(prefixForLabels(["ui", "bug", "docs"])).toBe("fix");
  expect(prefixForLabels(["Docs"])).toBe("docs");
  expect(prefixForLabels(["test", "refactor"])).toBe("refactor");
  expect(prefixForLabels(["test"])).toBe("test");
  expect(prefixForLabels([])).toBe("feature");
});

test.each([
  ["Add a login flow!", "add-a-login-flow"],
  ["  --Größe: Ärger & Straße--  ", "grosse-arger-strasse"],
  ["Łódź Ørsted İstanbul", "lodz-orsted-istanbul"],
  ["Don't panic™", "dont-panictm"],
  ["日本語", "task"],
  ["", "task"],
  ["make the quick brown fox jump over the lazy dog", "make-the-quick-brown-fox-jump-over-the"],
  ["x".repeat(50), "x".repeat(40)],
])("turns %j into %j", (text, expected) => {
  expect(slug(text)).toBe(expected);
});

test("a slug is always a short and valid part of a branch name", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 4, max: 60 }), (text, max) => {
      const result = slug(text, max);
      expect(result).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
      expect(result.length).toBeLessThanOrEqual(max);
      expect(branchNameProblem(`feature/${result}`)).toBeUndefined();
    }),
  );
});
