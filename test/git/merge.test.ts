import { expect, test } from "vitest";
import { author, controlGit, createStage, date, faultOf } from "./stage.ts";

const stage = createStage("merge");
const order = { message: "Merge task 1", author, date } as const;

/** Two branches that begin at the same commit. */
async function fork(ours: Readonly<Record<string, string>>, theirs: Readonly<Record<string, string>>) {
  const user = stage.repository();
  user.git("branch", "task");
  const onto = user.commit(ours);
  user.git("checkout", "--quiet", "task");
  const branch = user.commit(theirs);
  return { user, onto, branch, control: await stage.control(user) };
}

test("two branches become one commit with both parents, the message, the author and the date", async () => {
  const { onto, branch, control } = await fork({ "a.txt": "ours\n" }, { "b.txt": "theirs\n" });
  const merged = await control.merge({ onto, branch, strategy: "merge", ...order });
  if (merged.kind !== "merged") throw new Error(merged.kind);
  const git = controlGit(stage, control);
  expect(git("show", "--no-patch", "--format=%P%n%T%n%an <%ae>%n%cn <%ce>%n%aI%n%cI%n%B", merged.commit)).toBe(
    [
      `${onto} ${branch}`,
      merged.tree,
      "Ada <ada@example.org>",
      "Ada <ada@example.org>",
      "2026-01-02T03:04:05+00:00",
      "2026-01-02T03:04:05+00:00",
      "Merge task 1",
    ].join("\n"),
  );
  expect(String(await control.fileAt(merged.commit, "a.txt", 10))).toBe("ours\n");
  expect(String(await control.fileAt(merged.commit, "b.txt", 10))).toBe("theirs\n");
});

test("merging moves nothing, and merging again gives the same commit", async () => {
  const { onto, branch, control } = await fork({ "a.txt": "ours\n" }, { "b.txt": "theirs\n" });
  const git = controlGit(stage, control);
  const refs = git("for-each-ref");
  const first = await control.merge({ onto, branch, strategy: "merge", ...order });
  expect(await control.merge({ onto, branch, strategy: "merge", ...order })).toEqual(first);
  expect(git("for-each-ref")).toBe(refs);
});

test("a contained branch is up to date; a branch that is ahead can be fast-forwarded", async () => {
  const user = stage.repository();
  const onto = user.at("main");
  const branch = user.commit({ "a.txt": "1\n" });
  const control = await stage.control(user);
  for (const strategy of ["merge", "ff"] as const)
    expect(await control.merge({ onto: branch, branch: onto, strategy, ...order })).toEqual({ kind: "up-to-date" });
  expect(await control.merge({ onto, branch, strategy: "ff", ...order })).toEqual({
    kind: "fast-forward",
    commit: branch,
  });
  const merged = await control.merge({ onto, branch, strategy: "merge", ...order });
  expect(merged).toMatchObject({ kind: "merged", tree: user.at("HEAD^{tree}") });
});

test("a fast-forward of diverged branches is refused", async () => {
  const { onto, branch, control } = await fork({ "a.txt": "ours\n" }, { "b.txt": "theirs\n" });
  expect(await faultOf(control.merge({ onto, branch, strategy: "ff", ...order }))).toMatchObject({
    code: "git.diverged",
  });
});

test("histories without a common commit are refused", async () => {
  const user = stage.repository();
  const onto = user.at("main");
  user.git("checkout", "--quiet", "--orphan", "alone");
  const branch = user.commit({ "z.txt": "z\n" });
  const control = await stage.control(user);
  expect(await faultOf(control.merge({ onto, branch, strategy: "merge", ...order }))).toMatchObject({
    code: "git.diverged",
  });
});

test("a conflict names the files, says what kind it is, and shows them with markers", async () => {
  const { onto, branch, control } = await fork(
    { "a.txt": "ours\n", "new\n.txt": "ours\n", binary: "\0ours" },
    { "a.txt": "theirs\n", "new\n.txt": "theirs\n", binary: "\0theirs" },
  );
  const result = await control.merge({ onto, branch, strategy: "merge", ...order });
  if (result.kind !== "conflict") throw new Error(result.kind);
  expect(result.files.map(({ path, kind }) => [path.text, kind])).toEqual([
    ["a.txt", "contents"],
    ["binary", "binary"],
    ['"new\\012.txt"', "contents"],
  ]);
  expect(result.text).toContain("CONFLICT (content): Merge conflict in a.txt");
  expect(String(await control.fileAt(result.tree, "a.txt", 1000))).toMatch(
    /^<<<<<<< .*\nours\n=======\ntheirs\n>>>>>>> /,
  );
});

test("conflicts have a kind: changed and deleted, a file and a folder, renamed twice", async () => {
  const user = stage.repository();
  user.commit({ "rename.txt": "1\n2\n3\n4\n5\n" });
  user.git("branch", "task");
  user.git("mv", "rename.txt", "ours.txt");
  const onto = user.commit({ "a.txt": "ours\n", place: "a file\n" });
  user.git("checkout", "--quiet", "task");
  user.git("mv", "rename.txt", "theirs.txt");
  user.git("rm", "--quiet", "a.txt");
  const branch = user.commit({ "place/inside": "in a folder\n" });
  const control = await stage.control(user);
  const [result] = await control.predictConflicts(onto, [branch]);
  if (result === undefined) throw new Error("There is no conflict.");
  const kinds = Object.fromEntries(result.files.map(({ path, kind }) => [path.text, kind]));
  expect(kinds).toMatchObject({ "a.txt": "modify/delete", "rename.txt": "rename/rename" });
  expect(Object.values(kinds)).toContain("file/directory");
});

