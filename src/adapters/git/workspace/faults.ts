import { Fault } from "../../../fault.ts";
import { fileName } from "../file-name.ts";
import type { Look } from "./look-at.ts";

export function foreign(folder: string, reason: string): Fault {
  return new Fault("workspace.foreign", `${folder} is not a workspace that we made. ${reason}`, {
    hint: "Move it away, or use another folder.",
  });
}

export function dirty(folder: string, { changed, others, operation }: Look): Fault {
  const names = [...changed, ...others].map((name) => fileName(name).text);
  const what = names.length > 0 ? list(names) : operation === undefined ? "staged files" : `a ${operation}`;
  return new Fault("workspace.dirty", `${folder} has work that is not committed: ${what}.`, {
    hint: "Commit or salvage it first.",
  });
}

export function unsaved(folder: string): Fault {
  return new Fault("workspace.unsaved", `${folder} has commits that no branch outside of it contains.`, {
    hint: "Collect or salvage them first.",
  });
}

export function branchElsewhere(branch: string, folder: string): Fault {
  return new Fault("workspace.branch-elsewhere", `The branch ${JSON.stringify(branch)} is checked out in ${folder}.`, {
    retry: "later",
    hint: "Check out another branch there. If the folder is gone for good: git worktree prune",
  });
}

export function branchTaken(branch: string): Fault {
  return new Fault("workspace.branch-taken", `There is a branch ${JSON.stringify(branch)} already.`, {
    hint: "Choose another name, or continue that branch.",
  });
}

export function detached(folder: string, purpose: string): Fault {
  return new Fault("workspace.detached", `${folder} has no branch checked out, so there is none to ${purpose}.`, {
    hint: "Check out the branch, or make one there.",
  });
}

export function noBranch(branch: string): Fault {
  return new Fault("workspace.no-branch", `There is no branch ${JSON.stringify(branch)}.`, {
    hint: "Look what is there: git branch --all",
  });
}

export function operating(folder: string, operation: string): Fault {
  return new Fault("workspace.operation", `A ${operation} was begun in ${folder} and not ended.`, {
    hint: `End it there, or give it up: git ${operation} ${operation === "bisect" ? "reset" : "--abort"}`,
  });
}

export function inTheWay(folder: string, files: readonly Uint8Array[]): Fault {
  const names = list(files.map((file) => fileName(file).text));
  return new Fault("workspace.in-the-way", `Files in ${folder} are in the way of the branch: ${names}.`, {
    hint: "Move them away; git does not know them.",
  });
}

export function notThere(folder: string): Fault {
  return new Fault("workspace.missing", `${folder} is no workspace, or is broken.`, { hint: "Prepare it again." });
}

function list(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(", ");
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}
