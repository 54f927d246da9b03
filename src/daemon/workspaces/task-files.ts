import { hash as hashed } from "node:crypto";
import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Actor, Unreadable } from "../../engine/request.ts";
import { defaultNames } from "../../engine/run-spec.ts";
import type { Task } from "../../engine/task.ts";
import { renderTaskDocument } from "../../engine/task-frontmatter.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import { isCheckout } from "../../ports/records.ts";
import type { Store, StoredDocument } from "../../ports/store.ts";
import { badTaskFile, roleFileName, type WorkspaceKind } from "../../ports/workspaces.ts";
import { runRecordId } from "../agents/run-order.ts";
import { parsedDocument, writeDocument } from "../task-documents.ts";

/** A task file as an agent left it. */
export interface WrittenFile {
  readonly role: string;
  readonly run: string;
  readonly text: string;
  readonly path: string;
  /** It is in a checkout of the run's own. */
  readonly isOwn: boolean;
  /**
   * Another process may have written it, so it counts as this run's only once this run makes a request, or at its end if it
   * is sealed.
   */
  readonly isShared: boolean;
}

/** The fields of a task that locate its files. */
type WithFiles = Pick<Task, "id" | "workspace" | "runs">;

/** A role that has a task file: those with a live run, and always the main role, whose file is TASK.md. */
interface Writer {
  readonly role: string;
  /** Empty where no run of the role is live. */
  readonly run: string;
  /** The workspace, or the checkout of a judge. */
  readonly folder: string;
  /** The checkout is the run's own. */
  readonly isOwn: boolean;
}

async function writersOf(store: Store, task: WithFiles): Promise<readonly Writer[]> {
  const main = defaultNames.roles.task;
  const checkouts = (await store.workspaces.list({ task: task.id })).filter(isCheckout);
  const live = Object.entries(task.runs).map(([name, { key: run }]): Writer => {
    const checkout = checkouts.find((each) => each.run === run)?.path;
    return { role: roleOf(name), run, folder: checkout ?? task.workspace, isOwn: checkout !== undefined };
  });
  if (live.some(({ role }) => role === main)) return live;
  return [{ role: main, run: "", folder: task.workspace, isOwn: false }, ...live];
}

/** The folders in which live runs of the task work: its workspace, and checkouts of judges. */
export async function foldersOf(store: Store, task: WithFiles): Promise<readonly string[]> {
  const live = (await writersOf(store, task)).filter(({ run }) => run !== "");
  return [...new Set(live.map(({ folder }) => folder))].filter((folder) => folder !== "");
}

function roleOf(name: string): string {
  return name.split("/")[0] ?? name;
}

/** The mutex key for writing a task's files and for releasing its folder. */
export function filesOf(task: string): string {
  return `files ${task}`;
}

/** The name of a role's task file in the folder that it works in. */
export async function fileNameOf(store: Store, kind: WorkspaceKind, task: WithFiles, role: string): Promise<string> {
  const writers = await writersOf(store, task);
  const writer = writers.find((each) => each.role === role);
  return fileOf(kind, task, writer ?? { role, run: "", folder: task.workspace, isOwn: false });
}

/** A role that is alone in its folder uses the main file, whatever it is called. */
async function fileOf(kind: WorkspaceKind, task: WithFiles, { role, folder, isOwn }: Writer): Promise<string> {
  return isOwn || !sharesFolder(task, role) ? kind.taskFileName(folder) : roleFileName(role);
}

function sharesFolder(task: Pick<Task, "runs">, role: string): boolean {
  if (role === defaultNames.roles.task) return false;
  return Object.entries(task.runs).some(([name, run]) => roleOf(name) !== role || run.beside !== undefined);
}

/** Whether a run can have written anything: a run that has not started yet only finds the text of others. */
async function canHaveWritten(store: Store, task: Pick<Task, "id">, run: string): Promise<boolean> {
  return run === "" || (await store.runs.get(runRecordId(task.id, run))) !== undefined;
}

/** The task files of a task's agents, and why some cannot be read. */
export interface TaskFiles {
  readonly files: readonly WrittenFile[];
  readonly unreadable: Unreadable | undefined;
  /** The names of files that were deleted. Text read from them before still counts. */
  readonly gone: readonly string[];
}

export const noFiles: TaskFiles = { files: [], unreadable: undefined, gone: [] };

/** A file that cannot be read is a finding, not an error: the task can still be explained and cancelled. */
export async function readTaskFiles(store: Store, kind: WorkspaceKind, task: WithFiles): Promise<TaskFiles> {
  const read = await Promise.all(
    (await writersOf(store, task)).map(async (writer): Promise<TaskFiles> => {
      const { role, run, folder, isOwn } = writer;
      if (!(await canHaveWritten(store, task, run))) return noFiles;
      const name = await fileOf(kind, task, writer);
      try {
        const text = await kind.readTaskFile(folder, name);
        if (text === undefined) return { ...noFiles, gone: run === "" ? [] : [name] };
        const path = join(folder, name);
        if (isAsPlaced(store, path, text)) return noFiles;
        return { ...noFiles, files: [{ role, run, text, path, isOwn, isShared: isOwn || sharesFolder(task, role) }] };
      } catch (error) {
        if (!(error instanceof Fault) || error.code !== badTaskFile) throw error;
        return { ...noFiles, unreadable: { reason: error.message, fix: error.hint ?? "" } };
      }
    }),
  );
  return {
    files: read.flatMap(({ files }) => files),
    unreadable: read.find(({ unreadable }) => unreadable !== undefined)?.unreadable,
    gone: read.flatMap(({ gone }) => gone),
  };
}

