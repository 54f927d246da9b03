import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { spawnCommands } from "../../src/adapters/system.ts";
import type { ExplanationView } from "../../src/api/tasks.ts";
import type { Core } from "../../src/daemon/core.ts";
import { createHandlers } from "../../src/daemon/handlers.ts";
import { homePlaces } from "../../src/home/places.ts";
import { human, startGitStage } from "./git-stage.ts";

const flow = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: done, when: merged == true, hooks: [release_workspace] }
  - { from: any, to: dropped, by: human, hooks: [release_workspace] }
`;

const kinds = ["worktree", "clone"] as const;

/** A task with a commit and an uncommitted change. */
async function startMoving(kind: (typeof kinds)[number]) {
  const stage = await startGitStage({ flow, ports: { commands: spawnCommands } });
  await stage.store.updateProject("coffee", { workspaces: kind });
  const { workspace } = await stage.begin("b1111");
  writeFileSync(join(workspace, "cup.md"), "full\n");
  stage.git(workspace, "add", "cup.md");
  stage.git(workspace, "commit", "-qm", "cup");
  writeFileSync(join(workspace, "recipe.md"), "more beans\n");
  await ask(stage.core, "explainTask");
  return { ...stage, workspace };
}

async function ask(core: Core, route: string, body: object = {}) {
  const handlers = createHandlers(core) as Record<string, (asked: unknown, response: unknown) => Promise<unknown>>;
  const params = { task: "b1111", project: "coffee" };
  return (await handlers[route]?.({ params, query: {}, body, caller: { kind: "human" } }, {})) as ExplanationView;
}

const troubles = async (core: Core) =>
  (await ask(core, "explainTask")).task.needs.filter(({ reason }) => reason === "workspace");

test("a task that is held because its repository was moved continues once its new path is named", async () => {
  const { core, base, repository, create, until } = await startGitStage({ flow, ports: { commands: spawnCommands } });
  await create("b1111");
  const now = join(base, "tea");
  renameSync(repository, now);
  await core.submit("b1111", { kind: "continue", actor: human });
  expect((await until("b1111", ({ task }) => task.held !== undefined)).held?.reason).toContain(
    `The repository of coffee is no longer at ${repository}.\nName its new path: signalbox project update coffee --path PATH`,
  );
  await ask(core, "updateProject", { path: now });
  const { workspace } = await until("b1111", ({ task }) => task.held === undefined && task.phase === "waiting");
  expect(existsSync(join(workspace, "recipe.md"))).toBe(true);
});

test("a project cannot have the path of another one", async () => {
  const { core, base, git } = await startGitStage({ flow, ports: { commands: spawnCommands } });
  const tea = join(base, "tea");
  git(base, "init", "-q", tea);
  await ask(core, "addProject", { name: "tea", path: tea });
  await expect(ask(core, "updateProject", { path: tea })).rejects.toThrow(`${tea} is already the project "tea".`);
  await ask(core, "updateProject", { path: join(base, "coffee") });
});

const failing = `
version: 1
states:
  todo: { waits_for: human, do: [acquire_workspace], next: busy }
  busy: { waits_for: human, next: saving }
  saving: { do: [harvest_uncommitted], outcomes: [{ on: failed, then: failed }], next: merging }
  merging: { do: [{ action: merge }], outcomes: [{ on: failed, then: failed }], next: done }
  done: { terminal: true }
  failed: { terminal: true }
