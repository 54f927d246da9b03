import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ControlRepository } from "../../src/ports/control-repository.ts";
import { createStage, faultOf, type Repository, repositoryAt, worktreeOf } from "./stage.ts";

const stage = createStage("publish");

/** A user's repository, and a commit ahead of its main branch that only the control repository has. */
async function ahead(files: Readonly<Record<string, string>> = { "a.txt": "published\n" }) {
  const user = stage.repository();
  user.write(".gitignore", "*.log\nbuild/\n");
  const expected = user.commit();
  const elsewhere = repositoryAt(stage.path("elsewhere"), stage.env);
  user.git("clone", "--quiet", user.folder, elsewhere.folder);
  for (const [path, text] of Object.entries(files)) elsewhere.write(path, text);
  elsewhere.git("add", "--all", "--force");
  const commit = elsewhere.commit();
  const control = await stage.control(elsewhere);
  return { user, expected, commit, control, order: { repository: user.folder, branch: "main", commit, expected } };
}

async function publishedAt(control: ControlRepository, order: Parameters<ControlRepository["publish"]>[0]) {
  const result = await control.publish(order);
  return result.kind === "published" ? result.at : result;
}

const textsOf = (files: readonly { readonly text: string }[]) => files.map(({ text }) => text);

test("the checked-out branch moves with its files and its index", async () => {
  const { user, commit, control, order } = await ahead();
  expect(await publishedAt(control, order)).toBe(commit);
  expect(user.at("main")).toBe(commit);
  expect(user.read("a.txt")).toBe("published\n");
  expect(user.git("status", "--porcelain")).toBe("");
});

test("the user's settings for their own merges have no influence", async () => {
  const { user, commit, control, order } = await ahead();
  for (const [key, value] of [
    ["branch.main.mergeOptions", "--squash --no-ff --no-commit --autostash --verify-signatures"],
    ["merge.ff", "false"],
    ["merge.autoStash", "true"],
    ["pull.rebase", "true"],
    ["fetch.prune", "true"],
    ["submodule.recurse", "true"],
  ] as const)
    user.git("config", key, value);
  expect(await publishedAt(control, order)).toBe(commit);
  expect(user.git("status", "--porcelain")).toBe("");
});

test("publishing again changes nothing, even after the user has committed on top", async () => {
  const { user, commit, control, order } = await ahead();
  await control.publish(order);
  expect(await publishedAt(control, order)).toBe(commit);
  const later = user.commit({ "b.txt": "later\n" });
  expect(await publishedAt(control, order)).toBe(later);
});

test("local changes to other files stay, staged or not", async () => {
  const { user, commit, control, order } = await ahead();
  user.write("b.txt", "mine\n");
  expect(await control.inTheWay(order)).toBeUndefined();
  user.write("folder/c.txt", "staged\n");
  user.git("add", "folder/c.txt");
  user.write("untracked", "mine\n");
  expect(await publishedAt(control, order)).toBe(commit);
  expect(user.git("status", "--porcelain")).toBe("M b.txt\nM  folder/c.txt\n?? untracked");
});

test("publishing waits for local changes to the same files, names them, and moves nothing", async () => {
  const { user, expected, commit, control, order } = await ahead({ "a.txt": "new\n", "b.txt": "new\n" });
  user.write("a.txt", "mine\n");
  const result = await control.publish(order);
  expect(result).toMatchObject({ kind: "waits", reason: "files", files: [{ text: "a.txt" }] });
  if (result.kind === "waits") expect(result.text).toContain("a.txt");
  user.git("add", "a.txt");
  expect(await control.publish(order)).toMatchObject({ kind: "waits", files: [{ text: "a.txt" }] });
  expect(user.at("main")).toBe(expected);
  expect(user.read("a.txt") + user.read("b.txt")).toBe("mine\nb\n");
  user.git("checkout", "HEAD", "--", "a.txt");
  expect(await publishedAt(control, order)).toBe(commit);
});

