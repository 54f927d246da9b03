import { cpSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createStage, repositoryAt } from "../git/stage.ts";
import { canaries } from "./canaries.ts";
import { lookAt } from "./look-at.ts";
import { repositoryWithBranches } from "./repository.ts";
import { createTrap } from "./trap.ts";
import { tricks } from "./tricks.ts";

const stage = createStage("canaries");
const template = repositoryWithBranches(stage);
template.git("checkout", "--quiet", "-b", "task");
template.commit({ "a.txt": "task\n" });

function copy() {
  const folder = stage.path("copy");
  cpSync(template.folder, folder, { recursive: true, preserveTimestamps: true });
  return repositoryAt(folder, stage.env);
}

// A canary that never runs would prove nothing.
test.each(Object.keys(canaries))("%s runs when git is used without protection", (name) => {
  const canary = canaries[name];
  const trap = createTrap(stage, copy());
  canary?.plant(trap, name);
  trap.forget();
  canary?.fire(trap);
  expect(trap.seen()).toContain(name);
});

test.each(Object.keys(tricks))("%s makes unprotected programs write outside", (name) => {
  const trap = createTrap(stage, copy());
  tricks[name]?.plant(trap);
  const before = lookAt(trap.outside);
  tricks[name]?.fire(trap);
  expect(lookAt(trap.outside)).not.toEqual(before);
});

// An agent in a worktree writes to the user's own `.git`.
test.each(Object.keys(canaries))("%s changes the fingerprint of the repository that it is planted in", async (name) => {
  const canary = canaries[name];
  const user = copy();
  const before = await stage.git.fingerprint(user.folder);
  const trap = createTrap(stage, user, join(user.folder, ".git"));
  canary?.plant(trap, name);
  expect(await stage.git.fingerprint(user.folder)).not.toBe(before);
  expect(trap.seen()).toEqual([]);
});
