import { Fault } from "../../fault.ts";

export function projectExists(name: string): Fault {
  return new Fault("store.exists", `There is already a project "${name}".`, {
    hint: "Choose another name with --name.",
  });
}

export function projectMissing(name: string): Fault {
  return new Fault("store.missing", `There is no project "${name}".`, {
    hint: "List them with signalbox project list.",
  });
}

export function projectInUse(name: string, open: number): Fault {
  return new Fault("store.in-use", `The project "${name}" has ${open} open task${open === 1 ? "" : "s"}.`, {
    hint: `Cancel or finish them first: signalbox task list --project ${name}`,
  });
}

export function taskExists(id: string): Fault {
  return new Fault("store.exists", `There is already a task ${id}.`, {
    hint: `Look at it with signalbox task show ${id}.`,
  });
}

export function taskMissing(id: string): Fault {
  return new Fault("store.missing", `There is no task ${id}.`, { hint: "List them with signalbox task list." });
}

export function branchTaken(branch: string, id: string): Fault {
  return new Fault("store.exists", `Task ${id} already has the branch "${branch}".`, {
    hint: `Choose another branch, or go on with that task. To see how: signalbox task explain ${id}`,
  });
}

export function conflict(id: string, revision: number, now: number): Fault {
  return new Fault("store.conflict", `Somebody else changed task ${id} first (revision ${now}, not ${revision}).`, {
    retry: "later",
    hint: "Look at the task again, then decide.",
  });
}

export function effectMissing(id: number): Fault {
  return new Fault("store.missing", `There is no effect ${id}.`);
}

export function storeClosed(): Fault {
  return new Fault("store.closed", "The store is closed.", { hint: "Start Signalbox again." });
}
