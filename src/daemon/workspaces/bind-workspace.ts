import { join } from "node:path";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Workspace } from "../../ports/records.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { Turns } from "../turns.ts";
import type { PoolRoom } from "./pool-room.ts";
import { kindNameOf } from "./project-workspaces.ts";

export interface BindPorts {
  readonly store: Store;
  readonly clock: Clock;
  /** One after the other for each project: two tasks must not get the same folder. */
  readonly inTurn: Turns;
  /** Told when a workspace is free again: others may wait for one. */
  readonly room: PoolRoom;
}

/** Binds a workspace of the pool to a task: the one it has, else one that is free, else a new one while there is room. */
export function bindWorkspace(ports: BindPorts, project: Project, folder: string, task: Task): Promise<Workspace> {
  const { store, clock, inTurn } = ports;
  return inTurn(`pool ${project.name}`, async () => {
    const all = (await store.workspaces.list({ project: project.name })).filter(({ kind }) => kind !== "folder");
    const own = all.find((each) => each.task === task.id);
    if (own !== undefined) return own;
    // Free ones of another kind than the project makes now are on their way out.
    const kind = kindNameOf(project);
    const pool = all.filter((each) => each.task !== "" || each.kind === kind);
    const unbound = pool.filter((each) => each.task === "");
    // Where its branch is checked out still, if the folder went away under it, no other folder can have that branch.
    const free = unbound.find(({ readyFor }) => readyFor === task.id) ?? unbound[0];
    // Folders of a pool that was made smaller are left for a while, and are nobody's.
    if (pool.length - unbound.length >= project.poolSize) {
      throw new Fault("pool.full", `All ${project.poolSize} workspaces of ${project.name} are taken.`, {
        retry: "later",
        hint: `Wait for a task to end, or enlarge the pool: signalbox project update ${project.name} --pool-size N`,
      });
    }
    const { branches: _, ...bound }: Workspace = free ?? newWorkspace(project, folder, all, clock.now());
    const workspace = { ...bound, task: task.id, readyFor: "" };
    await store.workspaces.put(workspace);
    return workspace;
  });
}

/** Gives a workspace back to the pool. Nothing where somebody else has done so, and another task may have it by now. */
export async function unbindWorkspace({ store, inTurn, room }: BindPorts, workspace: Workspace): Promise<void> {
  // Whoever collects from it must be done before it is somebody else's. The pool is not kept waiting for that.
  await inTurn(collectingFrom(workspace.path), () =>
    inTurn(`pool ${workspace.project}`, async () => {
      const now = await store.workspaces.get(workspace.id);
      if (now?.task === workspace.task) await store.workspaces.put({ ...workspace, task: "" });
    }),
  );
  room.freed(workspace.project);
}

/** What is collected from a folder is collected in turn with its giving back. */
export function collectingFrom(folder: string): string {
  return `collect ${folder}`;
}

/** Folders are numbered: no title and no branch ever becomes part of a path. */
function newWorkspace(project: Project, folder: string, pool: readonly Workspace[], at: number): Workspace {
  let number = 1;
  while (pool.some(({ id }) => id === `${project.name}/${number}`)) number++;
  return {
    id: `${project.name}/${number}`,
    project: project.name,
    task: "",
    at,
    path: join(folder, String(number)),
    kind: kindNameOf(project),
  };
}
