import { existsSync } from "node:fs";
import { readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../../fault.ts";
import { isCheckout, type Workspace } from "../../ports/records.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { WorkspaceKind } from "../../ports/workspaces.ts";
import { publishAgents } from "../callers.ts";
import { type PoolPorts, releaseWorkspaces, removeWorkspace, type SavePorts, saveWorkspace } from "./pool.ts";
import { isBegun, type ProjectWorkspaces } from "./project-workspaces.ts";
import {
  describeUnsaved,
  isStuck,
  isUnreadable,
  reportUnsaved,
  unsaveable,
  unsavedWorkspaces,
} from "./unsaved-workspaces.ts";

// Which workspaces can be cleaned up or adopted: free ones beyond the size of the pool, those of ended tasks and of removed
// projects, and folders that are not recorded.

/** A workspace of a pool, and whether it may be removed. */
export interface ToClean {
  readonly workspace: Workspace;
  readonly isNeeded: boolean;
  /** A sentence. */
  readonly reason: string;
}

/**
 * Which workspaces to keep. `strays` are not recorded yet. Free workspaces are removed if they are broken, or if the pool has
 * more than the project allows: the last ones first.
 */
export async function freeWorkspaces(
  store: Store,
  project: Project,
  kind: WorkspaceKind,
  strays: readonly StrayFolder[],
): Promise<readonly ToClean[]> {
  const recorded = (await store.workspaces.list({ project: project.name })).filter((each) => each.kind !== "folder");
  const adopted = strays.flatMap(({ workspace }) => (workspace === undefined ? [] : [workspace]));
  const all = [...recorded, ...adopted.filter(({ id }) => !recorded.some((each) => each.id === id))];
  const unsaved = all.filter((each) => each.unsaved !== undefined);
  const pool = all.filter((each) => each.unsaved === undefined);
  const checkouts = pool.filter(isCheckout);
  const ofPool = await toClean(
    store,
    project,
    kind,
    pool.filter((each) => !isCheckout(each)),
  );
  const ofJudges = await toClean(store, project, kind, checkouts);
  return [...ofPool, ...ofJudges, ...(await Promise.all(unsaved.map((each) => lookAgain(kind, each))))];
}

/** A folder that was set aside stays until a person has repaired or deleted it. */
async function lookAgain(kind: WorkspaceKind, workspace: Workspace): Promise<ToClean> {
  const found = await kind.inspect(workspace.path);
  if (found.kind === "missing") return { workspace, isNeeded: false, reason: "You deleted its folder." };
  if (found.kind === "there" && !workspace.unsaved?.isSaved)
    return { workspace, isNeeded: false, reason: "It can be read again." };
  const { reason, fix } = describeUnsaved(workspace);
  return { workspace, isNeeded: true, reason: `${reason} ${fix.replaceAll("\n", ". ")}` };
}

/** Of a pool, or of the judges' checkouts, which are limited to the same number while nobody uses them. */
async function toClean(
  store: Store,
  project: Project,
  kind: WorkspaceKind,
  pool: readonly Workspace[],
): Promise<readonly ToClean[]> {
  let excess = pool.length - project.poolSize;
  const found: ToClean[] = [];
  for (const workspace of pool.toReversed()) {
    const stored = workspace.task === "" ? undefined : await store.getTask(workspace.task);
    if (stored?.isOpen) {
      const { number, summary } = stored.task;
      const reason = `${project.name}#${number}${summary === "" ? "" : ` "${summary}"`} uses it.`;
      found.push({ workspace, isNeeded: true, reason });
      continue;
    }
    const look = await kind.inspect(workspace.path);
    const flaw = look.kind === "missing" ? "Its folder is missing." : look.kind === "broken" ? look.reason : undefined;
    const isExcess = excess > 0;
    if (flaw !== undefined || isExcess) excess -= 1;
    const excessReason = `It is free, and the pool has ${pool.length} of ${project.poolSize}.`;
    const reason = flaw ?? (isExcess ? excessReason : "It is free, for the next task.");
    found.push({ workspace, isNeeded: flaw === undefined && !isExcess, reason });
  }
  return found.reverse();
}

export interface Retired {
  /** The control repository, which stays. */
  readonly control: string;
  /** The number of salvage refs in it. */
  readonly salvaged: number;
  /** Workspaces that are kept, because their contents could not be saved. */
  readonly left: readonly string[];
}

/**
 * Removes everything of Signalbox's from a project's repository before the project is removed: its workspaces, after saving
 * their contents, and the exclude rule for task files. A workspace that cannot be saved is kept.
 */
export async function retireProject(ports: PoolPorts, project: Project): Promise<Retired> {
  const { store, places, log, workspacesOf } = ports;
  if (!isBegun(places, project)) return { control: "", salvaged: 0, left: [] };
  const workspaces = await workspacesOf(project);
  const isThere = existsSync(join(project.path, ".git"));
  const left: string[] = [];
  for (const workspace of await store.workspaces.list({ project: project.name })) {
    if (workspace.kind === "folder") continue;
    if (!isThere) {
      left.push(workspace.path);
      continue;
    }
    try {
      if (workspace.task !== "") await releaseWorkspaces(ports, workspace.task);
      await removeWorkspace(ports, workspaces, workspace);
    } catch (error) {
      if (!(error instanceof Fault) || error.retry === "later") throw error;
      log.warn("A workspace could not be saved, and stays", { project: project.name, path: workspace.path, error });
      left.push(workspace.path);
    }
  }
  // Last: without the exclude rule, salvaging the workspaces would save task files.
  if (isThere && left.length === 0) await workspaces.kind.removeExclude();
  const { control } = workspaces;
  const salvaged = await control.listSalvaged().catch(() => []);
  return { control: control.folder, salvaged: salvaged.length, left };
}

/**
 * For a task that is deleted: releases its workspaces. Workspaces whose content cannot be saved are renamed to a path that no
 * task gets. Returns these paths.
 */
export async function leaveWorkspaces(ports: PoolPorts, task: string): Promise<readonly string[]> {
  const { store, log } = ports;
  try {
    await releaseWorkspaces(ports, task);
    return (await unsavedWorkspaces(store)).flatMap((each) => (each.task === task ? [each.path] : []));
  } catch (error) {
    if (!(error instanceof Fault) || error.retry === "later") throw error;
    log.warn("A workspace could not be saved, and is kept unchanged", { task, error });
    return renameAway(store, task);
  }
}

async function renameAway(store: Store, task: string): Promise<readonly string[]> {
  const kept: string[] = [];
  for (const workspace of await store.workspaces.list({ task })) {
    const aside = `${workspace.path}-left-${task}`;
    if (existsSync(workspace.path)) {
      await rename(workspace.path, aside);
      kept.push(aside);
    }
    await store.workspaces.remove(workspace.id);
  }
  return kept;
}

interface StaleWorkspace {
  readonly workspace: Workspace;
  /** A sentence. */
  readonly reason: string;
}

/** Workspaces that are bound to an ended or deleted task. */
export async function staleWorkspaces(store: Store, project: string): Promise<readonly StaleWorkspace[]> {
  const stale: StaleWorkspace[] = [];
  for (const workspace of await store.workspaces.list({ project })) {
    if (workspace.task === "" || workspace.kind === "folder") continue;
    const stored = await store.getTask(workspace.task);
    if (stored?.isOpen) continue;
    const name = stored === undefined ? workspace.task : `${project}#${stored.task.number}`;
    stale.push({ workspace, reason: `Its task ${name} ${stored === undefined ? "was deleted" : "has ended"}.` });
  }
  return stale;
}

interface StrayFolder {
  readonly path: string;
  /** The record with which the pool adopts it; undefined if it is not a workspace, and `reason` says why. */
  readonly workspace: Workspace | undefined;
  readonly reason: string;
}

/** Folders among a project's workspaces that are not recorded. */
export async function strayFolders(
  { store, clock }: Pick<PoolPorts, "store" | "clock">,
  project: Project,
  { folder, kind }: ProjectWorkspaces,
): Promise<readonly StrayFolder[]> {
  const names = await readdir(folder).catch(() => []);
  const known = new Set((await store.workspaces.list({ project: project.name })).map(({ path }) => path));
  const strays: StrayFolder[] = [];
  for (const name of names.sort()) {
    const path = join(folder, name);
    if (known.has(path)) continue;
    const found = await kind.inspect(path);
    const isReview = /^review-[1-9]\d*$/.test(name);
    const isOurs = found.kind === "there" && (isReview || /^[1-9]\d*$/.test(name));
    const id = `${project.name}/${name}`;
    const kept = { id, project: project.name, task: "", at: clock.now(), path };
    const adopted: Workspace = isReview ? { ...kept, kind: "clone", run: "" } : { ...kept, kind: kind.kind };
    strays.push({
      path,
      workspace: isOurs ? adopted : undefined,
      reason: found.kind === "broken" ? found.reason : "It is not a workspace of Signalbox.",
    });
  }
  return strays;
}

/** Adopts stray workspaces into the pool as free ones. Their contents are saved before a task gets them. */
export async function adoptFolders(
  { store, inTurn }: Pick<PoolPorts, "store" | "inTurn">,
  strays: readonly StrayFolder[],
): Promise<void> {
  for (const { workspace } of strays) {
    if (workspace === undefined) continue;
    await inTurn(`pool ${workspace.project}`, async () => {
      // A task may have got the folder in the meantime.
      if ((await store.workspaces.get(workspace.id)) === undefined) await store.workspaces.put(workspace);
    });
  }
}

/** Recovers the pools after a crash or a restored backup of the store, before tasks continue. */
export async function recoverPools(ports: PoolPorts): Promise<void> {
  const { store, log, places, workspacesOf } = ports;
  for (const project of await store.listProjects()) {
    if (!isBegun(places, project)) continue;
    try {
      for (const { workspace, reason } of await staleWorkspaces(store, project.name)) {
        await releaseWorkspaces(ports, workspace.task);
        log.info("A workspace was released", { path: workspace.path, reason });
      }
      await reportUnsaved(ports, project.name);
      const strays = await strayFolders(ports, project, await workspacesOf(project));
      await adoptFolders(ports, strays);
      for (const { path, workspace, reason } of strays) {
        if (workspace !== undefined) log.info("A workspace was found and adopted into the pool", { path });
        else log.warn("A folder among the workspaces is not a workspace", { path, reason });
      }
    } catch (error) {
      // A missing repository must not stop the recovery of the others.
      log.warn("The workspaces of a project could not be recovered", { project: project.name, error });
    }
  }
  await publishAgents({ store, places });
}

/** Why a workspace that could not be prepared must be set aside: it cannot be read, saved or emptied. */
export async function whyUnusable(
  ports: SavePorts,
  own: ProjectWorkspaces,
  folder: string,
  owner: string,
  error: unknown,
): Promise<string | undefined> {
  if (isStuck(error)) return error.message;
  if (!isUnreadable(error) && unsaveable(error) === undefined) return undefined;
  const found = await own.kind.inspect(folder);
  if (found.kind === "broken") return found.reason;
  if (found.kind === "missing") return undefined;
  return saveWorkspace(ports, own, folder, owner).then(() => undefined, unsaveable);
}
