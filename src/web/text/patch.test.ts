import { expect, test } from "vitest";
import { filesOfPatch } from "./patch.ts";

const file = (path: string, line: string) =>
  `diff --git a/${path} b/${path}\nindex 1..2 100644\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-old\n+${line}\n`;

test("a patch is split into its files, also where their lines look like a header", () => {
  const patch = file("one.md", "diff --git a/x b/x") + file("two words.md", "--- a/fake");
  expect(filesOfPatch(patch).map(({ path }) => path)).toEqual(["one.md", "two words.md"]);
});

test("paths are those that git means: quoted, new, deleted, renamed, without lines", () => {
  const deleted = "diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
  const quoted =
    'diff --git "a/gr\\303\\274n" "b/gr\\303\\274n"\n--- "a/gr\\303\\274n"\n+++ "b/gr\\303\\274n"\n@@ -1 +1 @@\n-a\n+b\n';
  const renamed = "diff --git a/from b/to\nsimilarity index 100%\nrename from from\nrename to to\n";
  const mode = "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n";
  const binary = "diff --git a/p.png b/p.png\nindex 1..2\nBinary files a/p.png and b/p.png differ\n";
  const files = filesOfPatch(deleted + quoted + renamed + mode + binary);
  expect(files.map(({ path }) => path)).toEqual(["gone", "grün", "to", "run.sh", "p.png"]);
  expect(files.map(({ isBinary }) => isBinary)).toEqual([false, false, false, false, true]);
});

test("a line of megabytes is cut, and says how much is missing", () => {
  const [only] = filesOfPatch(file("min.js", "x".repeat(5_000_000)));
  expect(only?.text.length).toBeLessThan(10_000);
  expect(only?.text).toContain("more characters");
});
