import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Places } from "../../home/places.ts";
import type { Project, Store } from "../../ports/store.ts";
import { type CommandPorts, runInWorkspace } from "../effects/run-in-workspace.ts";
import { testsOf } from "../effects/tests-of.ts";
import type { ProjectSettings, SettingsOf } from "../workspaces/project-settings.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import type { Merged } from "./stack-up.ts";

export interface TestMergedPorts extends CommandPorts {
  readonly store: Store;
  readonly places: Places;
  readonly settingsOf: SettingsOf;
}

const ref = "refs/signalbox/merging/tested";

/**
 * Checks a commit out that no branch has yet, and runs the project's tests on it. Gives why they fail, or undefined where
 * they do not. The checkout is a clone that nobody else works in, whatever kind the project's workspaces are.
 */
export async function testMerged(
  ports: TestMergedPorts,
  own: ProjectWorkspaces,
  project: Project,
  commit: string,
  merged: readonly Merged[],
): Promise<string | undefined> {
  const [first] = merged;
  const task = first && (await ports.store.getTask(first.entry.task))?.task;
  if (task === undefined) return undefined;
  const folder = join(ports.places.workspaces, ".merging", project.name);
  await checkOut(ports, own, project, commit, folder, task);
  const run = testsOf({ ...ports, folderOf: async () => folder, portOf: async () => undefined });
  try {
    await run({ action: "run_tests", params: {} }, { task, key: `merge:${commit}` });
    return undefined;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    // Nothing to run is no failure, unless the project says so; then it is called `tests`.
    if (error.code === "untested") return undefined;
    if (error.code !== "tests" && error.code !== "tests.timeout") throw error;
    return `The tests fail on what the merge would make. ${error.message}`;
  }
}

async function checkOut(
  ports: TestMergedPorts,
  own: ProjectWorkspaces,
  project: Project,
  commit: string,
  folder: string,
  task: Task,
): Promise<void> {
  const settings = ports.settingsOf(project);
  const kind = await own.kindOf("clone");
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  // What was tested before and not published must stay reachable, or its checkout could not be used again.
  await own.control.moveRef(ref, commit, await own.control.commitAt(ref));
  const branch = `merging/${commit.slice(0, 12)}`;
  const order = { folder, branch, base: commit, existing: true, salvaged: true, keep: settings.keep };
  const { how } = await kind.prepare(order);
  if (how !== "ready") await furnish(ports, kind, settings, folder, project, task, commit);
}

async function furnish(
  ports: TestMergedPorts,
  kind: Awaited<ReturnType<ProjectWorkspaces["kindOf"]>>,
  { copy, link, setup, setupTimeout }: ProjectSettings,
  folder: string,
  project: Project,
  task: Task,
  commit: string,
): Promise<void> {
  if (copy.length > 0) await kind.copyFiles({ folder, patterns: copy, how: "copy" });
  if (link.length > 0) await kind.copyFiles({ folder, patterns: link, how: "link" });
  if (setup.length === 0) return;
  const file = join(ports.places.logs, "setup", `${project.name}-merging.log`);
  const command = { name: "setup", argv: setup, timeout: setupTimeout, file } as const;
  const workspace = { id: "", project: project.name, task: task.id, at: 0, path: folder, kind: "clone" } as const;
  await runInWorkspace(ports, command, workspace, task, `setup:${commit}`);
}
