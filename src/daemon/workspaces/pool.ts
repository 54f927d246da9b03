import { join } from "node:path";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Places } from "../../home/places.ts";
import type { PortRange } from "../../home/workspace-fields.ts";
import type { Turns } from "../../keyed.ts";
import type { Salvage } from "../../ports/control-repository.ts";
import { isCheckout, type Workspace } from "../../ports/records.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { Clock, Log } from "../../ports/system.ts";
import { isOtherBranch } from "../task-work.ts";
import type { Parking } from "./parking.ts";
import { type ProjectWorkspaces, type WorkspacesOf, withoutPipes } from "./project-workspaces.ts";
import { filesOf } from "./task-files.ts";
import { isUnreadable, noteRefused, setAside, unsaveable } from "./unsaved-workspaces.ts";
import type { UpkeepLimits } from "./upkeep.ts";

export interface BindPorts {
  readonly store: Store;
  readonly clock: Clock;
  /** A mutex per project, so that two tasks do not get the same folder. */
  readonly inTurn: Turns;
  /** Notified when a workspace is free again: tasks may wait for one. */
  readonly room: PoolRoom;
}

/** Binds a workspace of the pool to a task: its present one, else a free one, else a new one if the pool has room. */
export function bindWorkspace(ports: BindPorts, project: Project, folder: string, task: Task): Promise<Workspace> {
  const { store, clock, inTurn } = ports;
  return inTurn(`pool ${project.name}`, async () => {
    const recorded = await store.workspaces.list({ project: project.name });
    const all = recorded.filter(isPooled);
    const own = all.find((each) => each.task === task.id);
    if (own !== undefined) return own;
    // Free workspaces of another kind than the project's present one are about to be removed.
    const kind = project.workspaces;
    const pool = all.filter((each) => each.task !== "" || each.kind === kind);
    const unbound = pool.filter((each) => each.task === "");
    // If the task's branch is still checked out in a workspace, git allows it in no other folder.
    const free = unbound.find(({ readyFor }) => readyFor === task.id) ?? unbound[0];
    // Only bound workspaces count: free folders of a pool that was made smaller remain for a while.
    if (pool.length - unbound.length >= project.poolSize) {
      throw new Fault("pool.full", `All ${project.poolSize} workspaces of ${project.name} are taken.`, {
        retry: "later",
        hint: `Wait for a task to end, or enlarge the pool: signalbox project update ${project.name} --pool-size N`,
      });
    }
    const { branches: _, ...bound }: Workspace = free ?? newWorkspace(project, folder, recorded, clock.now());
    const workspace = { ...bound, task: task.id, readyFor: "" };
    await store.workspaces.put(workspace);
    return workspace;
  });
}

/** Whether a workspace counts for its project's pool: not a folder that a person lent, a judge's checkout, or an unsaved one. */
export function isPooled(workspace: Workspace): boolean {
  return workspace.kind !== "folder" && !isCheckout(workspace) && workspace.unsaved === undefined;
}

/** Returns a workspace to the pool. Does nothing if it was released before: another task may have it by now. */
export async function unbindWorkspace({ store, inTurn, room }: BindPorts, workspace: Workspace): Promise<void> {
  // Collecting from the folder must end before another task gets it. This wait does not hold the pool's mutex.
  await inTurn(collectingFrom(workspace.path), () =>
    inTurn(`pool ${workspace.project}`, async () => {
      const now = await store.workspaces.get(workspace.id);
      const free = isCheckout(workspace) ? { run: "", readyFor: "" } : {};
      if (now?.task === workspace.task) await store.workspaces.put({ ...workspace, task: "", ...free });
    }),
  );
  room.freed(workspace.project);
}

/** The mutex key that collecting from a folder and releasing it share. */
export function collectingFrom(folder: string): string {
  return `collect ${folder}`;
}

/** Folders are numbered, so that no title or branch name becomes part of a path. */
function newWorkspace(project: Project, folder: string, recorded: readonly Workspace[], at: number): Workspace {
  let number = 1;
  while (recorded.some(({ id }) => id === `${project.name}/${number}`)) number++;
  return {
    id: `${project.name}/${number}`,
    project: project.name,
    task: "",
    at,
    path: join(folder, String(number)),
    kind: project.workspaces,
  };
}

