import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hiddenCharacters } from "../../test/hidden-characters.ts";
import { hasHidden } from "../hidden-characters.ts";
import { oneLine } from "../text.ts";
import {
  branchNameProblem,
  defaultBranch,
  isDefaultBranch,
  nameInAnswer,
  nearestBranchName,
  prefixForLabels,
  slug,
} from "./branch-name.ts";

/** Asks git about many names in one shell, because starting a process takes longer than git's answer. */
function acceptedByGit(names: readonly string[]): readonly string[] {
  const script = 'for name; do git check-ref-format --branch "$name" >/dev/null 2>&1 && echo yes || echo no; done';
  const { stdout } = spawnSync("sh", ["-c", script, "sh", ...names], { encoding: "utf8" });
  const answers = stdout.trim().split("\n");
  expect(answers).toHaveLength(names.length);
  return names.filter((_, index) => answers[index] === "yes");
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

test("ordinary branch names are accepted", () => {
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
  ["@", 'The branch name "@" means the current commit to git.'],
  ["HEAD", 'The branch name "HEAD" means the current commit to git.'],
  [
    "refs/heads/main",
    'The branch name "refs/heads/main" begins with refs/, so git would take it for another branch or ref.',
  ],
  ["a:b", 'The branch name "a:b" contains one of ~ ^ : ? * [ \\.'],
  ["a\ud800", 'The branch name "a\\ud800" contains half of a surrogate pair, which is not valid text.'],
])("the branch name %j is refused with the reason", (name, problem) => {
  expect(branchNameProblem(name)).toBe(problem);
});

test("a name that has a hidden character, and so looks like another, is refused", () => {
  for (const character of hiddenCharacters)
    for (const name of [`ma${character}in`, `größe-日${character}本`, `❤${character}`, `می${character}خ`])
      expect([JSON.stringify(name), branchNameProblem(name)]).toEqual([
        JSON.stringify(name),
        expect.stringContaining("contains an invisible character, or one that changes the direction of writing"),
      ]);
});

test("the length of a branch name is counted in bytes", () => {
  expect(branchNameProblem("a".repeat(200))).toBeUndefined();
  expect(branchNameProblem("é".repeat(101))).toContain("is longer than 200 bytes");
});

const parts = fc.array(fc.constantFrom(...awkward), { minLength: 1, maxLength: 4 }).map((all) => all.join(""));
// A command's arguments cannot contain NUL.
const anything = fc.string({ unit: "binary", minLength: 1, maxLength: 6 }).map((name) => name.replaceAll("\0", "x"));
const names = fc.array(fc.oneof(parts, anything), { minLength: 60, maxLength: 60 });

test("git accepts every name that we accept", () => {
  fc.assert(
    fc.property(names, (all) => {
      const accepted = all.filter((name) => branchNameProblem(name) === undefined);
      expect(acceptedByGit(accepted)).toEqual(accepted);
    }),
    { numRuns: 5 },
  );
});

test("git refuses every name that we refuse", () => {
  fc.assert(
    fc.property(names, (all) => {
      // We are stricter in four cases: git reads @{…} as the name of another branch before it judges, lets a branch be
      // named @, which everywhere else means HEAD, or refs/…, and accepts invisible characters.
      const isStricter = (name: string) => name === "@" || name.includes("@{") || name.startsWith("refs/");
      const judged = all.filter((name) => !isStricter(name) && !hasHidden(name) && oneLine(name) === name);
      const refused = judged.filter((name) => branchNameProblem(name) !== undefined);
      expect(acceptedByGit(refused)).toEqual([]);
    }),
    { numRuns: 5 },
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
])("the slug of %j is %j", (text, expected) => {
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

test("any text becomes a name that git accepts, and an accepted name stays unchanged", () => {
  expect(nearestBranchName("feature/Strong_coffee")).toBe("feature/Strong_coffee");
  expect(nearestBranchName(" feature/strong coffee: please? ")).toBe("feature/strong-coffee-please");
  expect(nearestBranchName("-agent-3")).toBe("agent-3");
  expect(nearestBranchName("a//b/../c.lock/.d")).toBe("a/b/c/d");
  expect(nearestBranchName("HEAD")).toBe("head");
  expect(nearestBranchName("refs/refs/heads/main")).toBe("heads/main");
  const made = [...awkward, "", "@", "@{", "..", "/", "x".repeat(300), "é/".repeat(200), "a.lock.lock", "a.-."].map(
    nearestBranchName,
  );
  expect(made.map(branchNameProblem).filter((problem) => problem !== undefined)).toEqual([]);
  expect(acceptedByGit(made)).toEqual(made);
});

test("a model's name is two to four lower-case words with hyphens between them", () => {
  for (const name of ["weak-coffee", "quiet-thunder-2", "a-b-c-d"]) expect(nameInAnswer(` ${name}\n`)).toBe(name);
  const others = [undefined, "", "coffee", "a-b-c-d-e", "Weak-Coffee", "weak coffee", "weak..coffee", "weak--coffee"];
  const more = ["-weak-coffee", "weak-coffee-", "fix/weak-coffee", "weak-coffee.lock", "weak\n-coffee", "süß-kaffee"];
  const long = "coffee".repeat(50);
  for (const answer of [...others, ...more, `weak-${long}`]) expect(nameInAnswer(answer)).toBeUndefined();
});
