import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { readDuration } from "../../engine/duration.ts";
import type { Config } from "../../home/config-fields.ts";
import { readSize } from "../../home/workspace-fields.ts";
import { taskRef } from "../../ports/control-repository.ts";
import type { Project, StoredTask } from "../../ports/store.ts";
import { shellWord } from "../../shell-quote.ts";
import { sentences } from "../../text.ts";
import { publishAgents } from "../callers.ts";
import { allTasks, parentOf, targetOf } from "../project.ts";
import { adoptFolders, freeWorkspaces, staleWorkspaces, strayFolders, type ToClean } from "./free-workspaces.ts";
import { deleteEndedBranch, deleteSpentBranches, endedBranches } from "./own-branches.ts";
import { type PoolPorts, releaseWorkspaces, removeWorkspace } from "./pool.ts";
import { isBegun, type ProjectWorkspaces } from "./project-workspaces.ts";

interface UpkeepTimer {
  start(): void;
  /** Aborts the present sweep after its current file. */
  stop(): Promise<void>;
}

const sweepInterval = 60 * 60 * 1000;
/** Not right after a start, when the daemon is busy recovering. */
const firstPause = 5 * 60 * 1000;

/**
 * Once an hour, for one project after the other: deletes expired trash and expired files, branches and refs of ended tasks,
 * and repacks control repositories.
 */
export function createUpkeepTimer(ports: Omit<PoolPorts, "parking">): UpkeepTimer {
  const { store, clock, log, places, workspacesOf, limits } = ports;
  const stopping = new AbortController();
  let cancel = () => {};
  let sweeping: Promise<void> = Promise.resolve();
  const sweep = async () => {
    const files = await forgetFiles(ports, stopping.signal);
    if (files > 0) log.info("Run folders and logs of ended tasks were deleted", { files });
    for (const project of await store.listProjects()) {
      if (stopping.signal.aborted) return;
      if (!isBegun(places, project)) continue;
      try {
        const { kind, control } = await workspacesOf(project);
        const order = { ...trashOrder(limits(), clock.now()), signal: stopping.signal };
        const { deleted, freed, stuck } = await kind.deleteTrash(order);
        if (stuck.length > 0) log.warn("Old trash could not be deleted", { project: project.name, stuck });
        if (deleted > 0) log.info("Old trash was deleted", { project: project.name, deleted, freed });
        const branches = await deleteSpentBranches(ports, project);
        const refs = await forgetRefs(ports, project, stopping.signal);
        if (branches + refs > 0) log.info("Ended tasks were tidied away", { project: project.name, branches, refs });
        const isTidied = await control.tidy({ signal: stopping.signal });
        if (isTidied) log.info("A control repository was tidied", { project: project.name });
      } catch (error) {
        if (stopping.signal.aborted) return;
        log.warn("The upkeep of a project failed", { project: project.name, error });
      }
    }
  };
  const wait = (time: number) => {
    if (stopping.signal.aborted) return;
    cancel = clock.after(time, () => {
      sweeping = sweep()
        .catch((error) => log.warn("The upkeep failed", { error }))
        .then(() => wait(sweepInterval));
    });
  };
  return {
    start: () => wait(firstPause),
    async stop() {
      stopping.abort();
      cancel();
      await sweeping;
    },
  };
}

/** One action that was done or would be done, or something that is kept. */
interface Cleaned {
  readonly what: "release" | "adopt" | "remove" | "delete" | "keep";
  readonly project: string;
  readonly path: string;
  /** A sentence. */
  readonly reason: string;
  /** Bytes that were freed; 0 if not counted. */
  readonly freed: number;
}