test.each([
  ["an untracked file", "new.txt", (user: Repository) => user.write("new.txt", "mine\n")],
  ["an ignored file", "x.log", (user: Repository) => user.write("x.log", "mine\n")],
  ["an ignored file in the place of a folder", "deep/er/x", (user: Repository) => user.write("deep", "mine\n")],
  ["a file in an ignored folder", "build/x", (user: Repository) => user.write("build/x", "mine\n")],
  ["a folder with an ignored file", "new.txt", (user: Repository) => user.write("new.txt/x.log", "mine\n")],
  ["a link", "new.txt", (user: Repository) => symlinkSync("/etc/passwd", join(user.folder, "new.txt"))],
  ["a file whose name has a line end", "new\n\tline", (user: Repository) => user.write("new\n\tline", "mine\n")],
] as const)("publishing waits for %s in the way, which stays", async (_, path, put) => {
  const { user, expected, control, order } = await ahead({ [path]: "published\n", "a.txt": "published\n" });
  expect(await control.inTheWay(order)).toBeUndefined();
  put(user);
  const result = await control.publish(order);
  expect(result).toMatchObject({ kind: "waits", reason: "files" });
  expect(await control.inTheWay(order)).toEqual(result);
  if (result.kind === "waits") expect(result.files.map(({ bytes }) => String(bytes))).toEqual([path]);
  expect(user.at("main")).toBe(expected);
  expect(user.read("a.txt")).toBe("a\n");
});

test("a branch that is not checked out moves without touching files", async () => {
  for (const leave of [
    ["checkout", "--quiet", "-b", "other"],
    ["checkout", "--quiet", "--detach"],
  ]) {
    const { user, commit, control, order } = await ahead();
    user.git(...leave);
    user.write("a.txt", "mine\n");
    expect(await publishedAt(control, order)).toBe(commit);
    expect(user.at("main")).toBe(commit);
    expect(user.read("a.txt")).toBe("mine\n");
    expect(user.git("status", "--porcelain")).toBe("M a.txt");
  }
});

test("a bare repository gets the branch, and a missing branch is created", async () => {
  const { user, expected, commit, control, order } = await ahead();
  const bare = repositoryAt(stage.path("bare.git"), stage.env);
  user.git("clone", "--quiet", "--bare", user.folder, bare.folder);
  expect(await publishedAt(control, { ...order, repository: bare.folder })).toBe(commit);
  expect(bare.at("main")).toBe(commit);
  expect(await publishedAt(control, { ...order, branch: "made", expected: undefined })).toBe(commit);
  expect(user.at("made")).toBe(commit);
  expect(user.at("main")).toBe(expected);
});

test("a branch that is checked out in another worktree moves with that worktree's files", async () => {
  const { user, commit, control, order } = await ahead();
  user.git("checkout", "--quiet", "-b", "other");
  const worktree = repositoryAt(stage.path("with space"), stage.env);
  user.git("worktree", "add", "--quiet", worktree.folder, "main");
  expect(await publishedAt(control, order)).toBe(commit);
  expect(worktree.read("a.txt")).toBe("published\n");
  expect(worktree.git("status", "--porcelain")).toBe("");
  // Any worktree can stand for the repository.
  expect(await publishedAt(control, { ...order, repository: worktree.folder })).toBe(commit);
});

test("publishing waits while the branch is checked out in several worktrees, in a missing one or in a workspace", async () => {
  const { user, expected, control, order } = await ahead();
  const second = stage.path("second");
  user.git("worktree", "add", "--quiet", "--force", second, "main");
  expect(await control.publish(order)).toMatchObject({ kind: "waits", reason: "checked-out" });
  user.git("checkout", "--quiet", "-b", "other");
  expect(await control.publish({ ...order, workspaces: stage.base })).toMatchObject({ reason: "checked-out" });
  rmSync(second, { recursive: true });
  const missing = await control.publish(order);
  expect(missing).toMatchObject({ kind: "waits", reason: "checked-out" });
  if (missing.kind === "waits") expect(missing.text).toContain("git worktree prune");
  expect(user.at("main")).toBe(expected);
});