/** Leases a port that no other bound workspace of the home has: the workspace's previous one, else the first free one. */
export function leasePort(
  { store, inTurn }: Pick<BindPorts, "store" | "inTurn">,
  workspace: Workspace,
  range: PortRange | undefined,
): Promise<Workspace> {
  return inTurn("ports", async () => {
    const { port: own, ...rest } = workspace;
    const port = range === undefined ? undefined : await choose(store, workspace, range);
    if (port === own) return workspace;
    const leased = port === undefined ? rest : { ...rest, port };
    await store.workspaces.put(leased);
    return leased;
  });
}

async function choose(store: Store, { id, port: own }: Workspace, { first, last }: PortRange): Promise<number> {
  const others = (await store.workspaces.list({})).filter((each) => each.task !== "" && each.id !== id);
  const taken = new Set(others.map(({ port }) => port));
  if (own !== undefined && own >= first && own <= last && !taken.has(own)) return own;
  for (let port = first; port <= last; port++) if (!taken.has(port)) return port;
  throw new Fault("ports.taken", `All ports from ${first} to ${last} are taken by other workspaces.`, {
    retry: "later",
    hint: "Name more of them: signalbox config set ports 20000-29999",
  });
}

/**
 * Frees disk space before a new workspace is made: removes free workspaces of all projects while they exceed the limit. Does
 * nothing if the task has a workspace or gets a free one, or if no limit is set.
 */
export async function makeRoom(ports: PoolPorts, project: Project, task: string): Promise<void> {
  const { store, workspacesOf, limits, log } = ports;
  const { diskBytes } = limits();
  if (!Number.isFinite(diskBytes)) return;
  const pool = (await store.workspaces.list({})).filter(({ kind }) => kind !== "folder");
  const own = pool.filter((each) => each.project === project.name && isPooled(each));
  if (own.some((each) => each.task === "" || each.task === task)) return;
  const projects = new Map((await store.listProjects()).map((each) => [each.name, each]));
  const sizes = new Map<Workspace, number>();
  for (const workspace of pool) {
    const owner = projects.get(workspace.project);
    const kind = owner && (await workspacesOf(owner)).kind;
    sizes.set(workspace, (await kind?.diskUse(workspace.path))?.bytes ?? 0);
  }
  let taken = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  for (const [workspace, size] of sizes) {
    const owner = projects.get(workspace.project);
    if (taken < diskBytes || workspace.task !== "" || workspace.unsaved || owner === undefined) continue;
    try {
      if (await removeWorkspace(ports, await workspacesOf(owner), workspace)) taken -= size;
    } catch (error) {
      log.warn("A free workspace could not be removed to make room", { path: workspace.path, error });
    }
  }
  if (taken >= diskBytes) throw noRoom(taken, diskBytes);
}

function noRoom(taken: number, limit: number): Fault {
  const megabytes = (bytes: number) => Math.ceil(bytes / 1024 ** 2);
  const text = `The workspaces take ${megabytes(taken)} MB of the disk; the limit is ${megabytes(limit)} MB.`;
  return new Fault("pool.no-room", text, {
    retry: "later",
    hint: "See their sizes, and end a task: signalbox workspace list",
  });
}

/** What the upkeep of pools needs. */
export interface PoolPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly inTurn: Turns;
  readonly places: Places;
  readonly workspacesOf: WorkspacesOf;
  readonly parking: Pick<Parking, "released">;
  readonly room: PoolRoom;
  /** Ends the task's runs: none may work in a released folder. */
  endRuns(task: string): Promise<void>;
  endCommands(task: string, folders: readonly string[]): Promise<void>;
  limits(): UpkeepLimits;
  tellPerson(task: Task, message: string, key: string): Promise<void>;
}

export interface ReleaseWorkspacesPorts extends BindPorts, SavePorts {
  readonly store: Store;
  readonly workspacesOf: WorkspacesOf;
  readonly parking: Pick<Parking, "released">;
  /** Ends the task's runs: none may work in a folder that another task gets. */
  endRuns(task: string): Promise<void>;
  /** Ends the processes that the task's commands left running, such as a server that the setup started. */
  endCommands(task: string, folders: readonly string[]): Promise<void>;
}

