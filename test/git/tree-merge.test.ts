import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createControlGit } from "../../src/adapters/git/control/control-git.ts";
import {
  type ObjectReader,
  openReader,
  readTree,
  type Tree,
  writeTree,
} from "../../src/adapters/git/control/objects.ts";
import { mergeTrees, type Trees } from "../../src/adapters/git/control/tree-merge.ts";
import { createRunner, defaultLimits } from "../../src/adapters/git/runner.ts";
import { createStage } from "./stage.ts";

const stage = createStage("tree-merge");

type Mode = "100644" | "100755" | "120000";
/** Content by path. */
type Files = Map<string, { mode: Mode; text: string }>;

const folders = ["", "a/", "b/", "a/x/", "b/x/", "c/y/z/"];
const names = ["1", "2", "3", "x"];
const mode = fc.constantFrom<Mode>("100644", "100644", "100644", "100755", "120000");
const path = fc.tuple(fc.constantFrom(...folders), fc.constantFrom(...names)).map((parts) => parts.join(""));
// Long and similar, so that git detects a moved file as renamed.
const text = fc
  .tuple(fc.nat({ max: 3 }), fc.nat({ max: 2 }))
  .map(([which, edit]) => `${`line of ${which}\n`.repeat(12)}edit ${edit}\n`);
const content = fc.record({ mode, text });

type Change =
  | { kind: "write"; path: string; content: { mode: Mode; text: string } }
  | { kind: "delete"; path: string }
  | { kind: "edit"; path: string }
  | { kind: "move"; path: string; to: string; isEdited: boolean }
  | { kind: "move folder"; path: string; to: string };

const folder = fc.constantFrom(...folders.slice(1));
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constant("write" as const), path, content }),
  fc.record({ kind: fc.constant("delete" as const), path }),
  fc.record({ kind: fc.constant("edit" as const), path }),
  fc.record({ kind: fc.constant("move" as const), path, to: path, isEdited: fc.boolean() }),
  fc.record({ kind: fc.constant("move folder" as const), path: folder, to: fc.oneof(folder, fc.constant("moved/")) }),
);
const changes = fc.array(change, { minLength: 1, maxLength: 4 });
const triple = fc.record({
  base: fc.array(fc.tuple(path, content), { minLength: 2, maxLength: 12 }),
  ours: changes,
  theirs: changes,
});

/** A file replaces a folder, or the reverse. */
function put(files: Files, to: string, file: { mode: Mode; text: string }): void {
  for (const other of [...files.keys()])
    if (other.startsWith(`${to}/`) || to.startsWith(`${other}/`)) files.delete(other);
  files.set(to, file);
}

function changed(before: Files, all: readonly Change[]): Files {
  const files = new Map(before);
  for (const each of all) {
    const found = files.get(each.path);
    if (each.kind === "write") put(files, each.path, each.content);
    else if (each.kind === "delete") files.delete(each.path);
    else if (each.kind === "edit" && found) files.set(each.path, { ...found, text: `${found.text}more\n` });
    else if (each.kind === "move" && found) {
      files.delete(each.path);
      put(files, each.to, each.isEdited ? { ...found, text: `${found.text}moved\n` } : found);
    } else if (each.kind === "move folder")
      for (const [from, file] of [...files])
        if (from.startsWith(each.path)) {
          files.delete(from);
          put(files, each.to + from.slice(each.path.length), file);
        }
  }
  return files;
}

/** Commits every version, in one process. Each has the marks of its parents. */
function importAll(commits: readonly { files: Files; parent: number | undefined }[], repository: string) {
  const parts = commits.flatMap(({ files, parent }, index) => [
    `commit refs/heads/c${index}\nmark :${index + 1}\ncommitter A <a@b> ${1_700_000_000 + index} +0000\ndata 0\n`,
    parent === undefined ? "" : `from :${parent + 1}\n`,
    "deleteall\n",
    ...[...files].map(([to, file]) => `M ${file.mode} inline ${to}\ndata ${file.text.length}\n${file.text}\n`),
  ]);
  const git = (args: readonly string[], input: string) =>
    execFileSync("git", args, {
      cwd: repository,
      env: stage.env,
      input,
      encoding: "latin1",
      maxBuffer: 2 ** 28,
      stdio: "pipe",
    });
  git(["fast-import", "--quiet", "--force"], parts.join(""));
  const marks = commits.flatMap((_, index) => [`refs/heads/c${index}`, `refs/heads/c${index}^{tree}`]);
  const ids = git(["cat-file", "--batch-check=%(objectname)"], `${marks.join("\n")}\n`)
    .trim()
    .split("\n");
  return { git, at: (index: number) => ({ commit: ids[2 * index] ?? "", tree: ids[2 * index + 1] ?? "" }) };
}

