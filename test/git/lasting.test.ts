import { mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { lastingCommits, syncNames } from "../../src/adapters/git/lasting.ts";
import { recordSyncs } from "../record-syncs.ts";
import { author, cloneOf, createStage, date } from "./stage.ts";

const stage = createStage("lasting");

test("saved, merged and published commits are durable with their refs before they are reported", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const workspace = cloneOf(stage, user);
  const syncs = await recordSyncs();
  const isLasting = (repository: string, ref: string) => syncs.has(dirname(join(repository, ref)));

  workspace.git("checkout", "--quiet", "-b", "mine");
  const first = workspace.commit({ "a.txt": "first\n" });
  await control.collect({ folder: workspace.folder, branch: "mine", task: "t1" });
  expect(isLasting(control.folder, "refs/signalbox/tasks/t1")).toBe(true);

  // The commit that the task's ref leaves is pinned under another ref.
  workspace.git("reset", "--quiet", "--hard", "HEAD~1");
  const branch = workspace.commit({ "b.txt": "second\n" });
  expect(await control.collect({ folder: workspace.folder, branch: "mine", task: "t1" })).toMatchObject({
    commit: branch,
    previous: first,
  });
  expect(isLasting(control.folder, "refs/signalbox/kept/t1/1")).toBe(true);

  workspace.write("a.txt", "not committed\n");
  const { saved } = await control.salvage({ folder: workspace.folder, task: "t1", at: date });
  expect(isLasting(control.folder, saved?.ref ?? "")).toBe(true);

  const onto = user.commit({ "c.txt": "meanwhile\n" });
  await control.syncFrom({ from: user.folder, name: "user" });
  syncs.forget();
  const [merged] = await control.mergeAll({
    onto,
    author,
    entries: [{ branch, strategy: "merge", message: "m", date }],
  });
  if (merged?.kind !== "merged") throw new Error(merged?.kind);
  expect(syncs.has(join(control.folder, "objects/pack"))).toBe(true);
  await control.publish({ repository: user.folder, branch: "main", commit: merged.commit, expected: onto });
  expect(isLasting(join(user.folder, ".git"), "refs/heads/main")).toBe(true);
});

test("the note of durable commits is valid for its repository only, not for another at the same path", async () => {
  const control = stage.path("noted");
  const objects = stage.path("objects");
  const made = `${objects}-made-anew`;
  for (const folder of [control, objects, made]) mkdirSync(folder);
  const [first, second] = ["1".repeat(40), "2".repeat(40)];
  await (await lastingCommits(control, objects)).add(first);
  await (await lastingCommits(control, objects)).add(second);
  expect((await lastingCommits(control, objects)).known).toEqual([second, first]);
  expect((await lastingCommits(control, made)).known).toEqual([]);
  rmSync(objects, { recursive: true });
  renameSync(made, objects);
  expect((await lastingCommits(control, objects)).known).toEqual([]);
});

test("the name of a directory that was removed and created again is synced again", async () => {
  const top = stage.path("names");
  const folder = join(top, "refs", "t1");
  const made = join(top, "made-anew");
  for (const each of [folder, made]) mkdirSync(each, { recursive: true });
  const syncs = await recordSyncs();
  await syncNames(folder, top);
  expect([folder, dirname(folder), top].map(syncs.has)).toEqual([true, true, true]);
  syncs.forget();
  rmSync(folder, { recursive: true });
  renameSync(made, folder);
  await syncNames(folder, top);
  expect([folder, dirname(folder)].map(syncs.has)).toEqual([true, true]);
});