/**
 * Releases every workspace of a task after ending its runs and saving the contents. A folder that git cannot read is set
 * aside, so that the next task gets a new one. Returns the folders.
 */
export async function releaseWorkspaces(ports: ReleaseWorkspacesPorts, task: string): Promise<readonly string[]> {
  const { store } = ports;
  const released: string[] = [];
  await ports.endRuns(task);
  // After the teardown, which may itself stop what the setup started.
  const bound = await store.workspaces.list({ task });
  await ports.endCommands(
    task,
    bound.filter(({ kind }) => kind !== "folder").map(({ path }) => path),
  );
  for (const workspace of bound) {
    if (workspace.kind === "folder") {
      await store.workspaces.remove(workspace.id);
      continue;
    }
    const project = await store.getProject(workspace.project);
    if (project === undefined) continue;
    // What a judge has committed is not the task's work.
    const owner = isCheckout(workspace) ? noTask : task;
    const own = await ports.workspacesOf(project);
    let why: string | undefined;
    const save = () =>
      saveWorkspace(ports, own, workspace.path, owner).catch((error) => {
        why = unsaveable(error);
        if (why === undefined) throw error;
        return undefined;
      });
    let salvage = await save();
    if (salvage === undefined) {
      await setAside(ports, own, workspace, task, why);
      // Git's record of a worktree may still have staged files.
      salvage = await save();
    }
    if (salvage !== undefined && owner === task) await noteRefused(ports, task, workspace.path, salvage);
    // The writing of task files must end before another task gets the folder.
    await ports.inTurn(filesOf(task), () => unbindWorkspace(ports, workspace));
    if (salvage !== undefined) ports.parking.released(workspace);
    released.push(workspace.path);
  }
  return released;
}

/**
 * Removes free workspaces of another kind than the project's present one, after saving their contents. A workspace that cannot
 * be removed is retried with the next task, and no task gets it.
 */
export async function removeOtherKind(
  { store, clock, inTurn, log }: BindPorts & { readonly log: Log },
  { control, kind }: ProjectWorkspaces,
  project: Project,
): Promise<void> {
  await inTurn(`pool ${project.name}`, async () => {
    for (const workspace of await store.workspaces.list({ project: project.name })) {
      const isOther = isPooled(workspace) && workspace.kind !== project.workspaces;
      if (!isOther || workspace.task !== "") continue;
      const { id, path: folder } = workspace;
      try {
        const found = await kind.inspect(folder);
        const task = `free-${id.slice(id.lastIndexOf("/") + 1)}`;
        const salvage = found.kind === "there" ? await control.salvage({ folder, task, at: clock.now() }) : undefined;
        if (found.kind !== "missing") await kind.remove(folder, salvage);
        await store.workspaces.remove(id);
      } catch (error) {
        log.warn("A workspace of the other kind could not be removed", { folder, error });
      }
    }
  });
}

/**
 * Saves the contents of a free workspace, moves its folder to the trash, and deletes its record. False if a task got it
 * meanwhile. Throws, with nothing changed, if something in it cannot be saved.
 */
export function removeWorkspace(
  ports: Pick<PoolPorts, "store" | "clock" | "log" | "inTurn">,
  workspaces: ProjectWorkspaces,
  { id, project, path }: Workspace,
): Promise<boolean> {
  const { store, log, inTurn } = ports;
  return inTurn(`pool ${project}`, async () => {
    const now = await store.workspaces.get(id);
    if (now !== undefined && now.task !== "") return false;
    const salvage =
      (await saveWorkspace(ports, workspaces, path, noTask)) ?? (await saveBroken(ports, workspaces, path));
    await workspaces.kind.remove(path, salvage);
    await store.workspaces.remove(id);
    log.info("A workspace was moved to the trash", { project, path });
    return true;
  });
}

/** Salvages a broken workspace, as far as git can read it. */
async function saveBroken(
  { clock }: Pick<PoolPorts, "clock">,
  { control, kind }: ProjectWorkspaces,
  folder: string,
): Promise<Salvage | undefined> {
  if ((await kind.inspect(folder)).kind === "missing") return undefined;
  try {
    return await control.salvage({ folder, task: noTask, at: clock.now(), anybodys: true });
  } catch (error) {
    if (error instanceof Fault && error.retry === "never") return undefined;
    throw error;
  }
}

