import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { MergeAllOrder } from "../../src/ports/control-repository.ts";
import { author, controlGit, createStage, date, type Repository } from "./stage.ts";

const stage = createStage("merge-all");

/** Branches that all begin at main, each with one commit. */
async function fan(
  branches: Readonly<Record<string, Readonly<Record<string, string>>>>,
  user: Repository = stage.repository(),
) {
  const onto = user.at("main");
  const entries = Object.entries(branches).map(([name, files]) => {
    user.git("checkout", "--quiet", "-b", name, onto);
    const branch = user.commit(files);
    return { branch, strategy: "merge", message: `Merge ${name} ☕\n\nTask: ${name}\n`, date } as const;
  });
  return { user, onto, entries, control: await stage.control(user) };
}

const files = Object.fromEntries(
  Array.from({ length: 6 }, (_, i) => [`t${i}`, { [`folder-${i}/new.txt`]: `${i}\n`, [`${i}.txt`]: `${i}\n` }]),
);

test.each([
  ["a plain name", author],
  ["a name that git cleans up", { name: ' <Ada>, "L." ', email: "ada@example.org\n" }],
])("merging many branches together gives the same bytes as one after the other (%s)", async (_, who) => {
  const { onto, entries, control } = await fan(files);
  const order: MergeAllOrder = { onto, author: who, entries };
  const answers = await control.mergeAll(order);
  let top = onto;
  const single = [];
  for (const entry of entries) {
    const merged = await control.merge({ ...entry, onto: top, author: who });
    if (merged.kind !== "merged") throw new Error(merged.kind);
    top = merged.commit;
    single.push(merged);
  }
  expect(answers).toEqual(single);
  expect(await control.mergeAll(order)).toEqual(answers);
});

test("the merged commits are complete and stored in the repository, no draft is left, and no ref has moved", async () => {
  const { onto, entries, control } = await fan(files);
  const git = controlGit(stage, control);
  const refs = git("for-each-ref");
  const last = (await control.mergeAll({ onto, author, entries })).at(-1);
  if (last?.kind !== "merged") throw new Error(last?.kind);
  await control.moveRef("refs/heads/main", last.commit, undefined);
  expect(git("fsck", "--strict", "--no-dangling", "--no-progress")).toBe("");
  expect(git("rev-list", "--count", "--merges", "main")).toBe("6");
  expect(git("ls-tree", "-r", "--name-only", "main")).toContain("folder-5/new.txt");
  expect(readdirSync(join(control.folder, "drafts"))).toEqual([]);
  expect(
    git("for-each-ref")
      .replace(/^.*refs\/heads\/main\n?/m, "")
      .trim(),
  ).toBe(refs);
});

test("branches that conflict or cannot be fast-forwarded are left out, and the others are merged", async () => {
  const { onto, entries, control } = await fan({
    one: { "a.txt": "one\n" },
    two: { "a.txt": "two\n" },
    three: { "b.txt": "three\n" },
  });
  const [one, two, three] = entries;
  if (one === undefined || two === undefined || three === undefined) throw new Error("Three were made.");
  const forward = { ...three, strategy: "ff" } as const;
  const answers = await control.mergeAll({ onto, author, entries: [one, two, forward, three, one] });
  expect(answers.map(({ kind }) => kind)).toEqual(["merged", "conflict", "diverged", "merged", "up-to-date"]);
  expect(answers[1]).toMatchObject({ files: [{ path: { text: "a.txt" }, kind: "contents" }] });
  expect(await control.mergeAll({ onto, author, entries: [forward, one] })).toMatchObject([
    { kind: "fast-forward", commit: three.branch },
    { kind: "merged" },
  ]);
});

test("a file that both sides have changed is merged by git, between other merges", async () => {
  const lines = (first: string, last: string) => `${first}\n${"same\n".repeat(8)}${last}\n`;
  const user = stage.repository();
  user.commit({ "long.txt": lines("first", "last") });
  const start = await fan(
    {
      top: { "long.txt": lines("FIRST", "last") },
      plain: { "folder/d.txt": "d\n" },
      bottom: { "long.txt": lines("first", "LAST") },
      clash: { "long.txt": lines("first", "other") },
      after: { "folder/e.txt": "e\n" },
    },
    user,
  );
  user.git("checkout", "--quiet", "-b", "moved", start.onto);
  user.git("mv", "long.txt", "folder/moved.txt");
  const moved = { ...start.entries[0], branch: user.commit(), message: "moved\n", strategy: "merge", date } as const;
  const control = await stage.control(user);
  const entries = [...start.entries, moved];
  const answers = await control.mergeAll({ onto: start.onto, author, entries });
  expect(answers.map(({ kind }) => kind)).toEqual(["merged", "merged", "merged", "conflict", "merged", "merged"]);
  let top = start.onto;
  for (const [index, entry] of entries.entries()) {
    const single = await control.merge({ ...entry, onto: top, author });
    expect(answers[index]).toEqual(single);
    if (single.kind === "merged") top = single.commit;
  }
  const git = controlGit(stage, control);
  expect(git("show", `${top}:folder/moved.txt`)).toBe(lines("FIRST", "LAST").trim());
  expect(git("fsck", "--strict", "--no-dangling", "--no-progress", top)).toBe("");
});

test("simple merges are done without git merge-tree", async () => {
  const { onto, entries, control } = await fan(files);
  const [program, log] = [stage.path("git"), stage.path("log")];
  writeFileSync(program, `#!/bin/sh\necho "$@" >> ${log}\nexec git "$@"\n`, { mode: 0o755 });
  const logged = await stage.createGit({ program }).openControl(control.folder);
  rmSync(log);
  await logged.mergeAll({ onto, author, entries });
  const asked = readFileSync(log, "utf8").matchAll(/--git-dir=\S+ (\S+)/g);
  expect([...asked].map(([, command]) => command)).toEqual(["merge-base", "rev-list", "cat-file", "index-pack"]);
});

test("a merge on which git aborts does not stop the others", async () => {
  const { onto, entries, control } = await fan({
    ...{ one: { "a.txt": "one\n" }, two: { "a.txt": "two\n" }, three: { "b.txt": "three\n" } },
  });
  const program = stage.path("git");
  const lines = ["#!/bin/sh", 'case " $* " in *" merge-tree "*) echo "Assertion failed." >&2; kill -ABRT $$;; esac'];
  writeFileSync(program, [...lines, 'exec git "$@"', ""].join("\n"), { mode: 0o755 });
  const failing = await stage.createGit({ program }).openControl(control.folder);
  const answers = await failing.mergeAll({ onto, author, entries });
  expect(answers).toMatchObject([
    { kind: "merged" },
    { kind: "conflict", files: [], text: "git gave up: Assertion failed." },
    { kind: "merged" },
  ]);
});

test("repositories with SHA-256 ids are merged in the same way", async () => {
  const user = stage.repository();
  rmSync(user.folder, { recursive: true });
  mkdirSync(user.folder);
  user.git("init", "--quiet", "--initial-branch=main", "--object-format=sha256");
  user.commit({ "a.txt": "a\n" });
  const { onto, entries, control } = await fan(files, user);
  const last = (await control.mergeAll({ onto, author, entries })).at(-1);
  expect(last).toMatchObject({ kind: "merged", commit: expect.stringMatching(/^[0-9a-f]{64}$/) });
});