/** Releases, removes and deletes what is no longer needed of these projects; with `isDry`, only lists it. */
export async function cleanPools(
  ports: PoolPorts,
  projects: readonly Project[],
  isDry: boolean,
): Promise<readonly Cleaned[]> {
  const lines: Cleaned[] = [];
  for (const project of projects.filter((each) => isBegun(ports.places, each))) {
    const note = (what: Cleaned["what"], path: string, reason: string, freed = 0) =>
      lines.push({ what, project: project.name, path, reason, freed });
    try {
      const workspaces = await ports.workspacesOf(project);
      await releaseStale(ports, project, isDry, note);
      const strays = await strayFolders(ports, project, workspaces);
      if (!isDry) await adoptFolders(ports, strays);
      for (const { path, workspace, reason } of strays)
        note(
          workspace === undefined ? "keep" : "adopt",
          path,
          workspace === undefined ? reason : "It was not recorded.",
        );
      for (const each of await freeWorkspaces(ports.store, project, workspaces.kind, strays)) {
        await clean(ports, workspaces, each, isDry, note);
      }
      await cleanBranches(ports, project, workspaces, isDry, note);
      await emptyTrash(ports, project, workspaces, isDry, note);
    } catch (error) {
      note("keep", project.path, messageOf(error));
    }
  }
  if (!isDry) await publishAgents(ports);
  return lines;
}

type Note = (what: Cleaned["what"], path: string, reason: string, freed?: number) => void;

async function releaseStale(ports: PoolPorts, project: Project, isDry: boolean, note: Note): Promise<void> {
  for (const { workspace, reason } of await staleWorkspaces(ports.store, project.name)) {
    try {
      if (!isDry) await releaseWorkspaces(ports, workspace.task);
      note("release", workspace.path, reason);
    } catch (error) {
      note("keep", workspace.path, messageOf(error));
    }
  }
}

async function clean(
  ports: PoolPorts,
  workspaces: ProjectWorkspaces,
  { workspace, isNeeded, reason }: ToClean,
  isDry: boolean,
  note: Note,
): Promise<void> {
  if (isNeeded) return note("keep", workspace.path, reason);
  try {
    const isRemoved = isDry || (await removeWorkspace(ports, workspaces, workspace));
    note(isRemoved ? "remove" : "keep", workspace.path, isRemoved ? reason : "A task has just taken it.");
  } catch (error) {
    note("keep", workspace.path, sentences([reason, messageOf(error)]));
  }
}

/** Deletes branches of ended tasks without a commit of their own, and lists the others, because a person asked. */
async function cleanBranches(
  ports: PoolPorts,
  project: Project,
  workspaces: ProjectWorkspaces,
  isDry: boolean,
  note: Note,
): Promise<void> {
  for (const ended of await endedBranches(ports, workspaces, project)) {
    const { task, state, reason } = ended;
    const why = isDry || state === "unmerged" ? undefined : await deleteEndedBranch(ports, workspaces, ended);
    const isKept = state === "unmerged" || why !== undefined;
    note(isKept ? "keep" : "delete", `the branch ${task.branch}`, sentences([reason, why ?? ""]));
  }
}

async function emptyTrash(
  { clock, places, limits }: PoolPorts,
  project: Project,
  { kind }: ProjectWorkspaces,
  isDry: boolean,
  note: Note,
): Promise<void> {
  const allowed = limits();
  const { deleted, left, freed, held, stuck } = await kind.deleteTrash({ ...trashOrder(allowed, clock.now()), isDry });
  const folder = `${places.trash}/${project.name}`;
  const old = `older than ${allowed.trashDays} days, or beyond the limit`;
  if (deleted > 0) note("delete", folder, `${counted(deleted)} in the trash: ${old}.`, freed);
  const young = left - held.length - stuck.length;
  if (young > 0) note("keep", folder, `${counted(young)} in the trash, for ${allowed.trashDays} days.`);
  for (const { folder: path, reason } of stuck)
    note(
      "keep",
      path,
      `${reason} Allow it, and delete it: sudo chattr -R -i ${shellWord(path)} && sudo rm -rf ${shellWord(path)}`,
    );
  for (const path of held)
    note("keep", path, "Some files in it could not be saved: check them, and delete it yourself.");
}

