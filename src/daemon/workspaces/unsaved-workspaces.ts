import { lstatSync } from "node:fs";
import { rename } from "node:fs/promises";
import { basename } from "node:path";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Salvage } from "../../ports/control-repository.ts";
import type { Workspace } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import type { Clock, Log } from "../../ports/system.ts";
import { stuckWorkspace } from "../../ports/workspaces.ts";
import { shellWord } from "../../shell-quote.ts";
import { cutText, sentence } from "../../text.ts";
import type { ProjectWorkspaces } from "./project-workspaces.ts";

interface AsidePorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Renames the folder of a workspace whose contents cannot be saved, and records it under its new path, where no task gets it.
 * The workspace is then treated like one whose folder was deleted. `task` is empty for a free workspace; `why` is the reason
 * where git can read the workspace. `isSaved`: its contents are saved, but it cannot be emptied. Does nothing if there is no
 * folder.
 */
export async function setAside(
  { store, clock, log }: AsidePorts,
  { kind }: Pick<ProjectWorkspaces, "kind">,
  workspace: Workspace,
  task: string,
  why = "",
  isSaved = false,
): Promise<void> {
  const { project, path: from } = workspace;
  const entry = lstatSync(from, { throwIfNoEntry: false });
  if (entry === undefined || workspace.kind === "folder") return;
  const found = await kind.inspect(from).catch((error: unknown) => {
    if (error instanceof Fault) return { kind: "broken" as const, reason: error.message };
    throw error;
  });
  const reason = sentence(found.kind === "broken" && !isSaved ? found.reason : why);
  const path = unusedPath(`${from}-left-${task || "free"}`);
  const id = `${project}/${basename(path)}`;
  // Recorded first, so that a crash in between leaves no folder that nobody knows of.
  await store.workspaces.put({
    ...{ id, project, task: "", at: clock.now(), path, kind: workspace.kind },
    unsaved: { task, reason, ...(isSaved ? { isSaved } : {}) },
  });
  await rename(from, path).catch(async (error) => {
    await store.workspaces.remove(id);
    throw error;
  });
  // Git's record of a worktree follows its folder, so that a person can repair it. A link is not the worktree.
  if (workspace.kind === "worktree" && entry.isDirectory()) await kind.reconnect(path, from);
  const text = isSaved ? "A workspace could not be emptied, and its folder is kept" : keptText;
  log.warn(text, { from, path, reason });
}

const keptText = "A workspace could not be saved, and its folder is kept";

/** Whether a workspace failed because something in it cannot be removed. */
export function isStuck(error: unknown): error is Fault {
  return error instanceof Fault && error.code === stuckWorkspace;
}

/**
 * Sets aside a free workspace that cannot be emptied, so that no task gets it. Its contents were saved before. Where not even
 * its folder can be renamed, it stays in its place, and the pool makes another folder.
 */
export async function takeOut(
  ports: AsidePorts,
  own: Pick<ProjectWorkspaces, "kind">,
  workspace: Workspace,
  why: string,
): Promise<void> {
  try {
    await setAside(ports, own, workspace, "", why, true);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    const { path } = workspace;
    const unsaved = { task: "", reason: sentence(why), isSaved: true } as const;
    const { run: _, ...rest } = workspace;
    await ports.store.workspaces.put({ ...rest, task: "", readyFor: "", unsaved });
    ports.log.warn("A workspace could not be emptied or renamed, and no task gets it", { path, reason: why, error });
  }
}

