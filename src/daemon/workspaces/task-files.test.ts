import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseTaskDocument } from "../../documents/task-document.ts";
import { createTask } from "../../engine/create.ts";
import { loadWorkflow } from "../../engine/language/load.ts";
import { blankIdentity, type LiveRun, type Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Store } from "../../ports/store.ts";
import { badTaskFile, type WorkspaceKind } from "../../ports/workspaces.ts";
import { fileNameOf, placeTaskFiles, readTaskFiles } from "./task-files.ts";

const root = join(import.meta.dirname, "../../..");
const kind = { taskFileName: async () => "TASK.md" } as unknown as WorkspaceKind;
const workspaces = { list: async () => [] };
const noCheckouts = { workspaces } as unknown as Store;
const fileOf = (role: string, runs: Readonly<Record<string, LiveRun>>) =>
  fileNameOf(noCheckouts, kind, { workspace: "/workspace", runs } as unknown as Task, role);

const worker: LiveRun = { key: "worker#1", mode: "session" };
const beside: LiveRun = { key: "reviewer#2", mode: "session", beside: true };
const alone: LiveRun = { key: "reviewer#2", mode: "session" };

test("a role that is alone in the workspace uses the main file; beside another one it has its own", async () => {
  expect(await fileOf("worker", { worker })).toBe("TASK.md");
  expect(await fileOf("reviewer", { reviewer: alone })).toBe("TASK.md");
  expect(await fileOf("reviewer", { worker, reviewer: beside })).toBe(".signalbox/reviewer.md");
  expect(await fileOf("worker", { worker, reviewer: beside })).toBe("TASK.md");
});

test("a run that started beside another one keeps its file when the other ends, so that its verdict is found", async () => {
  expect(await fileOf("reviewer", { reviewer: beside })).toBe(".signalbox/reviewer.md");
});

/** The files that are updated if one has unread sections and these runs were started. */
async function placedBeside(
  file: string,
  headings: readonly string[],
  runs: Readonly<Record<string, LiveRun>>,
  isStarted: boolean,
): Promise<Readonly<Record<string, string>>> {
  const { workflow } = loadWorkflow(readFileSync(join(root, "workflows/default.yml"), "utf8"), "default.yml");
  if (workflow === undefined) throw new Error("It is built in.");
  const facts = { document: parseTaskDocument(""), artifacts: {}, numbers: {}, head: "", taskFileTracked: false };
  const created = createTask(workflow, { ...blankIdentity, id: "bbbbb" }, { ...facts, poolFull: false });
  if (created.kind !== "moved") throw new Error(JSON.stringify(created));
  const placed: Record<string, string> = {};
  const placing = {
    ...kind,
    readTaskFile: async (_folder: string, name: string) =>
      name === file ? headings.map((heading) => `## ${heading}\n\nVerdict: PASS\n\n`).join("") : "Of old.\n",
    placeTaskFile: async (_folder: string, name: string, text: string) => {
      placed[name] = text;
    },
  } as unknown as WorkspaceKind;
  const store = {
    getDocument: async () => ({ text: "", authors: {} }),
    getTask: async () => undefined,
    runs: { get: async () => (isStarted ? {} : undefined) },
    workspaces,
  } as unknown as Store;
  await placeTaskFiles(store, workflow, placing, { ...created.task, workspace: "/workspace", runs });
  return placed;
}

test("a verdict that was in the file before the reviewer started is not the reviewer's, and is removed", async () => {
  const placed = await placedBeside("TASK.md", ["Review"], { reviewer: alone }, false);
  expect(Object.keys(placed)).toEqual(["TASK.md"]);
  expect(placed["TASK.md"]).not.toContain("## Review");
});

test("such a verdict is removed also beside unread text of the worker, which stays", async () => {
  const placed = await placedBeside("TASK.md", ["Handoff", "Review"], { reviewer: alone }, false);
  expect(placed["TASK.md"]).toContain("## Handoff");
  expect(placed["TASK.md"]).not.toContain("## Review");
});

