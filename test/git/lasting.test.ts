import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { recordSyncs } from "../record-syncs.ts";
import { author, cloneOf, createStage, date } from "./stage.ts";

const stage = createStage("lasting");

test("whatever is told to be saved, merged or published is made to last before that is told, with the name that it has", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const workspace = cloneOf(stage, user);
  const syncs = await recordSyncs();
  const isLasting = (repository: string, ref: string) => syncs.has(dirname(join(repository, ref)));

  workspace.git("checkout", "--quiet", "-b", "mine");
  const first = workspace.commit({ "a.txt": "first\n" });
  await control.collect({ folder: workspace.folder, branch: "mine", task: "t1" });
  expect(isLasting(control.folder, "refs/signalbox/tasks/t1")).toBe(true);

  // What the task's own ref leaves is kept under another.
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
