import type { Task } from "../../engine/task.ts";
import type { Store } from "../../ports/store.ts";
import type { WorkspacesOf } from "./project-workspaces.ts";
import { readTaskFiles, type WrittenFile } from "./task-files.ts";
import { type WorkspaceFacts, workspaceFacts } from "./workspace-facts.ts";

/** What a task's workspace says at this moment. */
export interface Outside {
  readonly files: readonly WrittenFile[];
  /** Undefined where the task has no workspace. */
  readonly facts: WorkspaceFacts | undefined;
}

export type OutsideOf = (task: Task) => Promise<Outside>;

const nothing: Outside = { files: [], facts: undefined };

export interface OutsidePorts {
  readonly store: Store;
  readonly workspacesOf: WorkspacesOf;
  /** A task's branch was collected. */
  collected(task: Task, commit: string): void;
}

export function createOutside({ store, workspacesOf, collected }: OutsidePorts): OutsideOf {
  return async (task) => {
    if (task.workspace === "") return nothing;
    const project = await store.getProject(task.project);
    if (project === undefined) return nothing;
    const workspaces = await workspacesOf(project);
    const facts = await workspaceFacts(workspaces, project, task);
    if (facts.head !== "") collected(task, facts.head);
    // Nothing can be read from a folder that is gone; what was read before is in the store.
    const files = facts.numbers.workspace === 1 ? await readTaskFiles(workspaces.kind, task) : [];
    return { files, facts };
  };
}
