import { expect, test } from "vitest";
import { keptWork } from "../../src/daemon/task-work.ts";
import type { Project } from "../../src/ports/store.ts";
import { cloneOf, createStage } from "./stage.ts";

const stage = createStage("kept-work");

test("without a readable workspace a task's work is the collected commit, or the user's branch if that is ahead", async () => {
  const user = stage.repository();
  const control = await stage.control(user);
  const workspace = cloneOf(stage, user);
  const project = { path: user.folder } as Project;
  const kept = () => keptWork({ control }, project, { id: "t1", branch: "mine", workspace: "" });
  expect(await kept()).toBeUndefined();

  workspace.git("checkout", "--quiet", "-b", "mine");
  const first = workspace.commit({ "a.txt": "first\n" });
  user.git("fetch", "--quiet", workspace.folder, "mine:mine");
  expect(await kept()).toBe(first);

  const second = workspace.commit({ "a.txt": "second\n" });
  await control.collect({ folder: workspace.folder, branch: "mine", task: "t1" });
  expect(await kept()).toBe(second);

  const third = workspace.commit({ "a.txt": "third\n" });
  user.git("fetch", "--quiet", workspace.folder, "mine:mine");
  expect(await kept()).toBe(third);

  // A branch that was moved back is not ahead.
  user.git("branch", "--force", "mine", "main");
  expect(await kept()).toBe(second);
  user.git("branch", "-D", "mine");
  expect(await kept()).toBe(second);
});
