import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import type { Workspace } from "../../ports/records.ts";
import type { Project } from "../../ports/store.ts";
import type { Submit } from "../submit.ts";
import type { PoolPorts } from "./pool-ports.ts";

type MovedPorts = Pick<PoolPorts, "store" | "log" | "places" | "workspacesOf"> & { readonly submit: Submit };

/** After a start: where the home was moved since the last one, everything that names a path in it is put right. */
export async function followHome(ports: MovedPorts): Promise<void> {
  const { store, log, places } = ports;
  for (const found of await store.listProjects()) {
    try {
      const project = await followRepository(ports, found);
      for (const workspace of await store.workspaces.list({ project: project.name })) {
        const path = join(places.workspaces, project.name, basename(workspace.path));
        if (workspace.kind === "folder" || workspace.path === path || existsSync(workspace.path)) continue;
        await followWorkspace(ports, project, workspace, path);
        log.info("A workspace was moved with its home", { from: workspace.path, path });
      }
    } catch (error) {
      log.warn("The moved workspaces of a project could not be put right", { project: found.name, error });
    }
  }
}

/** A person has said where the repository is now: its workspaces belong to that one. */
export async function followProject({ store, workspacesOf }: MovedPorts, project: Project): Promise<void> {
  const { kindOf } = await workspacesOf(project);
  for (const { kind, path } of await store.workspaces.list({ project: project.name }))
    if (kind !== "folder") await (await kindOf(kind)).reconnect(path);
}

/** One that was cloned by us lies in the home too. */
async function followRepository({ store, places }: MovedPorts, project: Project): Promise<Project> {
  const path = join(places.repositories, project.name);
  if (existsSync(project.path) || !existsSync(path)) return project;
  return store.updateProject(project.name, { path });
}

/** The workspace's own record is written last: until then all of this is done again. */
async function followWorkspace(ports: MovedPorts, project: Project, workspace: Workspace, path: string): Promise<void> {
  const { store } = ports;
  const { kindOf } = await ports.workspacesOf(project);
  if (workspace.kind !== "folder") await (await kindOf(workspace.kind)).reconnect(path, workspace.path);
  for (const run of await store.runs.list({ task: workspace.task }))
    if (run.folder === workspace.path && run.endedAt === undefined) await store.runs.put({ ...run, folder: path });
  const task = (await store.getTask(workspace.task))?.task;
  if (task?.workspace === workspace.path)
    await ports.submit(task.id, { kind: "edit", actor: { role: "engine" }, set: { workspace: path } });
  await store.workspaces.put({ ...workspace, path });
}