function open(repository: string): { readonly trees: Trees; readonly reader: ObjectReader } {
  const run = createRunner({ program: "git", env: stage.env, signal: undefined, limits: defaultLimits });
  const reader = openReader(createControlGit(run, repository, undefined));
  const made = new Map<string, Tree>();
  const known = new Map<string, Promise<Tree | undefined>>();
  const trees: Trees = {
    read(id) {
      const own = made.get(id);
      const found = known.get(id) ?? reader.read(id).then((bytes) => readTree(bytes, id.length));
      known.set(id, found);
      return own ? Promise.resolve(own) : found;
    },
    write(tree) {
      const bytes = writeTree(tree);
      const id = hashed(bytes);
      made.set(id, tree);
      return id;
    },
  };
  return { trees, reader };
}

function hashed(bytes: Buffer): string {
  return createHash("sha1").update(`tree ${bytes.length}\0`).update(bytes).digest("hex");
}

test("a merge without git gives the same bytes as git's merge", { timeout: 300_000 }, async () => {
  const cases = fc.sample(triple, { seed: 20, numRuns: 2_000 });
  const commits = cases.flatMap(({ base, ours, theirs }, index) => {
    const files: Files = new Map();
    for (const [to, file] of base) put(files, to, file);
    const versions = [changed(files, ours), changed(files, theirs)];
    return [{ files, parent: undefined }, ...versions.map((version) => ({ files: version, parent: 3 * index }))];
  });
  const repository = stage.path("many.git");
  execFileSync("git", ["init", "--quiet", "--bare", repository], { env: stage.env });
  const { git, at } = importAll(commits, repository);
  const lines = cases.map((_, index) => `${at(3 * index + 1).commit} ${at(3 * index + 2).commit}\n`);
  const answers = mergeByGit(git, lines);
  expect(answers).toHaveLength(cases.length);

  const { trees, reader } = open(repository);
  const merged = await Promise.all(
    cases.map((_, index) => mergeTrees(trees, at(3 * index).tree, at(3 * index + 1).tree, at(3 * index + 2).tree)),
  );
  await reader.close();
  const wrong = cases.flatMap((each, index) =>
    merged[index] === undefined || answers[index] === "unknown" || merged[index] === answers[index]
      ? []
      : [{ ...each, index }],
  );
  expect(wrong).toEqual([]);
  // Otherwise the test would not have tried anything.
  const clean = answers.filter((answer) => answer !== undefined);
  expect(merged.filter((tree) => tree !== undefined).length).toBeGreaterThan(clean.length / 2);
  expect(clean.length).toBeLessThan((cases.length * 9) / 10);
});

/**
 * The tree of each merge; undefined for a conflict. Some versions of git abort if links and files replace each other,
 * and print nothing: such a merge is "unknown".
 */
function mergeByGit(
  git: (args: readonly string[], input: string) => string,
  lines: readonly string[],
): readonly Answer[] {
  try {
    const output = git(["merge-tree", "--stdin", "--no-messages"], lines.join(""));
    const found = [...output.matchAll(/(?<=^|\0)([01])\0([0-9a-f]{40})\0/g)];
    return found.map(([, isClean, tree]) => (isClean === "1" ? tree : undefined));
  } catch {
    if (lines.length === 1) return ["unknown"];
    const half = Math.ceil(lines.length / 2);
    return [lines.slice(0, half), lines.slice(half)].flatMap((part) => mergeByGit(git, part));
  }
}

type Answer = string | undefined;
