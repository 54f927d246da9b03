import { appendFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type ControlRepository, taskRef } from "../../src/ports/control-repository.ts";
import {
  author,
  cloneOf,
  createStage,
  date,
  faultOf,
  type Repository,
  repositoryAt,
  worktreeOf,
} from "../git/stage.ts";
import { canaries } from "./canaries.ts";
import { hostileBranches, plantAll, plantFiles } from "./plant.ts";
import { createTrap } from "./trap.ts";

const stage = createStage("poison");
const order = { message: "Merge", author, date } as const;

/** A workspace with every canary, also in its submodule, on a branch that conflicts with main. */
async function poisoned(kind: "clone" | "worktree") {
  const user = stage.repository();
  const inner = stage.repository("inner");
  const workspace = kind === "clone" ? cloneOf(stage, user) : worktreeOf(stage, user);
  workspace.git("submodule", "--quiet", "add", inner.folder, "module");
  const module = repositoryAt(join(workspace.folder, "module"), stage.env);
  const traps = [
    createTrap(stage, workspace, workspace.git("rev-parse", "--path-format=absolute", "--git-common-dir")),
    createTrap(stage, module, module.git("rev-parse", "--absolute-git-dir")),
  ] as const;
  plantFiles(traps[0]);
  workspace.commit({ "a.txt": "theirs\n" });
  const onto = user.commit({ "a.txt": "ours\n", "b.txt": "ours\n" });
  const control = await stage.control(user);
  for (const branch of hostileBranches) workspace.git("update-ref", `refs/heads/${branch}`, "HEAD");
  for (const trap of traps) plantAll(trap);
  return { seen: () => traps.flatMap((trap) => trap.seen()), user, workspace, onto, control };
}

/** Everything that the daemon ever does with a workspace. */
async function useEverything(control: ControlRepository, workspace: Repository, onto: string) {
  const folder = workspace.folder;
  const { commit } = await control.collect({ folder, branch: "task", task: "t1" });
  for (const branch of hostileBranches) await control.collect({ folder, branch, task: "hostile" });
  expect(await control.predictConflicts(onto, [commit])).toMatchObject([{ kind: "conflict" }]);
  expect(await control.merge({ onto, branch: commit, strategy: "merge", ...order })).toMatchObject({
    kind: "conflict",
  });
  expect(await control.merge({ onto: await base(), branch: commit, strategy: "merge", ...order })).toMatchObject({
    kind: "merged",
  });
  await control.diff(await base(), commit, 1_000_000);
  await control.changedFiles(await base(), commit);
  await control.fileAt(commit, "a.txt", 100);
  await control.countCommits(onto, commit);
  await control.revertMerge({ onto: commit, before: await base(), after: commit, ...order });
  await control.moveRef("refs/heads/main", commit, undefined);
  const first = await control.salvage({ folder, task: "t1", at: date });
  // Not newer than the index, so that only the content shows the change.
  workspace.write("a.txt", "theirz\n");
  workspace.write("module/a.txt", "z\n");
  workspace.write("new.txt", "new\n");
  const second = await control.salvage({ folder, task: "t1", at: date });
  await control.syncFrom({ from: folder, name: "workspace" });
  return { commit, first, second };

  async function base(): Promise<string> {
    return (await control.mergeBase(onto, commit)) ?? "";
  }
}

test.each(["clone", "worktree"] as const)("nothing that is planted in a %s ever runs", async (kind) => {
  const { seen, workspace, onto, control } = await poisoned(kind);
  const { second } = await useEverything(control, workspace, onto);
  expect(seen()).toEqual([]);
  expect(String(await control.fileAt(second.saved?.commit ?? "", "a.txt", 100))).toBe("theirz\n");
  expect(String(await control.fileAt(second.saved?.commit ?? "", "link-to-file", 100))).toBe("/etc/passwd");
  expect(second.repositories.map(({ text }) => text)).toEqual(["module"]);
  for (const folder of [workspace.folder, control.folder, stage.base])
    expect(readdirSync(folder).filter((name) => name === "planted")).toEqual([]);
});

test("programs that are planted in the control repository do not run", async () => {
  const user = stage.repository();
  const workspace = cloneOf(stage, user);
  workspace.commit({ "b.txt": "theirs\n", ".gitattributes": "* diff=evil merge=evil filter=evil\n" });
  const onto = user.commit({ "a.txt": "ours\n" });
  const control = await stage.control(user);
  const trap = createTrap(stage, repositoryAt(control.folder, stage.env), control.folder);
  // Filters and drivers are left out: they would run, but only the daemon writes here.
  plantAll(trap, (name) => canaries[name]?.lives !== "attributes");
  const { commit } = await control.collect({ folder: workspace.folder, branch: "task", task: "t1" });
  const merged = await control.merge({ onto, branch: commit, strategy: "merge", ...order });
  if (merged.kind !== "merged") throw new Error(merged.kind);
  await control.moveRef("refs/heads/main", merged.commit, undefined);
  await control.diff(onto, merged.commit, 1000);
  await control.changedFiles(onto, merged.commit);
  await control.revertMerge({ onto: merged.commit, before: onto, after: merged.commit, ...order });
  workspace.write("a.txt", "uncommitted\n");
  await control.salvage({ folder: workspace.folder, task: "t1", at: date });
  const target = { branch: "main", commit: merged.commit, expected: onto };
  expect(await control.publish({ ...target, repository: user.folder })).toMatchObject({ kind: "published" });
  const remote = stage.path("remote.git");
  user.git("init", "--quiet", "--bare", remote);
  await control.pushBranch({ ...target, remote, expected: undefined, isOwn: true });
  expect(trap.seen()).toEqual([]);
});

