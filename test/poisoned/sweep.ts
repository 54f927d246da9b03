import { Fault } from "../../src/fault.ts";
import { author, date } from "../git/stage.ts";
import type { Scene } from "../workspaces/stage.ts";

/** The result of each call to the ports: `ok`, or the code of its Fault. */
export type Endings = Readonly<Record<string, string>>;

export interface Sweeping {
  /** Further branches to collect. */
  readonly branches: readonly string[];
  /** Also runs the steps after collection, which do not need the workspace. */
  readonly isWhole: boolean;
}

/**
 * Everything that the daemon ever does with a workspace, in the same order. Each step must only end, and throw nothing
 * but Faults.
 */
export async function sweep(scene: Scene, { branches, isWhole }: Sweeping): Promise<Endings> {
  const { at, base, control, folder, kind, stage, user } = scene;
  const endings: Record<string, string> = {};
  const attempt = async <T>(name: string, act: () => Promise<T>): Promise<T | undefined> => {
    try {
      const result = await act();
      endings[name] = "ok";
      return result;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      endings[name] = error.code;
      return undefined;
    }
  };
  const commitOrder = { message: "Merge", author, date };

  await attempt("inspect", () => kind.inspect(folder));
  await attempt("currentBranch", () => kind.currentBranch(folder));
  await attempt("taskFileName", () => kind.taskFileName(folder));
  await attempt("placeTaskFile", () => kind.placeTaskFile(folder, "TASK.md", "task\n"));
  await attempt("placeTaskFile of a role", () => kind.placeTaskFile(folder, ".signalbox/reviewer.md", "task\n"));
  await attempt("readTaskFile", () => kind.readTaskFile(folder, "TASK.md"));
  await attempt("isTaskFileTracked", () => kind.isTaskFileTracked(folder, "TASK.md"));
  await attempt("copyFiles", () => kind.copyFiles({ folder, patterns: ["**/.env"], how: "copy" }));
  await attempt("diskUse", () => kind.diskUse(folder));
  await attempt("diffUncommitted", () => kind.diffUncommitted(folder, 1_000_000));
  const collected = await attempt("collect", () => control.collect({ folder, branch: "task", task: "t1" }));
  for (const branch of branches)
    await attempt(`collect ${branch}`, () => control.collect({ folder, branch, task: "hostile" }));
  if (collected !== undefined && isWhole) await workOn(collected.commit);
  await attempt("salvage", () => scene.salvage());
  await attempt("learnBranch", () => kind.learnBranch(folder, "main", base));
  await attempt("renameBranch", () => kind.renameBranch(folder, "renamed/deeper"));
  await attempt("renameBranch again", () => kind.renameBranch(folder, "renamed"));
  await attempt("switchBranch of what is changed", () => kind.switchBranch(folder, "base"));
  const order = { folder, base, existing: false, salvaged: true, baseBranch: "main" };
  await attempt("prepare", () => kind.prepare({ ...order, branch: "next" }));
  await attempt("inspect again", () => kind.inspect(folder));
  await attempt("switchBranch", () => kind.switchBranch(folder, "base"));
  at(folder).write("a.txt", "changed\n");
  const salvaged = await attempt("salvage again", () => scene.salvage());
  await attempt("remove", () => kind.remove(folder, salvaged));
  await attempt("deleteTrash", () => kind.deleteTrash({ now: Date.now() + 1e9, keepFor: 0, most: 0 }));
  return endings;

  async function workOn(branch: string): Promise<void> {
    const remote = stage.path("remote.git");
    user.git("init", "--quiet", "--bare", remote);
    await attempt("syncFrom", () => control.syncFrom({ from: folder, name: "workspace" }));
    const onto = user.at("main");
    const rival = user.at("rival");
    await attempt("mergeBase", () => control.mergeBase(onto, branch));
    await attempt("isAncestor", () => control.isAncestor(onto, branch));
    await attempt("countCommits", () => control.countCommits(onto, branch));
    await attempt("changedFiles", () => control.changedFiles(onto, branch));
    await attempt("diff", () => control.diff(onto, branch, 1_000_000));
    await attempt("changedLines", () => control.changedLines(onto, branch));
    await attempt("mergeOf", () => control.mergeOf(branch, onto));
    await attempt("listCommits", () => control.listCommits(branch, [onto]));
    await attempt("fileAt", () => control.fileAt(branch, "a.txt", 100));
    await attempt("predictConflicts", () => control.predictConflicts(rival, [branch, onto, branch, onto]));
    const merged = await attempt("merge", () => control.merge({ onto, branch, strategy: "merge", ...commitOrder }));
    if (merged?.kind !== "merged") return;
    const { commit } = merged;
    await attempt("moveRef", () => control.moveRef("refs/heads/main", commit, undefined));
    await attempt("revertMerge", () =>
      control.revertMerge({ onto: commit, before: onto, after: commit, ...commitOrder }),
    );
    const target = { branch: "main", commit, expected: onto };
    const published = await attempt("publish", () => control.publish({ ...target, repository: user.folder }));
    endings.publish = published?.kind ?? endings.publish ?? "";
    await attempt("pushBranch", () =>
      control.pushBranch({ ...target, remote, expected: undefined, isOwn: true, branch: "pushed" }),
    );
  }
}
