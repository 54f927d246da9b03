import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { author, controlGit, createStage, date } from "./stage.ts";

const stage = createStage("tidy");

test("many small packs become few, and no object is lost", async () => {
  const user = stage.repository();
  const onto = user.at("main");
  user.git("checkout", "--quiet", "-b", "task");
  const branch = user.commit({ "d.txt": "d\n" });
  const control = await stage.control(user);
  const git = controlGit(stage, control);
  const loose = git("hash-object", "-w", join(user.folder, "a.txt"));
  const packs = () => readdirSync(join(control.folder, "objects/pack")).filter((name) => name.endsWith(".pack")).length;
  const objects = () => git("cat-file", "--batch-all-objects", "--batch-check").split("\n");
  expect(await control.tidy({})).toBe(false);
  while (packs() <= 24) leavePack(control.folder, packs());
  // No ref reaches any of them.
  git("update-ref", "-d", "refs/heads/gone");
  const [before, refs] = [objects(), git("for-each-ref")];
  expect(before.length).toBeGreaterThan(70);
  const entries = [{ branch, strategy: "merge", message: "Merge\n", date } as const];
  // Concurrent readers are not disturbed.
  const [isTidied, [merged]] = await Promise.all([control.tidy({}), control.mergeAll({ onto, author, entries })]);
  expect([isTidied, merged?.kind]).toEqual([true, "merged"]);
  expect(packs()).toBeLessThan(5);
  expect(objects()).toEqual(expect.arrayContaining([...before]));
  expect(existsSync(join(control.folder, "objects", loose.slice(0, 2), loose.slice(2)))).toBe(false);
  expect(git("for-each-ref")).toBe(refs);
  expect(git("fsck", "--strict", "--no-dangling", "--no-progress")).toBe("");
  expect(await control.tidy({})).toBe(false);
});

test("temporary packs of a killed git are removed after a day", async () => {
  const control = await stage.control(stage.repository());
  const packs = join(control.folder, "objects/pack");
  for (const name of ["tmp_pack_old", "tmp_pack_new"]) writeFileSync(join(packs, name), "half");
  const longAgo = Date.now() / 1000 - 2 * 24 * 60 * 60;
  utimesSync(join(packs, "tmp_pack_old"), longAgo, longAgo);
  await control.tidy({});
  expect(readdirSync(packs).filter((name) => name.startsWith("tmp_"))).toEqual(["tmp_pack_new"]);
});

/** Writes a pack, as a batch of merges does. */
function leavePack(folder: string, number: number): void {
  const commit = `commit refs/heads/gone\ncommitter A <a@b> ${number} +0000\ndata 0\n`;
  execFileSync("git", ["-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", "--force"], {
    cwd: folder,
    env: stage.env,
    input: `${commit}M 100644 inline ${number}.txt\ndata 3\n${number + 100}\n`,
  });
}
