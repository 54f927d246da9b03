import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { plantAll } from "../poisoned/plant.ts";
import { repositoryWithBranches } from "../poisoned/repository.ts";
import { createTrap } from "../poisoned/trap.ts";
import { createScenes } from "./stage.ts";

const { open, stage } = createScenes("clone", "alone");

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
  const kind = again({ person: { name: `Ada "the" \\ first`, email: "ada@work.example" } });
  await kind.prepare({ folder, branch: "task", base, existing: false, salvaged: false });
  at().commit({ "a.txt": "x\n" });
  expect(at().git("log", "-1", "--format=%an <%ae>")).toBe(`Ada "the" \\ first <ada@work.example>`);
});

test("the user's global ignore file applies in clones too", async () => {
  const { at, folder, base, again } = await open();
  const ignoreFile = stage.path("ignore");
  writeFileSync(ignoreFile, ".DS_Store\n");
  const kind = again({ ignoreFile });
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