test("a branch that has moved is reported, and not changed", async () => {
  const { user, control, order } = await ahead();
  const moved = user.commit({ "b.txt": "moved\n" });
  expect(await control.publish(order)).toEqual({ kind: "moved", to: moved });
  user.git("checkout", "--quiet", "--detach");
  expect(await control.publish(order)).toEqual({ kind: "moved", to: moved });
  expect(user.at("main")).toBe(moved);
  expect(await control.publish({ ...order, branch: "none" })).toEqual({ kind: "moved", to: undefined });
});

test("a commit that does not contain what it replaces is refused", async () => {
  const { user, commit, expected, control, order } = await ahead();
  await control.publish(order);
  const back = control.publish({ ...order, commit: expected, expected: commit });
  expect(await faultOf(back)).toMatchObject({ code: "git.diverged" });
  expect(user.at("main")).toBe(commit);
});

test.each([
  ["merge", ["merge", "other"], ["merge", "--abort"]],
  ["cherry-pick", ["cherry-pick", "other"], ["cherry-pick", "--abort"]],
  ["revert", ["revert", "other"], ["revert", "--abort"]],
  ["bisect", ["bisect", "start"], ["bisect", "reset"]],
] as const)("publishing waits for a %s that is under way", async (word, begin, end) => {
  const { user, expected, commit, control, order } = await ahead({ "new.txt": "published\n" });
  user.git("checkout", "--quiet", "-b", "other", "HEAD~1");
  user.commit({ ".gitignore": "other\n" });
  user.git("checkout", "--quiet", "main");
  if (word === "bisect") user.git(...begin);
  else expect(() => user.git(...begin)).toThrow();
  const result = await control.publish(order);
  expect(result).toMatchObject({ kind: "waits", reason: "operation" });
  if (result.kind === "waits") expect(result.text).toContain(`A ${word} is under way`);
  expect(user.at("main")).toBe(expected);
  user.git(...end);
  expect(await publishedAt(control, order)).toBe(commit);
});

test("publishing waits for a rebase of the branch, though no worktree has it checked out", async () => {
  const { user, expected, control, order } = await ahead({ "new.txt": "published\n" });
  user.git("checkout", "--quiet", "-b", "other", "HEAD~1");
  user.commit({ ".gitignore": "other\n" });
  user.git("checkout", "--quiet", "main");
  expect(() => user.git("rebase", "other")).toThrow();
  const text = expect.stringContaining("A rebase is under way");
  expect(await control.publish(order)).toMatchObject({ kind: "waits", reason: "operation", text });
  expect(user.at("main")).toBe(expected);
});