test.each([
  ["a reviewer that is alone", { reviewer: alone }, "TASK.md", "Review", []],
  ["a reviewer beside a worker", { worker, reviewer: beside }, ".signalbox/reviewer.md", "Review", ["TASK.md"]],
  ["a worker", { worker, reviewer: beside }, "TASK.md", "Handoff", [".signalbox/reviewer.md"]],
])("unread text of %s stays; other files are updated", async (_, runs, file, heading, others) => {
  expect(Object.keys(await placedBeside(file, [heading], runs, true))).toEqual(others);
});

test("only trouble with the task file itself is a finding; every other error is thrown", async () => {
  const read = (code: string) =>
    readTaskFiles(
      noCheckouts,
      {
        ...kind,
        async readTaskFile() {
          throw new Fault(code, "It cannot be read.", { hint: "Look at it." });
        },
      },
      { workspace: "/workspace", runs: {} } as unknown as Task,
    );
  expect(await read(badTaskFile)).toMatchObject({
    files: [],
    unreadable: { reason: "It cannot be read.", fix: "Look at it." },
  });
  await expect(read("disk.failed")).rejects.toThrow("It cannot be read.");
});

test("a file that is as the daemon placed it is not its agent's newest word; any other text is", async () => {
  const { workflow } = loadWorkflow(readFileSync(join(root, "workflows/default.yml"), "utf8"), "default.yml");
  if (workflow === undefined) throw new Error("It is built in.");
  const files = new Map<string, string>();
  const placing = {
    ...kind,
    readTaskFile: async (_folder: string, name: string) => files.get(name),
    placeTaskFile: async (_folder: string, name: string, text: string) => files.set(name, text) !== undefined,
  } as unknown as WorkspaceKind;
  let text = "## Handoff\n\nDONE: 1\n";
  const store = {
    getDocument: async () => ({ text, authors: {} }),
    getTask: async () => undefined,
    runs: { get: async () => ({}) },
    workspaces,
  } as unknown as Store;
  const task = {
    ...blankIdentity,
    id: "bbbbb",
    workspace: "/workspace",
    runs: { worker },
    counters: {},
    crashCount: 0,
    status: "working",
  };
  const place = () => placeTaskFiles(store, workflow, placing, task as unknown as Task);
  const read = async () =>
    (await readTaskFiles(store, placing, task as unknown as Task)).files.map((each) => each.text);
  await place();
  const first = String(files.get("TASK.md"));
  // The worker hands in a newer section. Its file still has the earlier one.
  text = "## Handoff\n\nDONE: 2\n";
  expect(await read()).toEqual([]);
  await place();
  expect(files.get("TASK.md")).toContain("DONE: 2");
  files.set("TASK.md", first);
  expect(await read()).toEqual([first]);
});

test("while the checkout of a reviewer that is about to start is being made, the files of others are written", async () => {
  const { workflow } = loadWorkflow(readFileSync(join(root, "workflows/default.yml"), "utf8"), "default.yml");
  if (workflow === undefined) throw new Error("It is built in.");
  const written: string[] = [];
  const placing = {
    async taskFileName(folder: string) {
      if (folder === "/review-1") throw new Fault("workspace.missing", "/review-1 is not a workspace, or is damaged.");
      return "TASK.md";
    },
    readTaskFile: async () => undefined,
    placeTaskFile: async (folder: string) => void written.push(folder),
  } as unknown as WorkspaceKind;
  const started = new Set(["bbbbb/worker#1"]);
  const checkout = { path: "/review-1", kind: "clone", run: "reviewer#2" };
  const store = {
    getDocument: async () => ({ text: "", authors: {} }),
    getTask: async () => undefined,
    runs: { get: async (id: string) => (started.has(id) ? {} : undefined) },
    workspaces: { list: async () => [checkout] },
  } as unknown as Store;
  const runs = { reviewer: beside, worker };
  const task = { ...blankIdentity, id: "bbbbb", workspace: "/workspace", runs, counters: {}, status: "agent-review" };
  const place = () => placeTaskFiles(store, workflow, placing, { ...task, crashCount: 0 } as unknown as Task);
  await place();
  expect(written).toEqual(["/workspace"]);
  started.add("bbbbb/reviewer#2");
  await expect(place()).rejects.toThrow("is not a workspace");
});
