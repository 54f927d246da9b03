import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { WorkspaceView } from "../../src/api/workspaces.ts";
import { createHandlers } from "../../src/daemon/handlers.ts";
import type { WorkspacesOf } from "../../src/daemon/workspaces/project-workspaces.ts";
import { Fault } from "../../src/fault.ts";
import { homePlaces } from "../../src/home/places.ts";
import { stuckWorkspace, type WorkspaceKind } from "../../src/ports/workspaces.ts";
import { realWorkspaces } from "../real-workspaces.ts";
import { type GitStage, startGitStage } from "./git-stage.ts";

/** A file that cannot be removed on every file system, as an immutable one cannot be on some. */
const immovable = "immovable";

function refusing(kind: WorkspaceKind, isStuck: (folder: string) => boolean): WorkspaceKind {
  const check = (folder: string) => {
    if (isStuck(folder))
      throw new Fault(stuckWorkspace, `${folder} cannot be emptied. ${immovable} cannot be removed.`);
  };
  return {
    ...kind,
    async prepare(order) {
      check(order.folder);
      return kind.prepare(order);
    },
    async park(order) {
      check(order.folder);
      return kind.park(order);
    },
  };
}

/** A stage whose workspaces cannot be emptied while they have that file. */
async function start(isStuck = (folder: string) => existsSync(join(folder, immovable)), poolSize = 3) {
  let workspacesOf: WorkspacesOf | undefined;
  const told: string[] = [];
  const stage: GitStage = await startGitStage({
    poolSize,
    ports: {
      performers: () => ({ notify: async ({ params }) => void told.push(String(params.message)) }),
      workspacesOf: async (project) => {
        workspacesOf ??= realWorkspaces(homePlaces(join(project.path, "..", "home"))).workspacesOf;
        const own = await workspacesOf(project);
        const kindOf: typeof own.kindOf = async (name) => refusing(await own.kindOf(name), isStuck);
        return { ...own, kind: refusing(own.kind, isStuck), kindOf };
      },
    },
  });
  const handlers = createHandlers(stage.core);
  const ask = async <T>(route: keyof typeof handlers) =>
    (await handlers[route]?.(
      { params: {}, query: {}, body: {}, caller: { kind: "human" }, folder: "" } as never,
      {} as never,
    )) as T;
  return {
    ...stage,
    told,
    list: async () => (await ask<{ workspaces: WorkspaceView[] }>("listWorkspaces")).workspaces,
    check: async () => (await ask<{ unsaved: { path: string; reason: string; fix: string }[] }>("check")).unsaved,
    /** A free workspace, which has the file that cannot be removed. */
    async leave(id: string) {
      const { workspace } = await stage.begin(id);
      writeFileSync(join(workspace, immovable), "stays\n");
      await stage.move(id, "dropped");
      await expect.poll(async () => (await stage.store.openEffects(id)).length).toBe(0);
      return workspace;
    },
  };
}

test("a free workspace that cannot be emptied is kept under another name, and the next tasks get new folders", async () => {
  const { leave, begin, told, check, list } = await start();
  const stuck = await leave("b1111");
  const next = [await begin("b2222"), await begin("b3333")];
  expect(next.map(({ status, held, workspace }) => [status, held, readdirSync(workspace).includes(immovable)])).toEqual(
    [
      ["busy", undefined, false],
      ["busy", undefined, false],
    ],
  );
  const aside = `${stuck}-left-free`;
  expect(readdirSync(aside)).toContain(immovable);
  const reason = expect.stringContaining(`could not be emptied, and is kept in ${aside}`);
  expect(await check()).toMatchObject([{ path: aside, reason, fix: expect.stringContaining(`rm -rf ${aside}`) }]);
  expect((await list()).find(({ path }) => path === aside)).toMatchObject({ isUnsaved: true, reason });
  expect(told).toEqual([reason]);
});

test("a free workspace that cannot be emptied is set aside as soon as it is cleaned, before a task gets it", async () => {
  const { leave, check, begin } = await start();
  const stuck = await leave("b1111");
  await expect.poll(async () => (await check()).map(({ path }) => path)).toEqual([`${stuck}-left-free`]);
  expect(await begin("b2222")).toMatchObject({ status: "busy", workspace: stuck });
});

test("a free workspace that can neither be emptied nor renamed is passed over", async () => {
  const { leave, begin, core, check, places } = await start();
  const stuck = await leave("b1111");
  // The longest name that a folder can have.
  const long = join(places.workspaces, "coffee", "w".repeat(255));
  renameSync(stuck, long);
  const [record] = await core.store.workspaces.list({ project: "coffee" });
  if (record !== undefined) await core.store.workspaces.put({ ...record, path: long });
  const next = [await begin("b2222"), await begin("b3333"), await begin("b4444")];
  expect(next.map(({ status, held }) => [status, held])).toEqual(next.map(() => ["busy", undefined]));
  expect(new Set(next.map(({ workspace }) => workspace)).size).toBe(3);
  expect(await check()).toMatchObject([{ path: long, reason: expect.stringContaining("could not be emptied") }]);
});

test("if no folder can be emptied, the task is held for the folder by name, and nothing is made again and again", async () => {
  const { create, core, until, places } = await start(() => true, 1);
  await create("b1111");
  await core.submit("b1111", { kind: "continue", actor: { role: "human" } });
  const { held } = await until("b1111", ({ task }) => task.held !== undefined);
  expect(JSON.stringify(held)).toContain(join(places.workspaces, "coffee", "1"));
  mkdirSync(join(places.workspaces, "coffee"), { recursive: true });
  expect(readdirSync(join(places.workspaces, "coffee"))).toEqual([]);
});
