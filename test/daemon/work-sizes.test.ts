import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createHandlers } from "../../src/daemon/handlers.ts";
import type { PullRequestRecord } from "../../src/ports/records.ts";
import { startGitStage } from "./git-stage.ts";

const id = "b1111";

interface Row {
  readonly lines: { readonly added: number; readonly removed: number } | null;
  readonly commits: number | null;
  readonly checks: string | null;
}

async function start(kind: "clone" | "worktree") {
  const stage = await startGitStage({ workspaces: kind });
  const { core, git } = stage;
  const { workspace } = await stage.begin(id);
  const row = async (): Promise<Row> => {
    const asked = { params: {}, query: {}, body: {}, caller: { kind: "human" }, folder: "", lastEvent: "" };
    const { listTasks } = createHandlers(core);
    const page = (await listTasks?.(asked as never, {} as never)) as { tasks: readonly Row[] } | undefined;
    return page?.tasks[0] ?? { lines: null, commits: null, checks: null };
  };
  const collect = async () => {
    const own = await core.pools?.workspacesOf((await core.store.getProject("coffee")) as never);
    const branch = await own?.kind.currentBranch(workspace);
    await own?.control.collect({ folder: workspace, branch: branch ?? "", task: id });
  };
  return {
    ...{ ...stage, workspace, row, collect },
    commit(folder: string, name: string, text: string | Uint8Array) {
      writeFileSync(join(folder, name), text);
      git(folder, "add", name);
      git(folder, "commit", "-qm", name);
    },
  };
}

for (const kind of ["clone", "worktree"] as const)
  test(`${kind}: lines and commits are counted when commits are collected, against the target that the work contains`, async () => {
    const { row, collect, commit, workspace, repository, git, control } = await start(kind);
    await expect.poll(row).toMatchObject({ lines: { added: 0, removed: 0 }, commits: 0, checks: null });
    commit(workspace, "cup.md", "one\ntwo\nthree\n");
    await collect();
    await expect.poll(row).toMatchObject({ lines: { added: 3, removed: 0 }, commits: 1 });
    // A binary file has no lines; a changed line is one removed and one added.
    commit(workspace, "cup.md", "one\n2\nthree\n");
    commit(workspace, "photo", new Uint8Array([0, 1, 2, 0, 255]));
    commit(workspace, "recipe.md", "");
    await collect();
    await expect.poll(row).toMatchObject({ lines: { added: 3, removed: 1 }, commits: 4 });
    // Commits of the target do not count as the task's, once it has merged them.
    commit(repository, "kettle.md", "hot\n".repeat(9));
    git(workspace, "pull", "-q", "--no-rebase", "--no-edit", repository, "main");
    await (await control()).syncFrom({ from: repository, name: "user" });
    await collect();
    await expect.poll(row).toMatchObject({ lines: { added: 3, removed: 1 }, commits: 5 });
  });

test("a row has the checks of the pull request, and forgets them with it", async () => {
  const { row, core } = await start("clone");
  const record: PullRequestRecord = {
    ...{
      id,
      project: "coffee",
      task: id,
      at: 1,
      number: 3,
      url: "",
      head: "x",
      headCommit: "",
      base: "main",
      title: "",
    },
    ...{ body: "", isDraft: false, state: "open", mergedCommit: "", review: "none", comments: {}, seenAt: 1, told: {} },
    checks: "none",
  };
  await core.store.pullRequests.put({ ...record, checks: "failing" });
  expect(await row()).toMatchObject({ checks: "failing" });
  await core.store.pullRequests.put({ ...record, checks: "passing" });
  expect(await row()).toMatchObject({ checks: "passing" });
  await core.store.pullRequests.remove(id);
  expect(await row()).toMatchObject({ checks: null });
});
