import { defaultNames } from "../../engine/default-names.ts";
import { renderTaskDocument } from "../../engine/render-task-document.ts";
import type { Actor, Unreadable } from "../../engine/request.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { Store, StoredDocument } from "../../ports/store.ts";
import { badTaskFile, roleFileName, type WorkspaceKind } from "../../ports/workspaces.ts";
import { runRecordId } from "../agents/run-name.ts";
import { parsedDocument } from "../parsed-document.ts";
import { writeDocument } from "../write-document.ts";

/** A task file as an agent left it. */
export interface WrittenFile {
  readonly role: string;
  readonly run: string;
  readonly text: string;
  /** Whoever else is at work in the workspace can have written it: it is the run's word only once the run says so. */
  readonly isShared: boolean;
}

/** The roles that have a file in the workspace: those that are at work. The main one's is TASK.md, and is always there. */
function rolesOf(task: Task): readonly { role: string; run: string }[] {
  const main = defaultNames.roles.task;
  const live = Object.entries(task.runs).map(([name, { key }]) => ({ role: name.split("/")[0] ?? name, run: key }));
  return live.some(({ role }) => role === main) ? live : [{ role: main, run: "" }, ...live];
}

/** Whoever writes a task's files, or takes its folder away, does so in this turn. */
export function filesOf(task: string): string {
  return `files ${task}`;
}

/** Where a role's task file is, in the task's workspace. */
export async function fileNameOf(kind: WorkspaceKind, task: Task, role: string): Promise<string> {
  // A role that is alone in the workspace uses the main file, whatever it is called.
  return hasOwnFile(task, role) ? roleFileName(role) : kind.taskFileName(task.workspace);
}

function hasOwnFile(task: Task, role: string): boolean {
  if (role === defaultNames.roles.task) return false;
  const isAlone =
    rolesOf(task).every((each) => each.role === role || each.run === "") &&
    Object.entries(task.runs).every(([name, run]) => name.split("/")[0] !== role || run.beside === undefined);
  return !isAlone;
}

/** Whether a run can have written anything: one that is wanted but was not started yet finds what others have left. */
async function canHaveWritten(store: Store, task: Task, run: string): Promise<boolean> {
  return run === "" || (await store.runs.get(runRecordId(task.id, run))) !== undefined;
}

/** What the agents of a task have written so far, and why the rest cannot be read. */
export interface TaskFiles {
  readonly files: readonly WrittenFile[];
  readonly unreadable: Unreadable | undefined;
  /** The names of files that were there and are gone. What was read from them before still counts. */
  readonly gone: readonly string[];
}

export const noFiles: TaskFiles = { files: [], unreadable: undefined, gone: [] };

/** A file that cannot be read is a finding, not an error: the task can still be explained and cancelled. */
export async function readTaskFiles(store: Store, kind: WorkspaceKind, task: Task): Promise<TaskFiles> {
  const read = await Promise.all(
    rolesOf(task).map(async ({ role, run }): Promise<TaskFiles> => {
      if (!(await canHaveWritten(store, task, run))) return noFiles;
      const name = await fileNameOf(kind, task, role);
      try {
        const text = await kind.readTaskFile(task.workspace, name);
        if (text === undefined) return { ...noFiles, gone: run === "" ? [] : [name] };
        return { ...noFiles, files: [{ role, run, text, isShared: hasOwnFile(task, role) }] };
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
 * Writes the task's document into the files of its agents, with frontmatter as the engine knows it. A file in which its
 * agent has written something since it was last read stays as it is: it is read with the next request. Whoever is started
 * finds in it what is theirs to say, and nothing that they have put there in its name.
 */
export async function placeTaskFiles(store: Store, workflow: Workflow, kind: WorkspaceKind, task: Task): Promise<void> {
  const document = await store.getDocument(task.id);
  const stored = await store.getTask(task.id);
  const shown = stored === undefined ? task : { ...task, updatedAt: new Date(stored.updatedAt).toISOString() };
  const text = renderTaskDocument(shown, parsedDocument(document));
  const files = new Map<string, { readonly writers: Actor[]; isForNewcomer: boolean }>();
  // One who is alone writes into the main file, whosever that is otherwise.
  for (const writer of rolesOf(task)) {
    const name = await fileNameOf(kind, task, writer.role);
    const file = files.get(name) ?? { writers: [], isForNewcomer: false };
    files.set(name, file);
    if (await canHaveWritten(store, task, writer.run)) file.writers.push(writer);
    else file.isForNewcomer = true;
  }
  for (const [name, { writers, isForNewcomer }] of files) {
    const before = await kind.readTaskFile(task.workspace, name);
    if (before === text) continue;
    const unread = before === undefined ? document : withUnread(workflow, document, before, writers);
    if (unread === document) await kind.placeTaskFile(task.workspace, name, text, before);
    else if (isForNewcomer)
      await kind.placeTaskFile(task.workspace, name, renderTaskDocument(shown, parsedDocument(unread)), before);
  }
}

/** The document with what these have written into a file that is theirs to write; itself where that is nothing. */
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
