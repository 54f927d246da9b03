import { renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { MergeView } from "../../src/api/tasks.ts";
import { createHandlers } from "../../src/daemon/handlers.ts";
import { human, startGitStage } from "./git-stage.ts";

/** A person merges by hand; from "judged" the workflow merges. */
const flow = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: done }
  judged: { waits_for: human, next: merging }
  merging: { do: [name_branch, merge], outcomes: [{ on: ok, then: done }, { on: [conflict, tests, error], then: judged }] }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: judged, by: human }
  - { from: judged, to: merging, by: human }
  - { from: busy, to: done, when: merged == true, hooks: [release_workspace] }
  - { from: any, to: dropped, by: human, hooks: [release_workspace] }
`;

/** A task whose last commit and whose uncommitted file the daemon has not seen. */
async function startMerging(kind: "worktree" | "clone", text = flow) {
  const stage = await startGitStage({ flow: text });
  await stage.store.updateProject("coffee", { workspaces: kind });
  const { workspace } = await stage.begin("b1111");
  const commit = (name: string) => {
    writeFileSync(join(workspace, name), "full\n");
    stage.git(workspace, "add", name);
    stage.git(workspace, "commit", "-qm", name);
  };
  const handlers = createHandlers(stage.core);
  const ask = async <T>(route: keyof typeof handlers, body: object = {}) =>
    (await handlers[route]?.(
      { params: { task: "b1111" }, query: {}, body, caller: { kind: "human" }, folder: "" } as never,
      {} as never,
    )) as T;
  commit("one.md");
  await ask("explainTask");
  commit("two.md");
  writeFileSync(join(workspace, "three.md"), "half\n");
  const gitFolder = stage.git(workspace, "rev-parse", "--absolute-git-dir");
  return { ...stage, workspace, gitFolder, ask, merge: (body?: object) => ask<MergeView>("mergeTask", body) };
}

type Merging = Awaited<ReturnType<typeof startMerging>>;

const damages: readonly (readonly [string, (stage: Merging) => void])[] = [
  [
    // In the middle of a merge, a HEAD is not mended: nobody knows where it was.
    "an unreadable HEAD",
    ({ git, workspace, gitFolder }) => {
      writeFileSync(join(gitFolder, "MERGE_HEAD"), `${git(workspace, "rev-parse", "HEAD")}\n`);
      writeFileSync(join(gitFolder, "HEAD"), "");
    },
  ],
  [
    "a link in its place",
    ({ base, workspace }) => {
      renameSync(workspace, join(base, "elsewhere"));
      symlinkSync(join(base, "elsewhere"), workspace);
    },
  ],
];

for (const kind of ["worktree", "clone"] as const) {
  for (const [what, damage] of damages) {
    test(`${kind}: a task whose workspace has ${what} is not merged, until the workspace was recreated`, async () => {
      const stage = await startMerging(kind);
      const { core, store, repository, git, merge, until } = stage;
      damage(stage);
      const refused = { state: "refused", reason: expect.stringContaining("signalbox task respawn b1111") };
      expect(await merge({ dryRun: true })).toMatchObject(refused);
      expect(await merge()).toMatchObject(refused);
      expect((await store.getTask("b1111"))?.task.status).toBe("busy");
      expect(git(repository, "log", "--format=%s", "main")).toBe("first");
      // The advice.
      await core.submit("b1111", { kind: "respawn", actor: human });
      await expect.poll(async () => (await store.openEffects("b1111")).length, { timeout: 30_000 }).toBe(0);
      expect(await merge()).toMatchObject({ state: "merged" });
      await until("b1111", ({ isOpen }) => !isOpen);
      expect(git(repository, "log", "--format=%s", "main").split("\n")).toContain("one.md");
    });
  }

  test(`${kind}: a workflow does not merge a task whose workspace cannot be read`, async () => {
    const stage = await startMerging(kind);
    const { store, repository, git, merge } = stage;
    await stage.move("b1111", "judged");
    damages[0]?.[1](stage);
    await expect(merge()).rejects.toMatchObject({ code: "workspace.unreadable" });
    expect((await store.getTask("b1111"))?.task.status).toBe("judged");
    const held = { status: "merging", held: { reason: expect.stringContaining("respawn"), again: "effects" } };
    expect(await stage.goOn("b1111")).toMatchObject(held);
    expect(git(repository, "log", "--format=%s", "main")).toBe("first");
  });

  test(`${kind}: what a workflow does after a failed merge is not done where the workspace cannot be read`, async () => {
    const stage = await startMerging(kind, flow.replace("name_branch, ", ""));
    await stage.move("b1111", "judged");
    damages[1]?.[1](stage);
    const held = { status: "merging", held: { reason: expect.stringContaining("respawn"), again: "effects" } };
    expect(await stage.goOn("b1111")).toMatchObject(held);
    expect(stage.git(stage.repository, "log", "--format=%s", "main")).toBe("first");
  });

  test(`${kind}: a task whose workspace was deleted is merged at its last collected commit`, async () => {
    const { workspace, merge, git, repository } = await startMerging(kind);
    rmSync(workspace, { recursive: true });
    expect(await merge()).toMatchObject({ state: "merged" });
    expect(git(repository, "log", "--format=%s", "main").split("\n")).toContain("one.md");
  });
}
