import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { createRunner } from "../../src/adapters/git/runner.ts";
import { createUserSettings, noSettings } from "../../src/adapters/git/workspace/user-settings.ts";
import { plantAll } from "../poisoned/plant.ts";
import { repositoryWithBranches } from "../poisoned/repository.ts";
import { createTrap } from "../poisoned/trap.ts";
import { createScenes } from "./stage.ts";

const { open, stage } = createScenes("clone", "alone");
const limits = { short: 60_000, long: 60_000 };

test("programs that are planted in the user's repository do not run in the daemon's git processes", async () => {
  const user = repositoryWithBranches(stage);
  user.write(".env", "secret\n");
  const { at, folder, kind, prepare } = await open({ user });
  const trap = createTrap(stage, user);
  plantAll(trap);
  await prepare();
  await kind.copyFiles({ folder, patterns: ["**/.env"], how: "copy" });
  expect(at().read(".env")).toBe("secret\n");
  await prepare({ branch: "rival", existing: true, salvaged: true });
  expect(at().read("a.txt")).toBe("rival\n");
  expect(trap.seen()).toEqual([]);
});

test("a clone reaches neither the user's repository nor any remote", async () => {
  const { at, base, control, folder, prepare, user } = await open();
  user.git("config", "remote.origin.url", "https://example.org/secret.git");
  user.git("config", "user.signingKey", "secret");
  await prepare({ baseBranch: "main" });
  const config = readFileSync(join(folder, ".git/config"), "utf8");
  expect(config).not.toContain("example.org");
  expect(config).not.toContain(user.folder);
  expect(() => at().git("fetch", "origin")).toThrow(/signalbox-has-no-remote/);
  expect(() => at().git("push", "origin", "HEAD")).toThrow(/signalbox-has-no-remote/);
  expect([at().at("main"), at().at("origin/main")]).toEqual([base, base]);
  at().git("branch", "--force", "main", at().commit({ "a.txt": "x\n" }));
  expect([user.at("main"), await control.commitAt("refs/remotes/user/main")]).toEqual([base, base]);
  at().git("gc", "--quiet", "--prune=now");
  expect(at().git("fsck")).toBe("");
});

test("the author of commits in a clone is the project's person", async () => {
  const { at, folder, base, again } = await open();
  const config = [["user.name", `Ada "the" \\ first`] as const, ["user.email", "ada@work.example"] as const];
  const kind = again({ settings: async () => ({ ...noSettings, config }) });
  await kind.prepare({ folder, branch: "task", base, existing: false, salvaged: false });
  at().commit({ "a.txt": "x\n" });
  expect(at().git("log", "-1", "--format=%an <%ae>")).toBe(`Ada "the" \\ first <ada@work.example>`);
});

/** A scene in which clones take over the settings of the user's repository, as in the daemon. */
async function openCarrying() {
  const scene = await open();
  const run = createRunner({ program: "git", env: stage.env, signal: undefined, limits });
  const { git } = stage;
  const settings = createUserSettings({ run, env: stage.env, identityOf: git.identityOf }, scene.user.folder);
  return { ...scene, kind: scene.again({ settings }) };
}

test("a clone has the author, the signing settings and the addresses of submodules of the user's repository", async () => {
  const { user, kind, folder, base, at } = await openCarrying();
  const settings = {
    "user.name": "Ada",
    "user.email": "ada@work.example",
    "user.signingKey": "~/.ssh/id.pub",
    "gpg.format": "ssh",
    "commit.gpgSign": "true",
    "submodule.lib/a.b.url": "/srv/git/lib.git",
    "submodule.secret.url": "https://ada:secret@example.org/lib.git",
    "core.hooksPath": "/srv/hooks",
    "alias.st": "!touch /tmp/ran",
  };
  for (const [key, value] of Object.entries(settings)) user.git("config", key, value);
  await kind.prepare({ folder, branch: "task", base, existing: false, salvaged: false });
  const read = (key: string) => at().git("config", "--local", "--default", "none", "--get", key).trim();
  expect(["user.name", "user.email", "user.signingKey", "gpg.format", "commit.gpgSign"].map(read)).toEqual([
    ...["Ada", "ada@work.example", "~/.ssh/id.pub", "ssh", "true"],
  ]);
  expect(read("submodule.lib/a.b.url")).toBe("/srv/git/lib.git");
  for (const key of ["submodule.secret.url", "core.hooksPath", "alias.st"]) expect(read(key)).toBe("none");
});

test("a name that the user sets after the first clone was refused by git is in the next clone", async () => {
  const { user, kind, folder, base, at } = await openCarrying();
  user.git("config", "user.useConfigOnly", "true");
  for (const key of ["user.name", "user.email"]) user.git("config", "--local", key, "");
  await kind.prepare({ folder, branch: "task", base, existing: false, salvaged: false });
  user.git("config", "user.name", "Grace");
  user.git("config", "user.email", "grace@work.example");
  await kind.prepare({ folder, branch: "next", base, existing: false, salvaged: false });
  expect(at().git("config", "--local", "user.name").trim()).toBe("Grace");
});

test("files that the user excludes in the repository itself are ignored in clones too, and are never committed", async () => {
  const { user, kind, folder, base, at } = await openCarrying();
  user.write(".env", "secret\n");
  mkdirSync(join(user.folder, ".git/info"));
  writeFileSync(join(user.folder, ".git/info/exclude"), "# TASK.md is not mine\n.env\n");
  await kind.prepare({ folder, branch: "task", base, existing: false, salvaged: false });
  await kind.copyFiles({ folder, patterns: [".env"], how: "copy" });
  expect(at().read(".env")).toBe("secret\n");
  expect(at().git("status", "--short")).toBe("");
  expect(await kind.inspect(folder)).toMatchObject({ dirty: false });
  const author = { name: "Ada", email: "ada@work.example" };
  expect(await kind.commitAll({ folder, task: "t1", message: "all\n", author, date: 0 })).toBeUndefined();
});

