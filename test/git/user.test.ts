import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { plantAll } from "../poisoned/plant.ts";
import { createTrap } from "../poisoned/trap.ts";
import { createStage, faultOf, worktreeOf } from "./stage.ts";

const stage = createStage("user");

test("the author of commits comes from the user's configuration, and is never guessed", async () => {
  const user = stage.repository();
  expect(await stage.git.identityOf(user.folder)).toEqual({ name: "Ada", email: "ada@example.org" });
  user.git("config", "user.name", "Ada <L>");
  user.git("config", "user.email", "here@example.org");
  expect(await stage.git.identityOf(user.folder)).toEqual({ name: "Ada L", email: "here@example.org" });
  const homeless = stage.createGit({ env: { ...stage.env, HOME: stage.base } });
  const other = stage.repository();
  expect(await faultOf(homeless.identityOf(other.folder))).toMatchObject({
    code: "git.no-identity",
    message: "git has no name and email to commit with.",
    hint: expect.stringContaining('git config --global user.name "Your Name"'),
  });
});

test("a remote's address is the one that the user's git would push to", async () => {
  const user = stage.repository();
  user.git("remote", "add", "origin", "short:team/app.git");
  user.git("config", "url.ssh://git@example.org/.insteadOf", "short:");
  expect(await stage.git.remoteUrl(user.folder, "origin")).toBe("ssh://git@example.org/team/app.git");
  expect(await stage.git.remoteUrl(user.folder, "none")).toBeUndefined();
  expect(await stage.git.remoteUrl(user.folder, "--all")).toBeUndefined();
});

test("a fingerprint changes with configuration, hooks and attributes, and with nothing else", async () => {
  const user = stage.repository();
  const worktree = worktreeOf(stage, user);
  const seen = [await stage.git.fingerprint(user.folder)];
  user.commit({ "a.txt": "changed\n", "hooks/x": "no hook\n" });
  user.git("branch", "more");
  expect(await stage.git.fingerprint(user.folder)).toBe(seen[0]);
  expect(await stage.git.fingerprint(worktree.folder)).toBe(seen[0]);
  user.write("../included", "");
  for (const change of [
    () => user.git("config", "filter.x.clean", "touch x"),
    () => worktree.git("config", "include.path", join(user.folder, "../included")),
    () => user.write("../included", "[core]\n\tfsmonitor = true\n"),
    () => user.write(".git/hooks/post-merge", "#!/bin/sh\n"),
    () => user.write(".git/hooks/post-merge", "#!/bin/bash\n"),
    () => user.write(".git/info/attributes", "* filter=x\n"),
    () => user.git("config", "extensions.worktreeConfig", "true"),
    () => user.git("config", "--worktree", "core.sshCommand", "x"),
  ]) {
    change();
    const next = await stage.git.fingerprint(user.folder);
    expect(seen).not.toContain(next);
    seen.push(next);
  }
});

test("executable settings are reported by name, and the cache does not hide a change", async () => {
  const user = stage.repository();
  user.git("config", "alias.x", "aaaa");
  user.git("config", "branch.main.merge", "refs/heads/main");
  user.write(".git/hooks/pre-push", "one\n");
  const before = await stage.git.obeyed(user.folder);
  expect(Object.keys(before.parts)).toEqual(expect.arrayContaining(["alias.x", "hooks/pre-push"]));
  expect(Object.keys(before.parts)).not.toContain("branch.main.merge");
  // Long enough for the timestamps to have settled, so that the next answer is cached.
  await setTimeout(100);
  expect(await stage.git.obeyed(user.folder)).toEqual(before);
  expect(await stage.git.obeyed(user.folder)).toBe(await stage.git.obeyed(user.folder));
  user.write(".git/hooks/pre-push", "two\n");
  expect((await stage.git.obeyed(user.folder)).fingerprint).not.toBe(before.fingerprint);
  user.write(".git/hooks/pre-push", "one\n");
  expect((await stage.git.obeyed(user.folder)).fingerprint).toBe(before.fingerprint);
  user.git("config", "alias.x", "bbbb");
  expect((await stage.git.obeyed(user.folder)).fingerprint).not.toBe(before.fingerprint);
});

test("reading a repository's settings runs nothing that is planted there", async () => {
  const user = stage.repository();
  user.git("remote", "add", "origin", "/nowhere");
  const trap = createTrap(stage, user);
  plantAll(trap);
  mkdirSync(stage.path("control"));
  await stage.git.fingerprint(user.folder);
  await stage.git.identityOf(user.folder);
  await stage.git.remoteUrl(user.folder, "origin");
  await stage.git.openControl(stage.path("control.git"), user.folder);
  expect(trap.seen()).toEqual([]);
});
