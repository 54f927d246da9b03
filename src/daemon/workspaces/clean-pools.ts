import { sentences } from "../../engine/sentence.ts";
import type { Project } from "../../ports/store.ts";
import { publishAgents } from "../agents-at-work.ts";
import { deleteEndedBranch, endedBranches } from "./ended-branches.ts";
import { freeWorkspaces, type ToClean } from "./free-workspaces.ts";
import type { PoolPorts } from "./pool-ports.ts";
import { isBegun, type ProjectWorkspaces } from "./project-workspaces.ts";
import { releaseWorkspaces } from "./release-workspaces.ts";
import { removeWorkspace } from "./remove-workspace.ts";
import { staleWorkspaces } from "./stale-workspaces.ts";
import { adoptFolders, strayFolders } from "./stray-folders.ts";
import { trashOrder } from "./upkeep-limits.ts";

/** Something that was done, would be done, or is left as it is. */
export interface Cleaned {
  readonly what: "release" | "adopt" | "remove" | "delete" | "keep";
  readonly project: string;
  readonly path: string;
  /** A sentence. */
  readonly reason: string;
  /** Bytes that are free now; 0 where nobody counted. */
  readonly freed: number;
}

/** Gives back, takes away and deletes what nobody needs, of one project or of all; or only says so. */
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
      await giveBack(ports, project, isDry, note);
      const strays = await strayFolders(ports, project, workspaces);
      if (!isDry) await adoptFolders(ports, strays);
      for (const { path, workspace, reason } of strays)
        note(workspace === undefined ? "keep" : "adopt", path, workspace === undefined ? reason : "It was forgotten.");
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

async function giveBack(ports: PoolPorts, project: Project, isDry: boolean, note: Note): Promise<void> {
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
    note(isRemoved ? "remove" : "keep", workspace.path, isRemoved ? reason : "A task has just got it.");
  } catch (error) {
    note("keep", workspace.path, sentences([reason, messageOf(error)]));
  }
}

/** Here a person has asked: branches that nothing is lost with go too, and the rest are at least shown. */
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
  const most = limits();
  const { deleted, left, freed, held } = await kind.deleteTrash({ ...trashOrder(most, clock.now()), isDry });
  const folder = `${places.trash}/${project.name}`;
  const old = `older than ${most.trashDays} days, or too much`;
  if (deleted > 0) note("delete", folder, `${counted(deleted)} in the trash: ${old}.`, freed);
  if (left > held.length)
    note("keep", folder, `${counted(left - held.length)} in the trash, for ${most.trashDays} days.`);
  for (const path of held)
    note("keep", path, "Something in it could not be saved: look at it, and delete it yourself.");
}

function counted(number: number): string {
  return number === 1 ? "1 folder" : `${number} folders`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
