import { expect, test } from "vitest";
import type { Repository } from "../git/stage.ts";
import { contentsOf, createManifest } from "../workspaces/destruction/manifest.ts";
import { createWorld } from "../workspaces/destruction/world.ts";
import { createScenes, type KindName } from "../workspaces/stage.ts";

/** States in which an agent can leave uncommitted work, and how they come about. */
const ways: Readonly<Record<string, (at: Repository, text: (name: string) => string) => void>> = {
  committed: (at, text) => at.commit({ [`${text("committed").trim()}.txt`]: text("committed") }),
  dirty: (at, text) => at.write("a.txt", text("dirty")),
  untracked: (at, text) => {
    at.write("untracked.txt", text("untracked"));
    at.write("debug.log", text("ignored"));
  },
  stashed(at, text) {
    at.write("b.txt", text("stashed"));
    at.git("stash", "push", "--quiet");
  },
  detached(at, text) {
    at.git("checkout", "--quiet", "--detach");
    at.commit({ "detached.txt": text("detached") });
    at.write("staged.txt", text("staged"));
    at.git("add", "staged.txt");
  },
};

const workspaces = 25;

test.each(["worktree", "clone"] as const)(
  `${workspaces} workspaces of kind %s are used up: half is merged, half is cancelled, and every content is found again`,
  { timeout: 300_000 },
  async (kind: KindName) => {
    const scene = await createScenes(kind, "nothing-lost").open();
    const { user, control, trash, stage } = scene;
    user.commit({ ".gitignore": "*.log\n" });
    const world = await createWorld(scene, workspaces);
    const rows = Object.keys(ways).map((way) => ({
      way,
      manifest: createManifest(stage.env),
      merged: 0,
      cancelled: 0,
    }));
    for (let number = 0; number < workspaces; number++) {
      const row = rows[number % rows.length];
      if (row === undefined) throw new Error("Every workspace is used in some way.");
      const task = await world.begin();
      await world.acquire(task);
      const { path = "" } = (await world.workspaces()).find((each) => each.task === task) ?? {};
      const before = contentsOf(path, stage.env);
      const at = scene.at(path);
      at.commit({ [`work-${number}.txt`]: `work ${number}\n` });
      ways[row.way]?.(at, (name) => `${name} ${number}\n`);
      row.manifest.add(new Map([...contentsOf(path, stage.env)].filter(([id]) => !before.has(id))), `${number}`);
      row[number % 2 === 0 ? "merged" : "cancelled"] += 1;
    }
    const all = await world.workspaces();
    expect(new Set(all.map(({ path }) => path)).size).toBe(workspaces);
    for (const { task } of all) {
      if (Number(task.slice(1)) % 2 === 0) expect(await world.merge(task)).toBe(true);
      await world.release(task);
    }
    for (const workspace of all) await world.remove(workspace);
    const places = { repositories: [user.folder, control.folder], folders: [trash] };
    const found = rows.map((row) => ({ ...row, size: row.manifest.size, lost: row.manifest.lost(places) }));
    process.stdout.write(table(kind, found));
    expect(found.flatMap(({ lost }) => lost)).toEqual([]);
    expect(found.every(({ size }) => size >= workspaces / 5)).toBe(true);
  },
);

interface Row {
  readonly way: string;
  readonly merged: number;
  readonly cancelled: number;
  readonly size: number;
  readonly lost: readonly string[];
}

function table(kind: string, rows: readonly Row[]): string {
  const line = (...cells: readonly unknown[]) => `${cells.map((cell) => String(cell).padEnd(14)).join("")}\n`;
  const body = rows.map(({ way, merged, cancelled, size, lost }) =>
    line(way, merged, cancelled, size, size - lost.length, lost.length),
  );
  return `\n${line(kind, "merged", "cancelled", "contents", "found again", "lost")}${body.join("")}`;
}