function unusedPath(wanted: string): string {
  let path = wanted;
  for (let n = 2; isThere(path); n++) path = `${wanted}-${n}`;
  return path;
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Whether a workspace failed because git finds no repository there, or because something else has taken the folder's place. */
export function isUnreadable(error: unknown): boolean {
  const codes = ["git.not-a-repository", "workspace.foreign"];
  return error instanceof Fault && error.retry === "never" && codes.includes(error.code);
}

/**
 * Why the contents of a workspace can never be saved: git can read it, but not its commits, such as one with a missing or a
 * malformed object. Undefined for other errors, such as a moved repository, and for those of the machine, which may pass.
 */
export function unsaveable(error: unknown): string | undefined {
  const codes = ["git.failed", "git.bad-ref", "git.shallow", "git.incomplete"];
  if (!(error instanceof Fault) || error.retry !== "never") return undefined;
  if (ofMachine.test(error.message)) return undefined;
  return codes.includes(error.code) ? error.message : undefined;
}

const ofMachine =
  /No space left|quota exceeded|Read-only file system|Input\/output error|Cannot allocate|out of memory|Too many open files/i;

/** The fault for a workspace that exists and cannot be read, so that nobody knows what is in it. */
export function unreadableWorkspace({ id, workspace }: Pick<Task, "id" | "workspace">, reason: string): Fault {
  return new Fault("workspace.unreadable", `The workspace ${workspace} cannot be read. ${reason}`, {
    hint: `Recreate it from the saved work; its folder is kept under another name: signalbox task respawn ${id}`,
  });
}

export interface Unsaved {
  readonly path: string;
  /** The task whose workspace it was; empty if it was free. */
  readonly task: string;
  readonly project: string;
  /** A sentence. */
  readonly reason: string;
  /** What a person can do, a line each. */
  readonly fix: string;
}

/** The folders that were set aside and still exist. */
export async function unsavedWorkspaces(store: Store, filter: { readonly project?: string } = {}) {
  const all = await store.workspaces.list(filter);
  return all.flatMap((each) => (each.unsaved === undefined || !isThere(each.path) ? [] : [describeUnsaved(each)]));
}

export function describeUnsaved({ project, path, unsaved }: Workspace): Unsaved {
  const { task = "", reason = "", isSaved = false } = unsaved ?? {};
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return {
    ...{ path, task, project },
    reason: `A workspace could not be ${isSaved ? "emptied" : "saved"}, and is kept in ${path}: ${reason || "git cannot read it."}`,
    fix: [
      isSaved
        ? `Its contents are salvaged. If deleting it fails, allow it first: sudo chattr -R -i ${shellWord(path)}`
        : "Copy what you need out of it, or repair it. To save a repaired one: signalbox workspace gc",
      `To delete it: rm ${isLink ? "" : "-rf "}${shellWord(path)}`,
    ].join("\n"),
  };
}

interface ReportPorts extends AsidePorts {
  tellPerson(task: Task, message: string, key: string): Promise<void>;
}

/**
 * Notes the folders of a project that were set aside in the history of their task, and calls a person once for each. A call
 * that fails is repeated with the next workspace. `by` is the task that got a free workspace and found it unreadable.
 */
export async function reportUnsaved(ports: ReportPorts, project: string, by?: Task): Promise<void> {
  const { store, clock, log } = ports;
  for (const workspace of await store.workspaces.list({ project })) {
    const { unsaved } = workspace;
    if (unsaved === undefined || unsaved.isTold || !isThere(workspace.path)) continue;
    const task = unsaved.task === "" ? by : (await store.getTask(unsaved.task))?.task;
    if (task === undefined) continue;
    const { reason, fix } = describeUnsaved(workspace);
    if (!unsaved.isNoted) {
      const data = { action: unsaved.task === "" ? "acquire_workspace" : "release_workspace", reason };
      await store.addEvents(task.id, [{ type: "effect.failed", by: "engine", data, set: {} }], clock.now());
      await store.workspaces.put({ ...workspace, unsaved: { ...unsaved, isNoted: true } });
    }
    try {
      await ports.tellPerson(task, `${reason}\n${fix}`, `unsaved~${workspace.id}`);
      await store.workspaces.put({ ...workspace, unsaved: { ...unsaved, isNoted: true, isTold: true } });
    } catch (error) {
      log.warn("No person could be told about an unsaved workspace", { path: workspace.path, error });
    }
  }
}

/** Notes in a task's history which files of its workspace could not be saved, and where they are. */
export async function noteRefused(
  { store, clock }: Pick<AsidePorts, "store" | "clock">,
  task: string,
  folder: string,
  { refused }: Pick<Salvage, "refused">,
): Promise<void> {
  if (refused.length === 0 || (await store.getTask(task)) === undefined) return;
  const names = refused.slice(0, 5).map(({ text }) => cutText(text, 200));
  const more = refused.length > names.length ? ` and ${refused.length - names.length} more` : "";
  const reason = `Not saved from ${folder}: ${names.join(", ")}${more}. When the folder is cleaned it stays in the trash; see where: signalbox workspace gc --dry-run`;
  const data = { action: "release_workspace", reason };
  await store.addEvents(task, [{ type: "effect.failed", by: "engine", data, set: {} }], clock.now());
}