export interface SavePorts {
  readonly clock: Clock;
  readonly log: Log;
}

/** The name for salvage that belongs to no task. It cannot be a task's id, because ids contain no vowels. */
export const noTask = "free";

/**
 * Saves the contents of a workspace: commits as the task's work, uncommitted files under a salvage ref. Undefined if git can
 * read nothing there.
 */
export function saveWorkspace(
  ports: SavePorts,
  own: ProjectWorkspaces,
  folder: string,
  task: string,
): Promise<Salvage | undefined> {
  return withoutPipes(own.kind, folder, () => saveOnce(ports, own, folder, task));
}

async function saveOnce(
  { clock, log }: SavePorts,
  { control, kind, repository }: ProjectWorkspaces,
  folder: string,
  task: string,
): Promise<Salvage | undefined> {
  const found = await kind.inspect(folder);
  if (found.kind === "there" && found.branch !== undefined && task !== noTask)
    await control.collect({ folder, branch: found.branch, task, seenAt: found.head }).catch((error) => {
      // Then the task's own branch was collected, and commits that no branch of the user's has are salvaged.
      if (!isOtherBranch(error)) throw error;
    });
  // A broken or missing workspace may still contain work.
  const order = { folder, task, at: clock.now(), anybodys: task === noTask, repository };
  const salvage = await control.salvage(order).catch((error) => {
    // Its HEAD is damaged, or a link has taken the folder's place.
    if (found.kind === "there" || !isUnreadable(error)) throw error;
    return undefined;
  });
  const refused = salvage?.refused.map(({ text }) => text) ?? [];
  if (refused.length > 0)
    log.warn("Some files of a workspace could not be saved, and stay in the trash", { folder, refused });
  if (salvage?.saved !== undefined) log.info("Uncommitted files were salvaged", { task, ref: salvage.saved.ref });
  return salvage;
}

/** Lets tasks wait until their project's pool may have room. */
export interface PoolRoom {
  /** Resolves when a retry may succeed: a workspace was released, the waiting task has changed, or time has passed. */
  wait(project: string, task: string): Promise<void>;
  /** A workspace of the project was released, or its pool has changed. */
  freed(project: string): void;
  /** The task has changed: it may no longer want a workspace. */
  changed(task: string): void;
  /** Whether the task waits for a workspace. */
  waits(task: string): boolean;
  /** Rejects every wait. The workspaces are acquired after the next start. */
  stop(): void;
}

/** For changes without a notification, such as another process that wrote to the store. */
const pollInterval = 10_000;

interface Waiter {
  readonly project: string;
  readonly task: string;
  readonly resolve: () => void;
  readonly reject: (error: Fault) => void;
}

export function createPoolRoom(clock: Clock): PoolRoom {
  const waiters = new Set<Waiter>();
  let isStopped = false;
  const wakeIf = (matches: (waiter: Waiter) => boolean) => {
    for (const waiter of [...waiters]) if (matches(waiter)) waiter.resolve();
  };
  return {
    wait: (project, task) =>
      new Promise((resolve, reject) => {
        if (isStopped) return reject(stopping());
        const cancel = clock.after(pollInterval, () => waiter.resolve());
        const ending =
          <T extends unknown[]>(end: (...args: T) => void) =>
          (...args: T) => {
            cancel();
            waiters.delete(waiter);
            end(...args);
          };
        const waiter: Waiter = { project, task, resolve: ending(resolve), reject: ending(reject) };
        waiters.add(waiter);
      }),
    freed: (project) => wakeIf((waiter) => waiter.project === project),
    changed: (task) => wakeIf((waiter) => waiter.task === task),
    waits: (task) => [...waiters].some((waiter) => waiter.task === task),
    stop() {
      isStopped = true;
      for (const waiter of [...waiters]) waiter.reject(stopping());
    },
  };
}

function stopping(): Fault {
  return new Fault("daemon.stopping", "The daemon is stopping.", { retry: "later" });
}
