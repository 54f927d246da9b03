import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Fault } from "../../fault.ts";
import { createTurns } from "../../keyed.ts";
import type { Obeyed } from "../../ports/git.ts";
import type { Workspace } from "../../ports/records.ts";
import type { Project, Store } from "../../ports/store.ts";
import { guardWorkspaces, isReleased } from "./guard-workspaces.ts";
import { createPoolRoom, unbindWorkspace } from "./pool.ts";

const project = { name: "coffee", path: "/coffee", workspaces: "clone" } as Project;
const workspace: Workspace = { id: "coffee/1", project: "coffee", task: "t1", at: 0, path: "/pool/1", kind: "clone" };

/** A project with one workspace. Collecting from it blocks until the test lets it continue. */
async function start() {
  let record = workspace;
  const workspaces = {
    list: async () => [record],
    get: async () => record,
    put: async (changed: Workspace) => {
      record = changed;
    },
  };
  const store = { workspaces, getTask: async () => undefined } as unknown as Store;
  const inTurn = createTurns();
  const waiting: (() => void)[] = [];
  const collect = () => new Promise((resolve) => waiting.push(() => resolve({ commit: "aaa" })));
  const opened = { control: { collect }, kind: { kind: "clone" }, kindOf: () => ({}) };
  const { control } = await guardWorkspaces(
    { store, inTurn, clock: { now: () => 0 }, log: {} as never },
    async () => opened as never,
  )(project);
  return {
    ...{ store, waiting },
    collect: (task: string) => control.collect({ folder: workspace.path, branch: "b", task }),
    unbind: () => unbindWorkspace({ store, inTurn, clock: {} as never, room: createPoolRoom({} as never) }, workspace),
    rest: () => new Promise((resolve) => setTimeout(resolve)),
  };
}

test("nothing is collected for a task from a folder that is free or bound to another task by now", async () => {
  const { store, collect, waiting, rest } = await start();
  for (const task of ["t2", ""]) {
    await store.workspaces.put({ ...workspace, task });
    const answer = collect("t1").catch((error) => error);
    await rest();
    expect(waiting).toEqual([]);
    expect(isReleased(await answer)).toBe(true);
  }
});

test("a folder is released only after the collecting from it has ended", async () => {
  const { store, collect, unbind, waiting, rest } = await start();
  const collected = collect("t1");
  await rest();
  const unbound = unbind();
  await rest();
  expect(await store.workspaces.get(workspace.id)).toMatchObject({ task: "t1" });
  waiting[0]?.();
  expect(await collected).toEqual({ commit: "aaa" });
  await unbound;
  expect(await store.workspaces.get(workspace.id)).toMatchObject({ task: "" });
});

/** Checks a repository whose settings have changed since they were trusted: `name` is new. */
async function changedSettings(
  name: string,
  given: { isApart?: boolean; kind?: "clone" | "worktree"; hasWorktree?: boolean } = {},
) {
  const { isApart = true, kind = "clone", hasWorktree = false } = given;
  const path = mkdtempSync(join(tmpdir(), "signalbox-guard-"));
  mkdirSync(join(path, ".git"));
  const remotes = ["remote.origin.url"].filter((each) => each === name);
  const now: Obeyed = { fingerprint: "new", parts: { [name]: "x" }, remotes };
  let known: Project = { ...project, path, workspaces: kind, obeyed: { fingerprint: "old", parts: {}, isApart } };
  const store = {
    getProject: async () => known,
    updateProject: async (_: string, change: Partial<Project>) => {
      known = { ...known, ...change };
    },
    workspaces: { list: async () => (hasWorktree ? [{ ...workspace, kind: "worktree" }] : [workspace]) },
  } as unknown as Store;
  const opened = { control: { inTheWay: async () => undefined }, kind: { kind }, git: { obeyed: async () => now } };
  const ports = { store, inTurn: createTurns(), clock: { now: () => 0 }, log: {} as never };
  const { control } = await guardWorkspaces(ports, async () => opened as never)(known);
  try {
    await control.inTheWay({ repository: path, branch: "main", commit: "a", expected: "b" });
    return known.obeyed?.fingerprint;
  } catch (error) {
    return error instanceof Fault ? error.code : error;
  } finally {
    rmSync(path, { recursive: true });
  }
}

test("a new remote on a network needs no trust where agents have only clones; everything else does", async () => {
  const url = "remote.origin.url";
  expect(await changedSettings(url)).toBe("new");
  expect(await changedSettings("core.fsmonitor")).toBe("project.changed");
  expect(await changedSettings(url, { kind: "worktree" })).toBe("project.changed");
  expect(await changedSettings(url, { hasWorktree: true })).toBe("project.changed");
  // Worktrees shared the repository's settings when they were trusted, or have since.
  expect(await changedSettings(url, { isApart: false })).toBe("project.changed");
});
