import { cpSync } from "node:fs";
import { expect, test } from "vitest";
import { repositoryAt } from "../git/stage.ts";
import { createScenes } from "../workspaces/stage.ts";
import { lookAt } from "./look-at.ts";
import { hostileBranches, plantAll, plantFiles } from "./plant.ts";
import { repositoryWithBranches } from "./repository.ts";
import { type Endings, type Sweeping, sweep } from "./sweep.ts";
import { createTrap } from "./trap.ts";
import { tricks } from "./tricks.ts";

const { open, stage } = createScenes("clone", "poisoned");

const template = repositoryWithBranches(stage);
template.write("folder/.env", "secret\n");

/** A clone with an agent's work. */
async function workspace() {
  const copy = stage.path("user");
  cpSync(template.folder, copy, { recursive: true, preserveTimestamps: true });
  const user = repositoryAt(copy, stage.env);
  const scene = await open({ user });
  await scene.prepare();
  const at = scene.at();
  at.git("branch", "aside", user.at("aside"));
  at.git("branch", "rival", user.at("rival"));
  at.commit({ "a.txt": "task\n" });
  return { scene, at, user, trap: createTrap(stage, at) };
}

/** Checks that nothing outside has changed, whatever was planted. */
async function sweepUnharmed({ scene, user, trap }: Awaited<ReturnType<typeof workspace>>, sweeping: Sweeping) {
  const others = () => [lookAt(trap.outside), lookAt(stage.env.HOME ?? ""), user.read(".git/config")];
  trap.forget();
  const before = others();
  const endings = await sweep(scene, sweeping);
  expect(trap.seen()).toEqual([]);
  expect(others()).toEqual(before);
  return endings;
}

const isRefused = ([, ending]: readonly [string, string]) => ending !== "ok" && ending !== "published";
const refusals = (endings: Endings) => Object.fromEntries(Object.entries(endings).filter(isRefused));

test("nothing that is planted in a clone runs, whatever the daemon does with it", async () => {
  const made = await workspace();
  const { at, trap } = made;
  plantFiles(trap);
  at.commit({ "b.txt": "more\n" });
  for (const branch of hostileBranches) at.git("update-ref", `refs/heads/${branch}`, "HEAD");
  plantAll(trap);
  at.write("b.txt", "changed\n");
  expect(refusals(await sweepUnharmed(made, { branches: hostileBranches, isWhole: true }))).toEqual({
    "switchBranch of what is changed": "workspace.dirty",
  });
});

test.each(Object.keys(tricks))("%s does not make the daemon write outside", async (name) => {
  const made = await workspace();
  tricks[name]?.plant(made.trap);
  const endings = await sweepUnharmed(made, { branches: [], isWhole: false });
  // Whatever was refused before, the next task gets an intact workspace.
  expect(endings).toMatchObject({ prepare: "ok", "inspect again": "ok", switchBranch: "ok", remove: "ok" });
});
