import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { type Disk, recordDisk } from "../record-syncs.ts";
import { author, cloneOf, createStage, date, worktreeOf } from "./stage.ts";

const stage = createStage("power-cut");

/** A repository as a power cut leaves it. */
function powerCut(disk: Disk, root: string, eager?: RegExp) {
  const folder = stage.path("after");
  disk.afterPowerCut(root, folder, eager);
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-C", folder, ...args], {
      env: stage.env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  const tried = (act: () => string) => {
    try {
      return act();
    } catch (error) {
      return String((error as { stderr?: string }).stderr ?? error);
    }
  };
  return {
    /** The commit of a ref. */
    at: (ref: string) => tried(() => git("rev-parse", "--verify", ref).trim()),
    /** The objects that some refs need and that are missing; empty if nothing is. */
    missing: (...refs: readonly string[]) =>
      tried(() => {
        git("rev-list", "--objects", ...refs);
        // Reads every committed file.
        git("log", "--patch", "--no-renames", ...refs);
        return "";
      }),
  };
}

/** Objects of an unfinished fetch may be lost. */
const all = ["--exclude=refs/signalbox/incoming/*", "--all"];
const anyRef = /^(\.git\/)?(refs|logs)\//;

describe.each([
  ["worktree", worktreeOf],
  ["clone", cloneOf],
] as const)("in a workspace of kind %s", (_, make) => {
  test("work that was reported as collected, salvaged or merged survives a power cut, and no ref is durable before its objects", async () => {
    const user = stage.repository();
    const control = await stage.control(user);
    const workspace = make(stage, user, "mine");
    const disk = await recordDisk([user.folder, control.folder]);
    const troubles: string[] = [];
    let users = user.at("main");
    let looks = 0;
    const watched = async <T>(act: () => Promise<T>): Promise<T> => {
      disk.onSync = () => {
        looks += 1;
        troubles.push(powerCut(disk, control.folder, anyRef).missing(...all));
        // The user's own commit is not ours to sync.
        if (user.at("main") !== users) troubles.push(powerCut(disk, user.folder, anyRef).missing("main"));
      };
      const result = await act();
      disk.onSync = () => {};
      return result;
    };

    for (const round of [1, 2]) {
      const branch = disk.others(() => {
        workspace.commit({ [`a${round}.txt`]: `first ${round}\n` });
        return workspace.commit({ [`folder/b${round}.txt`]: `second ${round}\n` });
      });
      await watched(() => control.collect({ folder: workspace.folder, branch: "mine", task: "t1", seenAt: branch }));
      const collected = powerCut(disk, control.folder);
      expect([collected.at("refs/signalbox/tasks/t1"), collected.missing(...all)]).toEqual([branch, ""]);

      disk.others(() => workspace.write("a.txt", `not committed ${round}\n`));
      const order = { folder: workspace.folder, task: "t1", at: date + 1000 * round };
      const { saved } = await watched(() => control.salvage(order));
      const salvaged = powerCut(disk, control.folder);
      expect([salvaged.at(saved?.ref ?? ""), salvaged.missing(...all)]).toEqual([saved?.commit, ""]);
      disk.others(() => workspace.git("checkout", "--quiet", "a.txt"));

      users = disk.others(() => user.commit({ [`c${round}.txt`]: "meanwhile\n" }));
      const onto = users;
      await control.syncFrom({ from: user.folder, name: "user" });
      const entries = [{ branch, strategy: "merge", message: "m", date }] as const;
      const commit = await watched(async () => {
        const [merged] = await control.mergeAll({ onto, author, entries });
        if (merged?.kind !== "merged") throw new Error(merged?.kind);
        await control.publish({ repository: user.folder, branch: "main", commit: merged.commit, expected: onto });
        return merged.commit;
      });
      const published = powerCut(disk, user.folder);
      expect([published.at("main"), published.missing("main")]).toEqual([commit, ""]);
    }
    expect(looks).toBeGreaterThan(20);
    expect(troubles.filter((trouble) => trouble !== "")).toEqual([]);
  });
});

test("a publish to a branch that is not checked out, and a revert, survive a power cut once they are reported", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const workspace = worktreeOf(stage, user, "mine");
  const disk = await recordDisk([user.folder, control.folder]);
  const before = user.at("main");
  const after = disk.others(() => workspace.commit({ "a.txt": "first\n" }));
  await control.collect({ folder: workspace.folder, branch: "mine", task: "t1" });
  const other = { repository: user.folder, branch: "other", commit: after, expected: undefined };
  expect(await control.publish(other)).toMatchObject({ kind: "published" });
  const cut = powerCut(disk, user.folder);
  expect([cut.at("other"), cut.missing("other")]).toEqual([after, ""]);

  const undone = await control.revertMerge({ onto: after, before, after, message: "back", author, date });
  if (undone.kind !== "reverted") throw new Error(undone.kind);
  await control.moveRef("refs/signalbox/tasks/t1", undone.commit, after);
  expect(powerCut(disk, control.folder).missing(...all)).toBe("");
});

test("the first publish to a repository survives a power cut once it is reported", async () => {
  const user = stage.repository();
  const control = await stage.git.openControl(stage.path("control.git"), user.folder);
  const workspace = cloneOf(stage, user);
  workspace.git("checkout", "--quiet", "-b", "mine");
  const commit = workspace.commit({ "a.txt": "first\n" });
  await control.collect({ folder: workspace.folder, branch: "mine", task: "t1" });
  const disk = await recordDisk([user.folder]);
  const order = { repository: user.folder, branch: "mine", commit, expected: undefined };
  expect(await control.publish(order)).toMatchObject({ kind: "published" });
  const cut = powerCut(disk, user.folder);
  expect([cut.at("mine"), cut.missing("mine")]).toEqual([commit, ""]);
});

test("work that the user has merged without an fsync is made durable before it is reported as published", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const workspace = worktreeOf(stage, user, "mine");
  const disk = await recordDisk([user.folder]);
  const commit = disk.others(() => {
    workspace.commit({ "a.txt": "first\n" });
    user.git("merge", "--quiet", "--ff-only", "mine");
    return user.at("main");
  });
  await control.syncFrom({ from: user.folder, name: "user" });
  expect(powerCut(disk, user.folder).at("main")).not.toBe(commit);
  const order = { repository: user.folder, branch: "main", commit, expected: commit };
  expect(await control.publish(order)).toEqual({ kind: "published", at: commit });
  const cut = powerCut(disk, user.folder);
  expect([cut.at("main"), cut.missing("main")]).toEqual([commit, ""]);
});