`;

for (const kind of kinds) {
  test(`${kind}: a moved repository holds a task in its work, although a rule covers failures, until its path is named`, async () => {
    const stage = await startGitStage({ flow: failing, ports: { commands: spawnCommands } });
    const { core, base, repository, create, until, store } = stage;
    await store.updateProject("coffee", { workspaces: kind });
    await create("b1111");
    await core.submit("b1111", { kind: "continue", actor: human });
    const { workspace } = await until("b1111", ({ task }) => task.status === "busy");
    writeFileSync(join(workspace, "cup.md"), "full\n");
    const now = join(base, "tea");
    renameSync(repository, now);
    if (kind === "worktree") {
      // Git in the worktree answers nothing, so the request is refused before the task moves.
      const moved = core.submit("b1111", { kind: "continue", actor: human });
      await expect(moved).rejects.toMatchObject({ code: "git.not-a-repository" });
      return;
    }
    await core.submit("b1111", { kind: "continue", actor: human });
    const held = await until("b1111", ({ task }) => task.held !== undefined);
    expect(held.held?.reason).toContain("signalbox project update coffee --path PATH");
    await ask(core, "updateProject", { path: now });
    expect(await until("b1111", ({ isOpen }) => !isOpen)).toMatchObject({ status: "done" });
    expect(readFileSync(join(now, "cup.md"), "utf8")).toBe("full\n");
  });

  test(`${kind}: a merge in a moved repository is refused with the command that names its new path`, async () => {
    const { core, base, repository, workspace, git } = await startMoving(kind);
    git(workspace, "commit", "-qam", "beans");
    renameSync(repository, join(base, "tea"));
    await expect(ask(core, "mergeTask")).rejects.toMatchObject({
      message: `The repository of coffee is no longer at ${repository}.`,
      hint: "Name its new path: signalbox project update coffee --path PATH",
    });
  });

  test(`${kind}: a moved repository is reported, and naming its new path reconnects the workspaces`, async () => {
    const { core, base, repository, workspace, git, until } = await startMoving(kind);
    const now = join(base, "tea");
    renameSync(repository, now);
    expect(await troubles(core)).toMatchObject([
      {
        text: `The repository of coffee is no longer at ${repository}.`,
        command: "signalbox project update coffee --path PATH",
      },
    ]);
    await ask(core, "updateProject", { path: now });
    expect(await troubles(core)).toEqual([]);
    expect(git(workspace, "status", "--porcelain")).toBe("M recipe.md");
    expect(git(workspace, "log", "--format=%s", "-1")).toBe("cup");
    git(workspace, "commit", "-qam", "beans");
    const asked = () => core.submit("b1111", { kind: "continue", actor: human });
    expect((await asked()).decision).toMatchObject({ kind: "rejected" });
    git(now, "fetch", "-q", workspace, "HEAD");
    git(now, "merge", "-q", "--ff-only", "FETCH_HEAD");
    expect((await asked()).decision).toMatchObject({ kind: "moved" });
    expect(await until("b1111", ({ isOpen }) => !isOpen)).toMatchObject({ status: "done" });
  });

  test(`${kind}: a moved home is recovered at the next start, with everything in its workspaces`, async () => {
    const { core, base, store, workspace, git, start, until } = await startMoving(kind);
    const run = { project: "coffee", task: "b1111", at: 0, key: "worker#1", folder: workspace };
    await store.runs.put({ ...run, id: "b1111/worker#1", endedAt: 1 } as never);
    await store.runs.put({ ...run, id: "b1111/worker#2", key: "worker#2" } as never);
    await core.close();
    const moved = join(base, "elsewhere");
    renameSync(join(base, "home"), moved);
    const next = start(moved);
    onTestFinished(() => next.close());
    await next.recover();
    const path = join(homePlaces(moved).workspaces, "coffee", "1");
    expect((await store.getTask("b1111"))?.task.workspace).toBe(path);
    expect((await store.workspaces.list({})).map((each) => each.path)).toEqual([path]);
    // Ended runs keep their old folder; live ones get the new one.
    expect((await store.runs.list({})).map((each) => each.folder)).toEqual([workspace, path]);
    for (const id of ["b1111/worker#1", "b1111/worker#2"]) await store.runs.remove(id);
    expect(await troubles(next)).toEqual([]);
    expect(git(path, "status", "--porcelain")).toBe("M recipe.md");
    expect(readFileSync(join(path, "cup.md"), "utf8")).toBe("full\n");
    git(path, "commit", "-qam", "beans");
    await next.submit("b1111", { kind: "move", to: "dropped", actor: human });
    await until("b1111", ({ isOpen }) => !isOpen);
    expect([existsSync(path), existsSync(workspace)]).toEqual([true, false]);
    const { control } = (await next.repositories?.workspacesOf((await store.getProject("coffee")) as never)) ?? {};
    const kept = (await control?.commitAt("refs/signalbox/tasks/b1111")) ?? "";
    expect(git(control?.folder ?? "", "log", "--format=%s", "-1", kept)).toBe("beans");
  });
}
