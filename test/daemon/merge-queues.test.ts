import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mergeTask } from "../../src/daemon/requests/merge-task.ts";
import { listMerges } from "../../src/daemon/requests/merges.ts";
import { startGitStage } from "./git-stage.ts";

const flow = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: done }
  done: { terminal: true }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: done, when: merged == true, hooks: [release_workspace] }
`;

test("a merge that waits for the user's files is in its queue with the reason, and later among those that have ended", async () => {
  const id = "b1111";
  const { core, git, repository, begin, until } = await startGitStage({ flow });
  const { workspace } = await begin(id);
  writeFileSync(join(workspace, "recipe.md"), "better beans\n");
  git(workspace, "commit", "-qam", "better");
  writeFileSync(join(repository, "recipe.md"), "the user's beans\n");
  const about = { params: { task: id }, query: {}, caller: { kind: "human" }, folder: "", lastEvent: "" } as const;
  const merges = () => listMerges(core)({ ...about, params: {}, body: undefined });
  expect(await mergeTask(core)({ ...about, body: {} })).toMatchObject({ state: "waits" });
  const { queues, ended } = await merges();
  expect(ended).toEqual([]);
  expect(queues).toMatchObject([{ target: "main", parent: "", entries: [{ task: id, state: "waits", by: "person" }] }]);
  expect(queues[0]?.entries[0]).toMatchObject({ files: ["recipe.md"], reason: expect.stringContaining("recipe.md") });
  git(repository, "checkout", "-q", "--", "recipe.md");
  await until(id, ({ task }) => task.status === "done");
  await expect
    .poll(async () => (await merges()).ended, { timeout: 10_000 })
    .toMatchObject([{ task: id, state: "merged" }]);
  expect((await merges()).queues).toEqual([]);
});