test("an address that the control repository's configuration rewrites to a command is not run", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const trap = createTrap(stage, repositoryAt(control.folder, stage.env), control.folder);
  trap.config(`[protocol "ext"]\n\tallow = always\n[url "ext::${trap.program("instead")} "]\n\tinsteadOf = /`);
  const collected = await faultOf(control.collect({ folder: user.folder, branch: "main", task: "t1" }));
  expect(collected.message).toContain("transport 'ext' not allowed");
  expect(trap.seen()).toEqual([]);
});

test("replacement objects and grafts of a repository are ignored", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const clone = cloneOf(stage, user);
  const honest = clone.commit({ "a.txt": "honest\n" });
  clone.git("checkout", "--quiet", "--orphan", "lie");
  const lie = clone.commit({ "a.txt": "lie\n" });
  clone.git("checkout", "--quiet", "task");
  clone.git("replace", honest, lie);
  clone.write(".git/info/grafts", `${honest}\n`);
  expect(clone.git("show", "task:a.txt")).toBe("lie");
  const { commit } = await control.collect({ folder: clone.folder, branch: "task", task: "t1" });
  expect(commit).toBe(honest);
  expect(String(await control.fileAt(commit, "a.txt", 100))).toBe("honest\n");
  expect(await control.mergeBase(user.at("main"), commit)).toBe(user.at("main"));
  clone.write("b.txt", "more\n");
  const { saved } = await control.salvage({ folder: clone.folder, task: "t1", at: date });
  expect(await control.isAncestor(honest, saved?.commit ?? "")).toBe(true);
});

test("a configuration of any size does not block salvage or collection", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const clone = cloneOf(stage, user);
  appendFileSync(join(clone.folder, ".git/config"), "# nothing\n".repeat(3_000_000));
  clone.write("b.txt", "more\n");
  await control.collect({ folder: clone.folder, branch: "task", task: "t1" });
  const { saved } = await control.salvage({ folder: clone.folder, task: "t1", at: date });
  expect(String(await control.fileAt(saved?.commit ?? "", "b.txt", 100))).toBe("more\n");
});

test("programs that are planted in a workspace do not run when its work is published", async () => {
  const { seen, user, workspace, control } = await poisoned("clone");
  const folder = workspace.folder;
  const expected = user.at("main");
  const { commit: branch } = await control.collect({ folder, branch: "task", task: "t1" });
  const clean = await control.merge({ onto: user.at("HEAD~1"), branch, strategy: "ff", ...order });
  expect(clean).toMatchObject({ kind: "fast-forward", commit: branch });
  user.git("reset", "--quiet", "--hard", "HEAD~1");
  const result = await control.publish({
    repository: user.folder,
    branch: "main",
    commit: branch,
    expected: user.at("main"),
  });
  expect(result).toEqual({ kind: "published", at: branch });
  expect(user.at("main")).not.toBe(expected);
  expect(seen()).toEqual([]);
  expect(existsSync(join(user.folder, "planted"))).toBe(false);
});

test("missing objects are not fetched from a planted remote", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const clone = cloneOf(stage, user);
  const trap = createTrap(stage, clone);
  clone.commit({ "a.txt": "gone\n" });
  const blob = clone.at("HEAD:a.txt");
  rmSync(join(clone.folder, ".git", "objects", blob.slice(0, 2), blob.slice(2)));
  clone.write(
    ".git/config",
    `[core]
	repositoryformatversion = 1
[extensions]
	partialClone = evil
[remote "evil"]
	url = ${user.folder}
	promisor = true
	partialCloneFilter = blob:none
	uploadpack = ${trap.program("promisor")}
`,
  );
  expect(await faultOf(control.collect({ folder: clone.folder, branch: "task", task: "t1" }))).toMatchObject({
    code: "git.incomplete",
  });
  expect((await faultOf(control.salvage({ folder: clone.folder, task: "t1", at: date }))).code).toMatch(/^git\./);
  expect(await control.commitAt(taskRef("t1"))).toBeUndefined();
  expect(trap.seen()).toEqual([]);
  // The same with an unprotected git.
  try {
    clone.git("cat-file", "-p", blob);
  } catch {}
  expect(trap.seen()).toEqual(["promisor"]);
});

