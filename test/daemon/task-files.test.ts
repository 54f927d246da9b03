import { expect, test } from "vitest";
import { placeTaskFiles } from "../../src/daemon/workspaces/task-files.ts";
import type { Task } from "../../src/engine/task.ts";
import type { Store } from "../../src/ports/store.ts";
import type { SeenFile, WorkspaceKind } from "../../src/ports/workspaces.ts";
import { builtIn, drive } from "../engine/drive.ts";

const workflow = builtIn("default");

/** A workspace in memory, in which an agent may write whenever it is looked away from. */
function workspace(text: string, whenWriting: () => string | undefined) {
  let file = text;
  const kind = {
    taskFileName: async () => "TASK.md",
    readTaskFile: async () => file,
    async placeTaskFile(_folder: string, _name: string, wanted: string, seen?: SeenFile) {
      file = whenWriting() ?? file;
      if (seen !== undefined && seen.text !== file) return false;
      file = wanted;
      return true;
    },
  } as unknown as WorkspaceKind;
  return { kind, file: () => file };
}

const store = { getDocument: async () => ({ text: "## Context\nWeak.\n", authors: {} }) } as unknown as Store;
const task: Task = { ...drive(workflow).task, workspace: "/workspace" };

test("what an agent writes while its file is made anew is not lost", async () => {
  const written = "## Context\nWeak.\n\n## Plan\nAPPROACH: more beans\n";
  const { kind, file } = workspace("## Context\nWeak.\n", () => written);
  await placeTaskFiles(store, workflow, kind, task);
  expect(file()).toBe(written);
});

test("an agent that writes ever again without saying anything new keeps nobody waiting", async () => {
  let count = 0;
  const { kind, file } = workspace("", () => `${"\n".repeat(++count)}## Context\nWeak.\n`);
  await placeTaskFiles(store, workflow, kind, task);
  expect(file()).toContain("Weak.");
});

test("a file in which nothing was written gets what the engine knows now", async () => {
  const { kind, file } = workspace("", () => undefined);
  await placeTaskFiles(store, workflow, kind, task);
  expect(file()).toContain("Weak.");
  expect(file()).toContain("status:");
});
