import type { Workspace } from "../../ports/records.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { ProjectSettings } from "./project-settings.ts";
import { kindNameOf, type WorkspacesOf } from "./project-workspaces.ts";
import { nobody, type SavePorts, saveWorkspace } from "./save-workspace.ts";

export interface Parking {
  /** A workspace was given back. It is cleaned for the next task, unless that comes first. */
  released(workspace: Workspace): void;
  /** What is under way is ended. */
  stop(): Promise<void>;
}

export interface ParkPorts extends SavePorts {
  readonly store: Store;
  readonly workspacesOf: WorkspacesOf;
  settingsOf(project: Project): Pick<ProjectSettings, "keep">;
}

/** Where tasks wait for workspaces, the next one has it by then, and makes of it what it needs. */
const pause = 1_000;

/** Cleans workspaces while nobody waits for them. Whatever does not work out is done when one is needed. */
export function createParking(ports: ParkPorts): Parking {
  const { clock, log } = ports;
  const waiting = new Set<() => void>();
  let isStopped = false;
  let working: Promise<unknown> = Promise.resolve();
  return {
    released(workspace) {
      if (isStopped) return;
      const cancel = clock.after(pause, () => {
        waiting.delete(cancel);
        // One after the other: others have more need of the disk.
        working = working
          .then(() => parkWorkspace(ports, workspace, () => isStopped))
          .catch((error) => log.info("A workspace was not cleaned ahead of time", { path: workspace.path, error }));
      });
      waiting.add(cancel);
    },
    async stop() {
      isStopped = true;
      for (const cancel of waiting) cancel();
      await working;
    },
  };
}

/** False where nothing was done: another task has it by now, or something is wrong with it. */
export async function parkWorkspace(
  ports: ParkPorts,
  { id, path }: Workspace,
  isStopped = () => false,
): Promise<boolean> {
  const { store, workspacesOf, settingsOf } = ports;
  const find = async () => {
    const workspace = isStopped() ? undefined : await store.workspaces.get(id);
    return workspace?.task === "" ? workspace : undefined;
  };
  const workspace = await find();
  const project = workspace && (await store.getProject(workspace.project));
  if (project === undefined || workspace?.kind !== kindNameOf(project)) return false;
  const workspaces = await workspacesOf(project);
  const found = await workspaces.kind.inspect(path);
  if (found.kind !== "there" || (found.parked && !found.dirty)) return false;
  // Whoever outlived the task may have written something since.
  const holds = ((await saveWorkspace(ports, workspaces, path, nobody))?.refused.length ?? 0) > 0;
  const { keep } = settingsOf(project);
  const isFree = async () => (await find()) !== undefined;
  return workspaces.kind.park({ folder: path, at: project.defaultBranch, keep, holds, isFree });
}
