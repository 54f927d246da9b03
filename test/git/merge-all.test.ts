import { mkdirSync, readdirSync, rmSync } from "node:fs";
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
  ["a name that git mends", { name: ' <Ada>, "L." ', email: "ada@example.org\n" }],
])("many are merged as one after the other would be, to the last byte (%s)", async (_, who) => {
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

test("what was made is whole, lasts in the repository alone, and no ref has moved", async () => {
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

test("what conflicts or cannot be fast-forwarded is left out, and the others come in", async () => {
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

test("repositories with longer ids are no different", async () => {
  const user = stage.repository();
  rmSync(user.folder, { recursive: true });
  mkdirSync(user.folder);
  user.git("init", "--quiet", "--initial-branch=main", "--object-format=sha256");
  user.commit({ "a.txt": "a\n" });
  const { onto, entries, control } = await fan(files, user);
  const last = (await control.mergeAll({ onto, author, entries })).at(-1);
  expect(last).toMatchObject({ kind: "merged", commit: expect.stringMatching(/^[0-9a-f]{64}$/) });
});
