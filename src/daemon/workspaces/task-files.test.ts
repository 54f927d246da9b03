import { expect, test } from "vitest";
import type { LiveRun, Task } from "../../engine/task.ts";
import type { WorkspaceKind } from "../../ports/workspaces.ts";
import { fileNameOf } from "./task-files.ts";

const kind = { taskFileName: async () => "TASK.md" } as unknown as WorkspaceKind;
const fileOf = (role: string, runs: Readonly<Record<string, LiveRun>>) =>
  fileNameOf(kind, { workspace: "/workspace", runs } as unknown as Task, role);

const worker: LiveRun = { key: "worker#1", mode: "session" };
const beside: LiveRun = { key: "reviewer#2", mode: "session", beside: true };
const alone: LiveRun = { key: "reviewer#2", mode: "session" };

test("a role that is alone in the workspace uses the main file; beside another one it has its own", async () => {
  expect(await fileOf("worker", { worker })).toBe("TASK.md");
  expect(await fileOf("reviewer", { reviewer: alone })).toBe("TASK.md");
  expect(await fileOf("reviewer", { worker, reviewer: beside })).toBe(".signalbox/reviewer.md");
  expect(await fileOf("worker", { worker, reviewer: beside })).toBe("TASK.md");
});

test("whoever started beside another one keeps its file when that one ends: the verdict is looked for where it is written", async () => {
  expect(await fileOf("reviewer", { reviewer: beside })).toBe(".signalbox/reviewer.md");
});
