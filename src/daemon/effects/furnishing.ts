import { join } from "node:path";
import type { Task } from "../../engine/task.ts";
import type { Places } from "../../home/places.ts";
import type { Workspace } from "../../ports/records.ts";
import type { WorkspaceKind } from "../../ports/workspaces.ts";
import type { ProjectSettings } from "../workspaces/project-settings.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import { changedRunners, type Runners, removeInstalled } from "../workspaces/runners.ts";
import { type CommandPorts, runInWorkspace } from "./commands.ts";

export interface FurnishPorts extends CommandPorts {
  readonly places: Pick<Places, "logs">;
  /** Publishes the folders of agents, which the command line must know. */
  publishAgents(): Promise<void>;
}

/**
 * A test runner that the task before has left in a kept folder must not decide about this one. If it differs from what the
 * setup installed, or if no setup has installed it, its folder is removed.
 */
export async function removePlanted(
  { control }: ProjectWorkspaces,
  { path, runners: installed = {} }: Workspace,
  { setup }: ProjectSettings,
  commit: string,
  now: Runners,
): Promise<void> {
  await removeInstalled(control, commit, path, setup.length === 0 ? Object.keys(now) : changedRunners(installed, now));
}

/** Copies the files that git does not bring, and runs the setup. After a crash all of it is repeated. */
export async function furnish(
  ports: FurnishPorts,
  kind: WorkspaceKind,
  { copy, link, setup, setupTimeout }: ProjectSettings,
  task: Task,
  workspace: Workspace,
  key: string,
): Promise<void> {
  const folder = workspace.path;
  if (copy.length > 0) await kind.copyFiles({ folder, patterns: copy, how: "copy" });
  if (link.length > 0) await kind.copyFiles({ folder, patterns: link, how: "link" });
  if (setup.length === 0) return;
  const file = join(ports.places.logs, "setup", `${task.id}.log`);
  await runInWorkspace(ports, { name: "setup", argv: setup, timeout: setupTimeout, file }, workspace, task, key);
}
