import type { Run } from "../../ports/records.ts";

/** What a run's pane, process and folder are called: its role may be any word, its number is the task's own. */
export function runName(task: string, key: string): string {
  return `${task}-${key.slice(key.lastIndexOf("#") + 1)}`;
}

/** What its process is called; each time it is asked again is another one. */
export function processName({ name, part }: NonNullable<Run["started"]>): string {
  return part === 0 ? name : `${name}-${part + 1}`;
}

/** Tasks are not named after anything a person or an agent has written. */
export function terminalSession(task: string): string {
  return `sb-${task}`;
}

/** What people call it. */
export function sessionTitle({ project, branch }: { readonly project: string; readonly branch: string }): string {
  return `${project}/${branch}`;
}

export function runRecordId(task: string, key: string): string {
  return `${task}/${key}`;
}
