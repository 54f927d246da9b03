import { join } from "node:path";
import type { Task } from "../../engine/task.ts";
import type { Places } from "../../home/places.ts";
import type { Log } from "../../ports/log.ts";
import type { Workspace } from "../../ports/records.ts";
import type { Project } from "../../ports/store.ts";
import type { Perform } from "../perform.ts";
import type { Submit } from "../submit.ts";
import type { SettingsOf } from "../workspaces/project-settings.ts";
import { type ReleaseWorkspacesPorts, releaseWorkspaces } from "../workspaces/release-workspaces.ts";
import { removeOtherKind } from "../workspaces/remove-other-kind.ts";
import { type CommandPorts, runInWorkspace } from "./run-in-workspace.ts";

export interface ReleasePorts extends ReleaseWorkspacesPorts, CommandPorts {
  readonly log: Log;
  readonly places: Pick<Places, "logs">;
  readonly settingsOf: SettingsOf;
  readonly submit: Submit;
  publishAgents(): Promise<void>;
}

/**
 * Gives the task's workspace back. Whatever is in it is saved first: what is committed on the task's branch, and what is
 * not under a ref of its own. Nothing where the task has none.
 */
export function releaseWorkspace(ports: ReleasePorts): Perform {
  const { store, workspacesOf } = ports;
  return async (_, { task, key }) => {
    const project = await store.getProject(task.project);
    // Before the teardown, too: it must not pull the ground from under a program that works there.
    await ports.endRuns(task.id);
    for (const workspace of await store.workspaces.list({ task: task.id })) {
      if (workspace.kind === "folder" || project === undefined) continue;
      const { kind } = await workspacesOf(project);
      const found = await kind.inspect(workspace.path);
      if (found.kind === "there") await tearDown(ports, project, workspace, task, key);
    }
    await releaseWorkspaces(ports, task.id);
    if (project !== undefined) await removeOtherKind(ports, await workspacesOf(project), project);
    if (task.workspace !== "") {
      await ports.submit(task.id, { kind: "edit", actor: { role: "engine" }, set: { workspace: "" } });
    }
    await ports.publishAgents();
  };
}

/** Whatever comes of it is noted: a workspace that is never given back would be worse. */
async function tearDown(
  ports: ReleasePorts,
  project: Project,
  workspace: Workspace,
  task: Task,
  key: string,
): Promise<void> {
  try {
    const { teardown: argv, setupTimeout: timeout } = ports.settingsOf(project);
    if (argv.length === 0) return;
    const file = join(ports.places.logs, "teardown", `${task.id}.log`);
    await runInWorkspace(ports, { name: "teardown", argv, timeout, file }, workspace, task, key);
  } catch (error) {
    // What was cut short because we stop is begun anew after the start.
    if (ports.signal?.aborted) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    ports.log.warn("A workspace was given back without its teardown", { task: task.id, reason });
    const note = {
      type: "effect.failed",
      by: "engine",
      data: { action: "release_workspace", reason },
      set: {},
    } as const;
    await ports.store.addEvents(task.id, [note], ports.clock.now());
  }
}