test("publishing waits for a lock and never removes it", async () => {
  const { user, expected, commit, control, order } = await ahead();
  const lock = join(user.folder, ".git", "index.lock");
  writeFileSync(lock, "");
  const result = await control.publish(order);
  expect(await control.inTheWay(order)).toMatchObject({ kind: "waits", reason: "locked" });
  expect(result).toMatchObject({ kind: "waits", reason: "locked" });
  if (result.kind === "waits") expect(result.text).toMatch(/index\.lock" has been there since .*no git process/);
  expect(existsSync(lock)).toBe(true);
  expect(user.at("main")).toBe(expected);
  rmSync(lock);
  user.git("checkout", "--quiet", "--detach");
  const refLock = join(user.folder, ".git", "refs/heads/main.lock");
  writeFileSync(refLock, "");
  expect(await control.publish(order)).toMatchObject({ kind: "waits", reason: "locked" });
  expect(existsSync(refLock)).toBe(true);
  rmSync(refLock);
  expect(await publishedAt(control, order)).toBe(commit);
});

test.each(["refs/heads/main.lock", "HEAD.lock"])(
  "a lock on the branch, %s, leaves nothing of the merge in its checkout",
  async (name) => {
    const { user, expected, commit, control, order } = await ahead({ "a.txt": "published\n", "new/x": "x\n" });
    symlinkSync("a.txt", join(user.folder, "mine"));
    const lock = join(user.folder, ".git", name);
    writeFileSync(lock, "");
    expect(await control.publish(order)).toMatchObject({ kind: "waits", reason: "locked", files: [] });
    expect(user.git("status", "--porcelain")).toBe("?? mine");
    expect(user.at("refs/heads/main")).toBe(expected);
    rmSync(lock);
    expect(await publishedAt(control, order)).toBe(commit);
    expect(user.git("status", "--porcelain")).toBe("?? mine");
  },
);

test("a merge that the user's filter stops half-way is undone, and names the files that could not be restored", async () => {
  const { user, expected, control, order } = await ahead({ "a.txt": "published\n", new: "new\n", "z.bin": "z\n" });
  const failing = ["config", "filter.x.smudge", "false"];
  user.git("config", "filter.x.required", "true");
  user.git("config", "filter.x.clean", "cat");
  user.write(".git/info/attributes", "z.bin filter=x\n");
  user.git(...failing);
  const fault = await faultOf(control.publish(order));
  expect(user.git("status", "--porcelain")).toBe("");
  expect(user.at("main")).toBe(expected);
  expect(fault.message).not.toContain("could not be restored");
  user.write(".git/info/attributes", "folder/c.txt filter=x\n");
  const other = repositoryAt(stage.path("other"), stage.env);
  user.git("clone", "--quiet", user.folder, other.folder);
  const commit = other.commit({ "a.txt": "published\n", "folder/c.txt": "changed\n" });
  const theirs = await stage.control(other);
  expect((await faultOf(theirs.publish({ ...order, commit }))).message).toContain(
    "could not be restored: folder/c.txt. See them: git -C",
  );
  expect(user.git("status", "--porcelain")).toBe("D folder/c.txt");
  user.git("config", "filter.x.smudge", "cat");
  expect(await theirs.undoUpdate(order)).toBe("");
  expect(user.git("status", "--porcelain")).toBe("");
});

test("an interrupted update can be undone without another merge, and the user's files stay", async () => {
  const { user, commit, control, order } = await ahead({ "a.txt": "published\n", x: "x\n" });
  user.write("mine.txt", "mine\n");
  user.git("add", "mine.txt");
  const killed = await killedMerge(`git read-tree -m -u HEAD ${commit}`).openControl(control.folder);
  await faultOf(killed.publish(order));
  user.git("checkout", "--quiet", "-b", "other");
  expect(await control.undoUpdate(order)).toContain("another branch is checked out");
  user.git("checkout", "--quiet", "main");
  expect(await control.undoUpdate(order)).toBe("");
  expect(user.git("status", "--porcelain")).toBe("A  mine.txt");
});

test("a branch without any commit is refused, and ignored files stay", async () => {
  const { control, order } = await ahead({ "x.log": "published\n" });
  const empty = repositoryAt(stage.path("empty"), stage.env);
  mkdirSync(empty.folder);
  empty.git("init", "--quiet");
  empty.write(".git/info/exclude", "*.log\n");
  empty.write("x.log", "mine\n");
  const publish = control.publish({ ...order, repository: empty.folder, expected: undefined });
  expect(await faultOf(publish)).toMatchObject({ code: "git.no-commits" });
  expect(empty.read("x.log")).toBe("mine\n");
});

/** A git that runs this script during a merge and is then killed. */
function killedMerge(script: string) {
  const program = stage.path("git");
  writeFileSync(program, `#!/bin/sh\ncase "$*" in *" merge "*) ${script}\nkill -9 $$ ;; esac\nexec git "$@"\n`);
  chmodSync(program, 0o755);
  return stage.createGit({ program });
}

test("an update that was interrupted by a kill is completed", async () => {
  const files = { "a.txt": "published\n", "b.txt": "published too\n", "new/x": "x\n", y: "y\n", z: "z\n" };
  const { user, commit, control, order } = await ahead(files);
  const script =
    "printf 'published\\n' > a.txt; printf publ > b.txt; mkdir new; printf x > new/x; : > y; rm folder/c.txt";
  const killed = await killedMerge(script).openControl(control.folder);
  expect(await faultOf(killed.publish(order))).toMatchObject({ code: "git.failed", retry: "later" });
  expect(await publishedAt(control, order)).toBe(commit);
  // Files that the update did not concern are as the user left them.
  expect(user.git("status", "--porcelain")).toBe("D folder/c.txt");
  expect(user.read("b.txt") + user.read("new/x") + user.read("y")).toBe("published too\nx\ny\n");
});

test("an interrupted update does not block the publish of a newer commit", async () => {
  const { user, commit, control, order } = await ahead({ "a.txt": "published\n", x: "x\n" });
  const killed = await killedMerge("printf 'published\\n' > a.txt; printf 'x\\n' > x").openControl(control.folder);
  await faultOf(killed.publish(order));
  const newer = await control.revertMerge({
    ...{ onto: commit, before: order.expected, after: commit },
    ...{ message: "Take back", author: { name: "Ada", email: "a@b" }, date: 0 },
  });
  if (newer.kind !== "reverted") throw new Error(newer.kind);
  expect(await publishedAt(control, { ...order, commit: newer.commit })).toBe(newer.commit);
  expect(user.git("status", "--porcelain")).toBe("");
  expect(existsSync(join(user.folder, "x"))).toBe(false);
});

test("an update that was killed right before the branch moved is completed, and the user's staged files stay", async () => {
  const { user, commit, control, order } = await ahead({ "a.txt": "published\n", x: "x\n" });
  user.write("mine.txt", "mine\n");
  user.git("add", "mine.txt");
  const killed = await killedMerge(`git read-tree -m -u HEAD ${commit}`).openControl(control.folder);
  await faultOf(killed.publish(order));
  expect(user.git("status", "--porcelain")).toBe("M  a.txt\nA  mine.txt\nA  x");
  const newer = await control.revertMerge({
    ...{ onto: commit, before: order.expected, after: commit },
    ...{ message: "Take back", author: { name: "Ada", email: "a@b" }, date: 0 },
  });
  if (newer.kind !== "reverted") throw new Error(newer.kind);
  expect(await publishedAt(control, { ...order, commit: newer.commit })).toBe(newer.commit);
  expect(user.git("status", "--porcelain")).toBe("A  mine.txt");
  expect(existsSync(join(user.folder, "x"))).toBe(false);
});

test("an update that another git process is still writing is not taken for interrupted", async () => {
  const { user, commit, control, order } = await ahead({ "a.txt": "published\n" });
  const killed = await killedMerge("printf publ > a.txt; : > .git/index.lock").openControl(control.folder);
  await faultOf(killed.publish(order));
  expect(await control.publish(order)).toMatchObject({ kind: "waits", reason: "locked" });
  expect(user.read("a.txt")).toBe("publ");
  rmSync(join(user.folder, ".git/index.lock"));
  expect(await publishedAt(control, order)).toBe(commit);
});

test.each([
  ["checked out", "merge", ["checkout", "--quiet", "main"]],
  ["not checked out", "fetch", ["checkout", "--quiet", "--detach"]],
] as const)("a branch that is %s and moves at the last moment is not moved back", async (_, command, before) => {
  const { user, expected, control, order } = await ahead();
  user.git(...before);
  user.git("config", "fetch.showForcedUpdates", "false");
  user.git("update-ref", "refs/mine", user.git("commit-tree", "-p", "main", "-m", "mine", "main^{tree}"));
  const mine = user.at("refs/mine");
  const program = stage.path("git");
  const move = `git -C '${user.folder}' update-ref refs/heads/main ${mine} ${expected}`;
  writeFileSync(program, `#!/bin/sh\ncase "$*" in *" ${command} "*) ${move} ;; esac\nexec git "$@"\n`);
  chmodSync(program, 0o755);
  const racing = await stage.createGit({ program }).openControl(control.folder);
  expect(await racing.publish(order)).toEqual({ kind: "moved", to: mine });
  expect(user.at("main")).toBe(mine);
  expect(user.git("status", "--porcelain")).toBe("");
});

test("if another branch is checked out at the last moment, the branch has not moved and a fault says so", async () => {
  const { user, expected, control, order } = await ahead();
  user.git("branch", "other");
  const program = stage.path("git");
  const leave = `git -C '${user.folder}' checkout --quiet other`;
  writeFileSync(program, `#!/bin/sh\ngit "$@"\ncode=$?\ncase "$*" in *" fetch "*) ${leave} ;; esac\nexit $code\n`);
  chmodSync(program, 0o755);
  const racing = await stage.createGit({ program }).openControl(control.folder);
  expect(await faultOf(racing.publish(order))).toMatchObject({ code: "git.checked-out-elsewhere", retry: "later" });
  expect([user.at("main"), user.at("other")]).toEqual([expected, expected]);
});

test("the user's changes stay, even after a killed git", async () => {
  const { user, expected, commit, control, order } = await ahead({ "a.txt": "published\n", "b.txt": "too\n" });
  const killed = await killedMerge("printf 'published\\n' > a.txt").openControl(control.folder);
  await faultOf(killed.publish(order));
  user.write("b.txt", "mine\n");
  expect(await control.publish(order)).toMatchObject({ kind: "waits", files: [{ text: "b.txt" }] });
  // Only the interrupted update is undone.
  expect(user.read("a.txt") + user.read("b.txt")).toBe("a\nmine\n");
  expect(user.at("main")).toBe(expected);
  user.git("checkout", "--quiet", "b.txt");
  await faultOf(killed.publish(order));
  user.write("a.txt", "published\nand mine\n");
  expect(await control.publish(order)).toMatchObject({ kind: "waits", files: [{ text: "a.txt" }] });
  expect(user.read("a.txt")).toBe("published\nand mine\n");
  user.git("checkout", "--quiet", "a.txt");
  expect(await publishedAt(control, order)).toBe(commit);
});

test("the same changes without an interrupted update are the user's, and stay", async () => {
  const { user, expected, control, order } = await ahead({ "a.txt": "published\n", "b.txt": "too\n" });
  user.write("a.txt", "published\n");
  const result = await control.publish(order);
  expect(result.kind === "waits" && textsOf(result.files)).toEqual(["a.txt"]);
  user.write("a.txt", "");
  expect(await control.publish(order)).toMatchObject({ kind: "waits" });
  expect(user.read("a.txt")).toBe("");
  expect(user.at("main")).toBe(expected);
});

test("publishing uses the user's filters, but runs no hooks and no fsmonitor", async () => {
  const { user, commit, control, order } = await ahead({
    "a.txt": "published\n",
    ".gitattributes": "a.txt filter=up\n",
  });
  user.git("config", "filter.up.smudge", "tr a-z A-Z");
  user.git("config", "filter.up.clean", "tr A-Z a-z");
  const watcher = stage.path("watcher");
  writeFileSync(watcher, `#!/bin/sh\ntouch ${stage.base}/watched\n`);
  chmodSync(watcher, 0o755);
  user.git("config", "core.fsmonitor", watcher);
  for (const hook of ["post-merge", "post-checkout", "reference-transaction", "post-index-change"]) {
    user.write(`.git/hooks/${hook}`, `#!/bin/sh\ntouch ${stage.base}/${hook}\nexit 1\n`);
    chmodSync(join(user.folder, ".git/hooks", hook), 0o755);
  }
  expect(await publishedAt(control, order)).toBe(commit);
  expect(user.read("a.txt")).toBe("PUBLISHED\n");
  for (const trace of ["post-merge", "post-checkout", "reference-transaction", "post-index-change", "watched"])
    expect(existsSync(join(stage.base, trace))).toBe(false);
});

test("a folder that is not a repository is refused", async () => {
  const { control, order } = await ahead();
  for (const repository of [stage.base, "/nowhere", "relative"])
    expect(await faultOf(control.publish({ ...order, repository }))).toMatchObject({ code: "git.not-a-repository" });
  expect(await faultOf(control.publish({ ...order, branch: "a..b" }))).toMatchObject({ code: "git.bad-ref" });
});

test("a worktree of the user's repository can be named instead of the repository", async () => {
  const { user, commit, control, order } = await ahead();
  const other = worktreeOf(stage, user, "side");
  expect(await publishedAt(control, { ...order, repository: other.folder })).toBe(commit);
  expect(user.read("a.txt")).toBe("published\n");
});
