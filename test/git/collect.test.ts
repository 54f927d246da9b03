import { chmodSync, copyFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { taskRef } from "../../src/ports/control-repository.ts";
import { cloneOf, controlGit, createStage, faultOf, type Repository, worktreeOf } from "./stage.ts";

// A caller that has inspected a workspace passes the commit that it saw: then no git has to run there.

const stage = createStage("collect");

async function seenWorkspace(kind: "clone" | "worktree" = "clone") {
  const user = stage.repository();
  const control = await stage.control(user);
  await control.syncFrom({ from: user.folder, name: "user" });
  const workspace = kind === "clone" ? cloneOf(stage, user) : worktreeOf(stage, user);
  const collect = (seenAt = workspace.at("HEAD")) =>
    control.collect({ folder: workspace.folder, branch: "task", task: "t1", seenAt });
  return { control, workspace, collect, git: controlGit(stage, control), at: () => control.commitAt(taskRef("t1")) };
}

test.each(["clone", "worktree"] as const)(
  "a commit that was seen in a %s is collected completely, and stays reachable",
  async (kind) => {
    const { workspace, collect, git, at } = await seenWorkspace(kind);
    const base = workspace.at("HEAD");
    expect(await collect()).toEqual({ commit: base, previous: undefined });
    const many = Object.fromEntries(Array.from({ length: 120 }, (_, number) => [`many/${number}.txt`, `${number}\n`]));
    const first = workspace.commit(many);
    expect(await collect()).toEqual({ commit: first, previous: base });
    const second = workspace.commit({ "a.txt": "second\n" });
    expect(await collect()).toEqual({ commit: second, previous: first });
    workspace.git("reset", "--quiet", "--hard", base);
    const third = workspace.commit({ "a.txt": "instead\n" });
    expect(await collect()).toEqual({ commit: third, previous: second });
    rmSync(workspace.folder, { recursive: true });
    expect(await at()).toBe(third);
    expect(git("show", `${third}:a.txt`, `${second}:many/119.txt`)).toBe("instead\n119");
    expect(git("for-each-ref", "--format=%(objectname)", "refs/signalbox/kept/t1")).toBe(second);
    expect(git("for-each-ref", "refs/signalbox/incoming/tasks")).toBe("");
    expect(git("fsck", "--strict")).not.toMatch(/missing|broken|error/);
  },
);

test("an incomplete or forged commit, or an object that is not a commit, is refused, and no ref moves", async () => {
  const { workspace, collect, at, git } = await seenWorkspace();
  const base = workspace.at("HEAD");
  await collect();
  const begin = () => {
    workspace.git("reset", "--quiet", "--hard", base);
    return workspace.commit({ "a.txt": `${Math.random()}\n`, "b.txt": "other\n" });
  };
  const damages: readonly ((commit: string) => string)[] = [
    (commit) => {
      rmSync(objectOf(workspace, `${commit}:a.txt`));
      return commit;
    },
    (commit) => {
      const place = objectOf(workspace, `${commit}:a.txt`);
      chmodSync(place, 0o644);
      copyFileSync(objectOf(workspace, `${commit}:b.txt`), place);
      return commit;
    },
    (commit) => {
      const blob = workspace.at(`${commit}:b.txt`);
      writeFileSync(join(workspace.folder, ".git/refs/heads/task"), `${blob}\n`);
      return blob;
    },
  ];
  for (const damage of damages) {
    const seen = damage(begin());
    expect((await faultOf(collect(seen))).code).toMatch(/^git\./);
    expect(await at()).toBe(base);
    writeFileSync(join(workspace.folder, ".git/refs/heads/task"), `${base}\n`);
  }
  expect(git("for-each-ref", "--format=%(objectname)", "refs/signalbox/tasks", "refs/signalbox/kept")).toBe(base);
});

function objectOf({ folder, at }: Repository, name: string): string {
  const id = at(name);
  return join(folder, ".git/objects", id.slice(0, 2), id.slice(2));
}