test("a conflict, or its absence, is predicted in both directions", async () => {
  const { onto, branch, control } = await fork({ "a.txt": "ours\n" }, { "a.txt": "theirs\n" });
  for (const [a, b] of [
    [onto, branch],
    [branch, onto],
  ] as const)
    expect(await control.predictConflicts(a, [b])).toMatchObject([{ kind: "conflict", files: [{ kind: "contents" }] }]);
  expect(await control.predictConflicts(onto, [onto])).toEqual([undefined]);
  expect(await control.predictConflicts(onto, [])).toEqual([]);
});

test("conflicts predicted for many commits equal those predicted for each of them", async () => {
  const user = stage.repository();
  const base = user.commit({ "a.txt": "1\n2\n3\n", "b.txt": "b\n", "deep/c.txt": "c\n" });
  const branchWith = (name: string, files: Readonly<Record<string, string>>) => {
    user.git("checkout", "--quiet", "-b", name, base);
    return user.commit(files);
  };
  const commit = branchWith("one", { "a.txt": "1\n2\nthree\n", "deep/c.txt": "mine\n" });
  const others = [
    branchWith("elsewhere", { "b.txt": "other\n" }),
    branchWith("same-file", { "a.txt": "one\n2\n3\n" }),
    branchWith("same-line", { "a.txt": "1\n2\n3!\n" }),
    branchWith("deeper", { "deep/d.txt": "new\n" }),
    branchWith("deep-conflict", { "deep/c.txt": "theirs\n" }),
    base,
  ];
  const control = await stage.control(user);
  const together = await control.predictConflicts(commit, others);
  const filesOf = (each: (typeof together)[number]) => each?.files.map(({ path }) => path.text);
  expect(together.map(filesOf)).toEqual([undefined, undefined, ["a.txt"], undefined, ["deep/c.txt"], undefined]);
  for (const [index, other] of others.entries())
    expect(await control.predictConflicts(commit, [other])).toEqual([together[index]]);
});

test("an author without a name is refused", async () => {
  const { onto, branch, control } = await fork({ "a.txt": "ours\n" }, { "b.txt": "theirs\n" });
  const nobody = control.merge({ onto, branch, strategy: "merge", ...order, author: { name: " \n", email: "" } });
  expect(await faultOf(nobody)).toMatchObject({ code: "git.no-identity" });
});

test("names and messages may contain anything", async () => {
  const { onto, branch, control } = await fork({ "a.txt": "ours\n" }, { "b.txt": "theirs\n" });
  const odd = { message: "-F /etc/passwd\n\0\u001b[31m ü", author: { name: "A\nB\0<x>", email: "a@b>\n" }, date: 1 };
  const merged = await control.merge({ onto, branch, strategy: "merge", ...odd });
  if (merged.kind !== "merged") throw new Error(merged.kind);
  const shown = controlGit(stage, control)("show", "--no-patch", "--format=%an|%ae|%at|%s", merged.commit);
  expect(shown).toBe("A B x|a@b|0|-F /etc/passwd \u001b[31m ü");
});

test("a merge is reverted by one further commit", async () => {
  const { onto, branch, control } = await fork({ "a.txt": "ours\n" }, { "b.txt": "theirs\n" });
  const merged = await control.merge({ onto, branch, strategy: "merge", ...order });
  if (merged.kind !== "merged") throw new Error(merged.kind);
  const after = merged.commit;
  const revert = { before: onto, after, ...order, message: "Take back" };
  const reverted = await control.revertMerge({ onto: after, ...revert });
  if (reverted.kind !== "reverted") throw new Error(reverted.kind);
  expect(await control.changedFiles(onto, reverted.commit)).toEqual([]);
  expect(await control.isAncestor(after, reverted.commit)).toBe(true);
  expect(await control.revertMerge({ onto: after, ...revert })).toEqual(reverted);
  expect(await control.revertMerge({ onto: reverted.commit, ...revert })).toEqual({ kind: "up-to-date" });
  expect(await faultOf(control.revertMerge({ onto, ...revert }))).toMatchObject({ code: "git.bad-ref" });
});

test("commits on top of a merge stay when the merge is reverted, or conflict with the revert", async () => {
  const user = stage.repository();
  const before = user.at("main");
  const after = user.commit({ "b.txt": "merged\n" });
  const apart = user.commit({ "a.txt": "later\n" });
  const above = user.commit({ "b.txt": "on top\n" });
  const control = await stage.control(user);
  const revert = { before, after, ...order };
  const reverted = await control.revertMerge({ onto: apart, ...revert });
  if (reverted.kind !== "reverted") throw new Error(reverted.kind);
  expect(String(await control.fileAt(reverted.commit, "a.txt", 10))).toBe("later\n");
  expect(String(await control.fileAt(reverted.commit, "b.txt", 10))).toBe("b\n");
  expect(await control.revertMerge({ onto: above, ...revert })).toMatchObject({
    kind: "conflict",
    files: [{ path: { text: "b.txt" } }],
  });
});
