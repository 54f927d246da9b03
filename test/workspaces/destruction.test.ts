import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { play } from "./destruction/play.ts";
import { createWorld } from "./destruction/world.ts";
import { createScenes, type KindName, type Scenes, statusOf } from "./stage.ts";

// The long suite sets these to larger numbers.
const seeds = Number(process.env.SIGNALBOX_SEEDS ?? 4);
const first = Number(process.env.SIGNALBOX_SEED ?? 1);
const rounds = Number(process.env.SIGNALBOX_ROUNDS ?? 3);

/** Bugs that the random simulation has found, each as a test of its own. */
function found(kind: KindName, open: Scenes["open"]): void {
  const begin = async () => {
    const scene = await open();
    const world = await createWorld(scene, 1);
    const first = await world.begin();
    await world.acquire(first);
    const [workspace] = await world.workspaces();
    const path = workspace?.path ?? "";
    const refs = (name: string) => scene.at(scene.control.folder).git("for-each-ref", "--format=%(refname)", name);
    return { scene, world, first, path, at: scene.at(path), refs };
  };

  test(`a ${kind} that has lost its .git is saved, and the next task gets it (seed 4)`, async () => {
    const { scene, world, first, path, at, refs } = await begin();
    at.write("new.txt", "new\n");
    rmSync(join(path, ".git"), { recursive: true });
    await world.release(first);
    const [ref = ""] = refs(`refs/signalbox/salvage/${first}`).split("\n");
    expect(scene.at(scene.control.folder).git("show", `${ref}:new.txt`)).toBe("new");
    const next = await world.begin();
    await world.acquire(next);
    expect([statusOf(at), at.git("branch", "--show-current")]).toEqual(["", `signalbox/${next}`]);
  });

  test(`a task that acquires its ${kind} once more keeps its uncommitted work`, async () => {
    const { world, first, at } = await begin();
    at.git("checkout", "--quiet", "-b", "aside");
    at.write("a.txt", "changed\n");
    await world.acquire(first);
    expect([at.read("a.txt"), at.git("branch", "--show-current")]).toEqual(["changed\n", "aside"]);
  });

  if (kind === "worktree")
    test("commits without a branch survive the deletion of their worktree, and do not block the next acquire", async () => {
      const { scene, world, first, path, at } = await begin();
      at.git("checkout", "--quiet", "--detach");
      const commit = at.commit({ "detached.txt": "detached\n" });
      rmSync(path, { recursive: true });
      await world.acquire(first);
      expect(statusOf(at)).toBe("");
      expect(scene.at(scene.control.folder).git("for-each-ref", `--contains=${commit}`)).toContain("salvage");
    });
}

for (const kind of ["worktree", "clone"] as const) {
  const { open } = createScenes(kind, "destruction");
  found(kind, open);
  for (let seed = first; seed < first + seeds; seed++) {
    test(`whatever happens to a pool of ${kind}s, nothing is lost (seed ${seed})`, async () => {
      const { steps, lost, stuck, sought } = await play(await open(), { seed, rounds });
      expect({ lost, stuck }, steps.join("\n")).toEqual({ lost: [], stuck: [] });
      expect(sought).toBeGreaterThan(3);
    });
  }
}
