import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { controlGit, createStage } from "./stage.ts";

const stage = createStage("movers");
const processes = 10;
const each = 3;

test("ten processes that merge into one branch at the same time lose nothing", { timeout: 300_000 }, async () => {
  const user = stage.repository();
  const main = user.at("main");
  const branches = Array.from({ length: processes }, (_, process) =>
    Array.from({ length: each }, (_, number) => {
      user.git("checkout", "--quiet", "-B", `task-${process}-${number}`, main);
      return user.commit({ [`file-${process}-${number}`]: "work\n" });
    }),
  );
  const control = await stage.control(user);
  await control.moveRef("refs/heads/main", main, undefined);
  const mover = fileURLToPath(new URL("mover.ts", import.meta.url));
  const run = promisify(execFile);
  await Promise.all(
    branches.map((commits) => run(process.execPath, [mover, control.folder, ...commits], { env: stage.env })),
  );
  const git = controlGit(stage, control);
  const files = git("ls-tree", "--name-only", "refs/heads/main").split("\n");
  expect(files.filter((name) => name.startsWith("file-"))).toHaveLength(processes * each);
  for (const commit of branches.flat())
    expect(await control.isAncestor(commit, (await control.commitAt("refs/heads/main")) ?? "")).toBe(true);
  expect(git("rev-list", "--count", "--first-parent", `${main}..refs/heads/main`)).toBe(String(processes * each));
  expect(git("fsck", "--strict", "--connectivity-only")).not.toMatch(/missing|broken|error/);
});