/**
 * Why a task file cannot be read; undefined if all can. Files are read only if one is suspicious: not a regular file, or too
 * large.
 */
export async function taskFileTrouble(
  store: Store,
  kind: WorkspaceKind,
  task: WithFiles,
): Promise<Unreadable | undefined> {
  const writers = await writersOf(store, task);
  const roles = [defaultNames.roles.task, ...writers.map(({ role }) => role)];
  const names = new Set(["TASK.md", ".signalbox", ...roles.map(roleFileName)]);
  const paths = [...new Set(writers.map(({ folder }) => folder))].flatMap((folder) =>
    [...names].map((name) => [name, join(folder, name)] as const),
  );
  const looksWrong = paths.some(([name, path]) => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return false;
    return name === ".signalbox" ? !found.isDirectory() : !found.isFile() || found.size > maxBytes;
  });
  return looksWrong ? (await readTaskFiles(store, kind, task)).unreadable : undefined;
}

/** A larger file is not read as a task file. */
const maxBytes = 1024 * 1024;

/**
 * Writes the task's document, with current frontmatter, into the files of its agents. A file that its agent has changed since
 * the last read is not overwritten: it is read with the next request. A new run's file contains its own sections only as
 * last stored, and nothing that other runs wrote in its name.
 */
export async function placeTaskFiles(store: Store, workflow: Workflow, kind: WorkspaceKind, task: Task): Promise<void> {
  const document = await store.getDocument(task.id);
  const stored = await store.getTask(task.id);
  const shown = stored === undefined ? task : { ...task, updatedAt: new Date(stored.updatedAt).toISOString() };
  const text = renderTaskDocument(shown, parsedDocument(document));
  const files = new Map<string, PlacedFile>();
  // A role that works alone uses the main file.
  for (const writer of await writersOf(store, task)) {
    const { folder, isOwn } = writer;
    const hasStarted = await canHaveWritten(store, task, writer.run);
    const name = await fileOf(kind, task, writer).catch((error) => {
      // The checkout of a run that is about to start is still being made; it gets its file then.
      if (hasStarted || !isOwn || !(error instanceof Fault) || error.code !== "workspace.missing") throw error;
    });
    if (name === undefined) continue;
    const file = files.get(join(folder, name)) ?? { folder, name, writers: [], isForNewRun: false };
    files.set(join(folder, name), file);
    if (hasStarted) file.writers.push(writer);
    else file.isForNewRun = true;
  }
  for (const [path, { folder, name, writers, isForNewRun }] of files) {
    const before = await kind.readTaskFile(folder, name);
    if (before === text) continue;
    const isUnchanged = before === undefined || isAsPlaced(store, path, before);
    const unread = isUnchanged ? document : withUnread(workflow, document, before, writers);
    if (unread !== document && !isForNewRun) continue;
    const next = unread === document ? text : renderTaskDocument(shown, parsedDocument(unread));
    if (await kind.placeTaskFile(folder, name, next, before)) placedTexts(store).set(path, hashed("sha256", next));
  }
}

interface PlacedFile {
  readonly folder: string;
  readonly name: string;
  /** The roles whose words it contains. */
  readonly writers: Actor[];
  /** It is made for a run that has not started yet. */
  isForNewRun: boolean;
}

/**
 * The hashes of the texts that the daemon has placed, by path. A file that is unchanged since then may be older than the
 * document, such as while a section is handed in: it must not count as its agent's newest words.
 */
const placed = new WeakMap<Store, Map<string, string>>();

function placedTexts(store: Store): Map<string, string> {
  const known = placed.get(store) ?? new Map<string, string>();
  placed.set(store, known);
  return known;
}

/** Whether the file has the text that the daemon placed last. Any other text is its agent's, also if that is taken back. */
function isAsPlaced(store: Store, path: string, text: string): boolean {
  const texts = placedTexts(store);
  if (texts.get(path) === hashed("sha256", text)) return true;
  texts.delete(path);
  return false;
}

/** The document with the unread changes of these writers; the same object if there are none. */
function withUnread(
  workflow: Workflow,
  document: StoredDocument,
  text: string,
  writers: readonly Actor[],
): StoredDocument {
  return writers.reduce((known, writer) => {
    const written = writeDocument(workflow, known, text, writer, "");
    return written.changed.length > 0 ? written.document : known;
  }, document);
}