test("malicious trees and .gitmodules files are refused", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const clone = cloneOf(stage, user);
  const blob = clone.git("hash-object", "-w", "a.txt");
  const tree = (...entries: readonly (readonly [mode: string, name: string, id: string])[]) => {
    const bytes = entries.map(([mode, name, id]) =>
      Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")]),
    );
    writeFileSync(join(clone.folder, "../tree"), Buffer.concat(bytes));
    return clone.git("hash-object", "-w", "-t", "tree", "--literally", "../tree");
  };
  clone.write("modules", '[submodule "x"]\n\tpath = x\n\turl = --upload-pack=touch\n\tupdate = !touch\n');
  const modules = clone.git("hash-object", "-w", "modules");
  const hooks = tree(["100755", "post-checkout", blob]);
  await control.syncFrom({ from: user.folder, name: "user" });
  for (const planted of [
    tree(["40000", ".git", tree(["40000", "hooks", hooks])]),
    tree(["40000", ".GIT", hooks]),
    tree(["40000", "..", hooks]),
    tree(["100644", "a/b", blob]),
    tree(["100644", ".gitmodules", modules]),
    tree(["120000", ".gitmodules", blob]),
  ]) {
    const commit = clone.git("commit-tree", "-m", "planted", "-p", "HEAD", planted);
    clone.git("update-ref", "refs/heads/planted", commit);
    const order = { folder: clone.folder, branch: "planted", task: "t1" };
    // Twice: a refused object must not count as known afterwards.
    for (const seen of [{}, { seenAt: commit }, {}, { seenAt: commit }])
      expect((await faultOf(control.collect({ ...order, ...seen }))).message).toMatch(/fsck|error in/);
  }
  expect(await control.commitAt(taskRef("t1"))).toBeUndefined();
});

test("a repository's settings for its work tree and alternates are ignored", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const clone = cloneOf(stage, user);
  const elsewhere = stage.path("elsewhere");
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, "private.txt"), "private\n");
  clone.git("config", "core.worktree", elsewhere);
  clone.git("config", "core.excludesFile", "/dev/null");
  clone.write(".git/objects/info/alternates", `${join(stage.repository("other").folder, ".git/objects")}\n`);
  clone.write("a.txt", "changed\n");
  const { saved } = await control.salvage({ folder: clone.folder, task: "t1", at: date });
  expect(await control.fileAt(saved?.commit ?? "", "private.txt", 100)).toBeUndefined();
  expect(String(await control.fileAt(saved?.commit ?? "", "a.txt", 100))).toBe("changed\n");
  expect(existsSync(join(control.folder, "objects/info/alternates"))).toBe(false);
});

test("variables of the daemon's environment do not reach git", async () => {
  const user = stage.repository();
  const clone = cloneOf(stage, user);
  const trap = createTrap(stage, clone);
  const commit = clone.commit({ "a.txt": "changed\n" });
  const git = stage.createGit({
    env: {
      ...stage.env,
      GIT_DIR: join(user.folder, ".git"),
      GIT_WORK_TREE: user.folder,
      GIT_INDEX_FILE: join(user.folder, "planted"),
      GIT_OBJECT_DIRECTORY: join(user.folder, "planted"),
      GIT_EXTERNAL_DIFF: trap.program("external-diff"),
      GIT_PAGER: trap.program("pager"),
      GIT_EDITOR: trap.program("editor"),
      GIT_ASKPASS: trap.program("askpass"),
      GIT_TRACE: join(user.folder, "planted"),
      GIT_EXEC_PATH: "/nowhere",
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "core.fsmonitor",
      GIT_CONFIG_VALUE_0: trap.program("fsmonitor"),
      GIT_CONFIG_PARAMETERS: "'core.hooksPath=/nowhere'",
      LANG: "de_DE.UTF-8",
      LANGUAGE: "de",
    },
  });
  const control = await git.openControl(stage.path("control.git"), user.folder);
  await control.syncFrom({ from: user.folder, name: "user" });
  await control.collect({ folder: clone.folder, branch: "task", task: "t1" });
  await control.diff(user.at("main"), commit, 1000);
  clone.write("a.txt", "again\n");
  await control.salvage({ folder: clone.folder, task: "t1", at: date });
  const published = await control.publish({
    repository: user.folder,
    branch: "main",
    commit,
    expected: user.at("main"),
  });
  expect(published).toEqual({ kind: "published", at: commit });
  expect(existsSync(join(user.folder, "planted"))).toBe(false);
  expect(trap.seen()).toEqual([]);
});

test("programs that are planted in nested repositories do not run", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const clone = cloneOf(stage, user);
  const traps = ["nested", "folder"].map((name) => {
    clone.git("init", "--quiet", name);
    const nested = repositoryAt(join(clone.folder, name), stage.env);
    nested.commit({ "inside.txt": "inside\n", ".gitattributes": "* filter=evil\n" });
    const trap = createTrap(stage, nested);
    plantAll(trap);
    nested.write("inside.txt", "insidE\n");
    return trap;
  });
  const { repositories, saved } = await control.salvage({ folder: clone.folder, task: "t1", at: date });
  expect(traps.flatMap((trap) => trap.seen())).toEqual([]);
  expect(repositories.map(({ text }) => text)).toEqual(["nested"]);
  // The daemon reads a tracked folder itself.
  expect(String(await control.fileAt(saved?.commit ?? "", "folder/inside.txt", 100))).toBe("insidE\n");
});
