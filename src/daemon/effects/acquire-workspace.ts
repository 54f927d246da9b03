import { fillText } from "../../engine/prompt.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { Log } from "../../ports/log.ts";
import type { Workspace } from "../../ports/records.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { Perform } from "../perform.ts";
import type { Submit } from "../submit.ts";
import { type BindPorts, bindWorkspace } from "../workspaces/bind-workspace.ts";
import type { ProjectWorkspaces, WorkspacesOf } from "../workspaces/project-workspaces.ts";
import { placeTaskFiles } from "../workspaces/task-files.ts";

export interface AcquirePorts extends BindPorts {
  readonly store: Store;
  readonly log: Log;
  readonly submit: Submit;
  readonly workspacesOf: WorkspacesOf;
  workflowOf(task: Task): Promise<Workflow>;
  /** What is to be kept across tasks, and copied into every workspace. */
  settingsOf(project: Project): Promise<WorkspaceSettings>;
  /** The command line must know where agents work. */
  publishAgents(): Promise<void>;
}

export interface WorkspaceSettings {
  readonly keep: readonly string[];
  readonly copy: readonly string[];
}

/** Binds a workspace to the task, on the task's branch and with the task's file in it. Nothing where it has all that. */
export function acquireWorkspace(ports: AcquirePorts): Perform {
  return async ({ params }, { task }) => {
    const project = await mustHave(ports.store, task.project);
    const workspaces = await ports.workspacesOf(project);
    const workspace = await bindWorkspace(ports, project, workspaces.folder, task);
    const base = await baseOf(ports, workspaces, project, task, params.base);
    await prepare(ports, workspaces, project, task, workspace, base);
    const { stored } = await ports.submit(task.id, {
      kind: "edit",
      actor: { role: "engine" },
      set: { workspace: workspace.path },
    });
    await placeTaskFiles(ports.store, await ports.workflowOf(task), workspaces.kind, stored.task);
    await ports.publishAgents();
  };
}

/** The commit that work starts from: the default branch as the user has it now, or the branch that the workflow names. */
async function baseOf(
  { workflowOf }: AcquirePorts,
  { control }: ProjectWorkspaces,
  project: Project,
  task: Task,
  param: unknown,
): Promise<{ commit: string; branch: string }> {
  const { branches } = await control.syncFrom({ from: project.path, name: "user" });
  const filled = fillText(await workflowOf(task), task, typeof param === "string" ? param : "", {
    base: project.defaultBranch,
  });
  const branch = (filled.ok ? filled.text.trim() : "") || project.defaultBranch;
  const commit = branches[branch];
  if (commit !== undefined) return { commit, branch };
  const known = Object.keys(branches);
  throw new Fault("workspace.no-base", `${project.path} has no branch "${branch}" for the task to start from.`, {
    hint:
      known.length > 0
        ? `Name another one: signalbox project update ${project.name} --default-branch ${known[0]}`
        : "Make a first commit there.",
  });
}

/** What the last task left behind is saved before anything of it is touched. */
async function prepare(
  ports: AcquirePorts,
  { control, kind }: ProjectWorkspaces,
  project: Project,
  task: Task,
  workspace: Workspace,
  base: { commit: string; branch: string },
): Promise<void> {
  const { keep, copy } = await ports.settingsOf(project);
  const folder = workspace.path;
  const found = await kind.inspect(folder);
  // It has its workspace already: whatever is in it is the work of this task.
  if (found.kind === "there" && task.workspace === folder) return;
  const order = { folder, branch: task.branch, base: base.commit, baseBranch: base.branch, existing: true, keep };
  const save = async () => {
    const { saved } = await control.salvage({ folder, task: task.id, at: ports.clock.now(), repository: project.path });
    if (saved !== undefined) ports.log.warn("Work was found in a free workspace and saved", { folder, ref: saved.ref });
  };
  const isLeft = found.kind === "there" && (found.dirty || found.branch !== task.branch);
  if (isLeft) await save();
  const { how } = await kind.prepare({ ...order, salvaged: isLeft }).catch(async (error) => {
    // One that is broken or gone is not looked into before; there may be work in it all the same.
    if (isLeft || !isUnsaved(error)) throw error;
    await save();
    return kind.prepare({ ...order, salvaged: true });
  });
  if (how !== "ready" && copy.length > 0) await kind.copyFiles({ folder, patterns: copy, how: "copy" });
}

function isUnsaved(error: unknown): boolean {
  return error instanceof Fault && ["workspace.dirty", "workspace.unsaved"].includes(error.code);
}

async function mustHave(store: Store, name: string): Promise<Project> {
  const project = await store.getProject(name);
  if (project === undefined) throw new Fault("project.missing", `There is no project "${name}" any more.`);
  return project;
}