test("origin/HEAD of a clone is the branch that the work goes into", async () => {
  const { at, base, prepare, kind, folder, user, control } = await open();
  await prepare({ baseBranch: "main" });
  at().commit({ "a.txt": "x\n" });
  expect(at().git("rev-parse", "origin/HEAD").trim()).toBe(base);
  expect(at().git("diff", "--name-only", "origin/HEAD...HEAD").trim()).toBe("a.txt");
  expect(at().git("fsck")).toBe("");
  const next = user.commit({ "b.txt": "y\n" });
  await control.syncFrom({ from: user.folder, name: "user" });
  await kind.learnBranch(folder, "main", next);
  expect(at().git("rev-parse", "origin/HEAD").trim()).toBe(next);
});

test("submodules with relative addresses can be checked out in a clone if the user's repository has initialised them", async () => {
  const lib = stage.repository("lib");
  lib.commit({ "lib.txt": "lib\n" });
  const { user, kind, folder, at, control } = await openCarrying();
  user.git("config", "remote.origin.url", join(user.folder, "..", "origin.git"));
  user.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", `../${basename(lib.folder)}`, "lib");
  const base = user.commit({ "a.txt": "with a submodule\n" });
  await control.syncFrom({ from: user.folder, name: "user" });
  await kind.prepare({ folder, branch: "task", base, existing: false, salvaged: false });
  at().git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init");
  expect(at().read("lib/lib.txt")).toBe("lib\n");
});

test("the user's global ignore file applies in clones too", async () => {
  const { at, folder, base, again } = await open();
  const ignoreFile = stage.path("ignore");
  writeFileSync(ignoreFile, ".DS_Store\n");
  const kind = again({ settings: async () => ({ ...noSettings, ignoreFile }) });
  await kind.prepare({ folder, branch: "task", base, existing: false, salvaged: false });
  at().write(".DS_Store", "");
  expect(await kind.inspect(folder)).toMatchObject({ dirty: false });
});

test("commits of all refs of a clone count as work, not only those of HEAD", async () => {
  const { at, folder, kind, prepare, salvage } = await open();
  await prepare();
  at().git("checkout", "--quiet", "-b", "aside");
  at().commit({ "aside.txt": "aside\n" });
  at().git("checkout", "--quiet", "task");
  at().git("pack-refs", "--all");
  await expect(prepare({ branch: "next", salvaged: true })).rejects.toMatchObject({ code: "workspace.unsaved" });
  await expect(kind.remove(folder, undefined)).rejects.toMatchObject({ code: "workspace.unsaved" });
  await salvage();
  expect(await prepare({ branch: "next", salvaged: true })).toMatchObject({ how: "recycled" });
});

test("a branch that an agent created in its clone does not block another task", async () => {
  const { at, base, prepare, salvage } = await open();
  await prepare();
  at().git("checkout", "--quiet", "-b", "next");
  at().commit({ "a.txt": "the agent's\n" });
  await salvage();
  expect(await prepare({ branch: "next", salvaged: true })).toEqual({ commit: base, how: "recycled" });
  expect(at().read("a.txt")).toBe("a\n");
});

test("a forged index does not hide changes", async () => {
  const scene = await open();
  const { at, folder, kind, prepare } = scene;
  await prepare();
  // The index has the committed id for the changed file, with the changed file's own size and times.
  const id = at().git("rev-parse", "HEAD:a.txt");
  at().write("a.txt", "evil\n");
  // Git reads the content of a file that is as young as the index.
  utimesSync(join(folder, "a.txt"), 1e9, 1e9);
  at().git("update-index", "--add", "a.txt");
  const index = join(folder, ".git/index");
  const bytes = readFileSync(index);
  const evil = Buffer.from(at().git("hash-object", "a.txt"), "hex");
  const where = bytes.indexOf(evil);
  Buffer.from(id, "hex").copy(bytes, where);
  createHash("sha1")
    .update(bytes.subarray(0, -20))
    .digest()
    .copy(bytes, bytes.length - 20);
  writeFileSync(index, bytes);
  expect(at().git("status", "--short")).toBe("");
  expect(await kind.inspect(folder)).toMatchObject({ dirty: true });
  await prepare({ branch: "next", salvaged: true });
  expect(at().read("a.txt")).toBe("a\n");
});

test("a .git folder that is not a repository is repaired", async () => {
  const { at, folder, kind, prepare, trashed } = await open();
  await prepare();
  rmSync(join(folder, ".git"), { recursive: true });
  mkdirSync(join(folder, ".git"));
  at().write(".git/mine", "x");
  expect(await kind.inspect(folder)).toMatchObject({ kind: "broken" });
  await prepare({ salvaged: true });
  expect(await kind.inspect(folder)).toMatchObject({ kind: "there", dirty: false });
  expect(trashed()).toContain(".git/mine");
});

test("a commit that the control repository has only from a salvage that did not end counts as unsaved", async () => {
  const { at, control, prepare, salvage } = await open();
  await prepare();
  at().commit({ "aside.txt": "aside\n" });
  at().git("push", "--quiet", control.folder, "HEAD:refs/signalbox/incoming/salvage/t1/0");
  await expect(prepare({ branch: "next", salvaged: true })).rejects.toMatchObject({ code: "workspace.unsaved" });
  await salvage();
  expect(await prepare({ branch: "next", salvaged: true })).toMatchObject({ how: "recycled" });
});
