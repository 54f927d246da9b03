import type { Turns } from "../../keyed.ts";
import { isCheckout, type Workspace } from "../../ports/records.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { Perform } from "../perform.ts";
import { noTask, type SavePorts, saveWorkspace } from "./pool.ts";
import type { ProjectSettings } from "./project-settings.ts";
import type { WorkspacesOf } from "./project-workspaces.ts";
import { isStuck, takeOut } from "./unsaved-workspaces.ts";

export interface Parking {
  /** A workspace was released. It is cleaned for the next task, unless a task gets it before. */
  released(workspace: Workspace): void;
  /** The project's branch has moved. A free workspace follows it, so that the next task finds it ready. */
  outdated(workspace: Workspace): void;
  /** Waits for the parking in progress. */
  stop(): Promise<void>;
}

interface ParkPorts extends SavePorts {
  readonly store: Store;
  readonly workspacesOf: WorkspacesOf;
  readonly inTurn: Turns;
  settingsOf(project: Project): Pick<ProjectSettings, "keep">;
}

/** If tasks wait for workspaces, one of them has this workspace by then and prepares it itself. */
const parkPause = 1_000;

/** Cleans free workspaces in the background. If that fails, the workspace is cleaned when a task needs it. */
export function createParking(ports: ParkPorts): Parking {
  const { clock, log } = ports;
  const waiting = new Set<() => void>();
  let isStopped = false;
  let working: Promise<unknown> = Promise.resolve();
  const later = (workspace: Workspace, isOutdated: boolean) => {
    if (isStopped) return;
    const cancel = clock.after(parkPause, () => {
      waiting.delete(cancel);
      // One after the other, to leave the disk to the tasks.
      working = working
        .then(() => parkWorkspace(ports, workspace, isOutdated, () => isStopped))
        .catch((error) => log.info("A workspace was not cleaned ahead of time", { path: workspace.path, error }));
    });
    waiting.add(cancel);
  };
  return {
    released: (workspace) => later(workspace, false),
    outdated: (workspace) => later(workspace, true),
    async stop() {
      isStopped = true;
      for (const cancel of waiting) cancel();
      await working;
    },
  };
}

/** False if the workspace is not cleaned: another task has it by now, it is broken, or it cannot be emptied and was set aside. */
export async function parkWorkspace(
  ports: ParkPorts,
  { id, path }: Workspace,
  isOutdated = false,
  isStopped = () => false,
): Promise<boolean> {
  const { store, workspacesOf, settingsOf } = ports;
  const find = async () => {
    const workspace = isStopped() ? undefined : await store.workspaces.get(id);
    return workspace?.task === "" ? workspace : undefined;
  };
  const workspace = await find();
  const project = workspace && (await store.getProject(workspace.project));
  if (project === undefined || workspace === undefined) return false;
  if (!isCheckout(workspace) && workspace.kind !== project.workspaces) return false;
  const workspaces = await workspacesOf(project);
  const found = await workspaces.kind.inspect(path);
  if (found.kind !== "there" || (found.parked && !found.dirty && !isOutdated)) return false;
  // A process that outlived the task may have written files since.
  const holds = ((await saveWorkspace(ports, workspaces, path, noTask))?.refused.length ?? 0) > 0;
  const { keep } = settingsOf(project);
  const isFree = async () => (await find()) !== undefined;
  try {
    return await workspaces.kind.park({ folder: path, at: project.defaultBranch, keep, holds, isFree });
  } catch (error) {
    if (!isStuck(error)) throw error;
    await ports.inTurn(`pool ${project.name}`, async () => {
      const now = await find();
      if (now !== undefined) await takeOut(ports, workspaces, now, error.message);
    });
    return false;
  }
}

/** Lets the free workspaces of the task's project follow its branch, in the background. */
export function syncIdleAgents({
  store,
  parking,
}: {
  readonly store: Store;
  readonly parking: Pick<Parking, "outdated">;
}): Perform {
  return async (_, { task }) => {
    const all = await store.workspaces.list({ project: task.project });
    for (const workspace of all) if (workspace.task === "" && !isCheckout(workspace)) parking.outdated(workspace);
  };
}