function counted(number: number): string {
  return number === 1 ? "1 folder" : `${number} folders`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** How much the daemon keeps. */
export interface UpkeepLimits {
  /** How long the trash keeps folders, and how many bytes at most. */
  readonly trashDays: number;
  readonly trashBytes: number;
  /** How long run folders, logs and refs of ended tasks are kept, in milliseconds. */
  readonly keepEnded: number;
  /** How many bytes all workspaces together may take before a new one is made. */
  readonly diskBytes: number;
}

/** The configured limits; an empty size or time means no limit. */
export function readLimits({ trashDays, trashLimit, diskLimit, keepEnded }: LimitSettings): UpkeepLimits {
  const bytes = (size: string) => readSize(size) ?? Number.POSITIVE_INFINITY;
  const seconds = readDuration(keepEnded);
  return {
    trashDays,
    trashBytes: bytes(trashLimit),
    diskBytes: bytes(diskLimit),
    keepEnded: seconds === undefined ? Number.POSITIVE_INFINITY : seconds * 1000,
  };
}

type LimitSettings = Pick<Config, "trashDays" | "trashLimit" | "diskLimit" | "keepEnded">;

/** The order that `deleteTrash` takes. */
export function trashOrder({ trashDays, trashBytes }: UpkeepLimits, now: number) {
  return { now, keepFor: trashDays * 24 * 60 * 60 * 1000, most: trashBytes };
}

type ForgetPorts = Pick<PoolPorts, "store" | "clock" | "places" | "workspacesOf" | "limits">;

/** Deletes the run folders and logs of tasks that ended long enough ago or were deleted. Returns how many. */
export async function forgetFiles(ports: ForgetPorts, signal: AbortSignal): Promise<number> {
  const { store, clock, places, limits } = ports;
  const before = clock.now() - limits().keepEnded;
  let count = 0;
  for (const folder of [places.runs, ...["setup", "teardown", "tests"].map((name) => join(places.logs, name))]) {
    for (const name of await readdir(folder).catch(() => [])) {
      if (signal.aborted) return count;
      // `<task>-<number>`, `<task>-<number>-<part>`, `<task>.log`, `<task>-<number>.log`.
      const [, id = ""] = /^([a-z0-9]+)(?:-\d+)*(?:\.log(?:\.\d+)?)?$/.exec(name) ?? [];
      const path = join(folder, name);
      const stored = id === "" ? undefined : await store.getTask(id);
      const last = stored === undefined ? await changedAt(path) : lastChange(stored);
      if (id === "" || last === undefined || last > before) continue;
      await rm(path, { recursive: true, force: true });
      count += 1;
    }
  }
  return count;
}

function lastChange({ isOpen, updatedAt }: StoredTask): number | undefined {
  return isOpen ? undefined : updatedAt;
}

async function changedAt(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.mtimeMs;
}

/**
 * Deletes the refs of tasks that ended long enough ago, if the target branch contains them. Unmerged refs are kept for ever,
 * and so are refs that an open pull request or an open subtask builds on.
 */
export async function forgetRefs(ports: ForgetPorts, project: Project, signal: AbortSignal): Promise<number> {
  const { store, clock, limits } = ports;
  const before = clock.now() - limits().keepEnded;
  const { control } = await ports.workspacesOf(project);
  const refs = Map.groupBy(await control.listTaskRefs(), ({ task }) => task);
  if (refs.size === 0) return 0;
  const parents = new Set(
    (await allTasks(store, { project: project.name, isOpen: true })).map(({ task }) => task.parent),
  );
  const { branches } = await control.syncFrom({ from: project.path, name: "user" });
  let count = 0;
  for (const [id, own] of refs) {
    if (signal.aborted) return count;
    const stored = await store.getTask(id);
    if (stored === undefined || stored.isOpen || stored.updatedAt > before || parents.has(id)) continue;
    if ((await store.pullRequests.get(id))?.state === "open") continue;
    const target = (await store.merges.get(id))?.target ?? targetOf(project, stored.task);
    const parent = parentOf(stored.task);
    const tip = parent === "" ? undefined : await control.commitAt(taskRef(parent));
    const tips = [...new Set([branches[target], branches[project.defaultBranch], tip])];
    count += await control.dropContainedRefs(
      own,
      tips.flatMap((each) => each ?? []),
    );
  }
  return count;
}
