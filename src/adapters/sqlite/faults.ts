import type { Effect } from "../../engine/decision.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";

/** When an effect that is owed since `at` may be performed. */
export function dueAt(effect: Effect, at: number): number {
  return at + Math.round((effect.delay ?? 0) * 1000);
}

export function projectExists(name: string): Fault {
  return new Fault("store.exists", `There is already a project "${name}".`, {
    hint: "Choose another name with --name.",
  });
}

export function projectMissing(name: string): Fault {
  return new Fault("store.missing", `There is no project "${name}".`, {
    hint: "List the projects: signalbox project list",
  });
}

export function projectInUse(name: string, open: number): Fault {
  return new Fault("store.in-use", `The project "${name}" has ${open} open task${open === 1 ? "" : "s"}.`, {
    hint: `Cancel or finish them first: signalbox task list --project ${name}`,
  });
}

export function taskExists(id: string): Fault {
  return new Fault("store.exists", `There is already a task ${id}.`, {
    hint: `See it: signalbox task show ${id}`,
  });
}

export function taskMissing(id: string): Fault {
  return new Fault("store.missing", `There is no task ${id}.`, { hint: "List the tasks: signalbox task list" });
}

export function branchTaken(branch: string, id: string): Fault {
  return new Fault("store.exists", `Task ${id} already has the branch "${branch}".`, {
    hint: `Choose another branch, or continue with that task. To see how: signalbox task explain ${id}`,
  });
}

/** Identifies the try at an item of its parent's plan that a child is; null for other tasks. */
export function partKey({ part }: Pick<Task, "part">): string | null {
  return part === undefined ? null : JSON.stringify([part.stay, part.item, part.try]);
}

export function partTaken({ parent, part }: Pick<Task, "parent" | "part">, id: string): Fault {
  return new Fault("store.exists", `Task ${id} is try ${part?.try} at the part "${part?.item}" of ${parent} already.`, {
    hint: `See it: signalbox task show ${id}`,
  });
}

export function conflict(id: string, revision: number, now: number): Fault {
  return new Fault("store.conflict", `Task ${id} was changed in the meantime (revision ${now}, not ${revision}).`, {
    retry: "later",
    hint: "Read the task again, then decide.",
  });
}

export function effectMissing(id: number): Fault {
  return new Fault("store.missing", `There is no effect ${id}.`);
}

export function storeClosed(): Fault {
  return new Fault("store.closed", "The store is closed.", { hint: "Start Signalbox again." });
}

/** Parses a task reference other than an id: `coffee#12`, or `#12` if the project is known. */
export function readReference(reference: string, project: string): { project: string; number: number } | undefined {
  const [, named = "", number = ""] = /^(.*)#(\d+)$/.exec(reference) ?? [];
  return number === "" ? undefined : { project: named === "" ? project : named, number: Number(number) };
}
