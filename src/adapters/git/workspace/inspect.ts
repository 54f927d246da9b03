import { join } from "node:path";
import type { Inspection } from "../../../ports/workspaces.ts";
import { branchRef } from "../check-names.ts";
import { entryAt } from "./entry-at.ts";
import { notThere } from "./faults.ts";
import { findWorkingCopy } from "./find-working-copy.ts";
import { isDirty, lookAt } from "./look-at.ts";
import type { Mechanics } from "./mechanics.ts";
import { isParked } from "./parked.ts";
import { type GitFolders, type Head, lookForRef, readHead } from "./read-git-folder.ts";
import type { WorkspaceRecord } from "./records.ts";
import { type Workshop, wholePath } from "./workshop.ts";

export async function inspect(shop: Workshop, mechanics: Mechanics, path: string): Promise<Inspection> {
  const folder = await wholePath(path);
  const whole = await findWhole(shop, mechanics, folder);
  if ("kind" in whole) return whole;
  const { record, folders, head, isLocked } = whole;
  const look = await lookAt(shop, mechanics, { folder, folders, isTrusted: true, record, commit: head.commit });
  const isHeld = (await entryAt(join(folders.gitFolder, "index.lock"))) !== undefined;
  return {
    kind: "there",
    branch: head.branch,
    head: head.commit,
    parked: await isParked(record, folders, head),
    dirty: isDirty(look),
    untracked: look.others.length,
    operation: look.operation,
    locked: isHeld ? "git" : isLocked ? "person" : undefined,
  };
}

export async function currentBranch(shop: Workshop, mechanics: Mechanics, path: string): Promise<string | undefined> {
  const folder = await wholePath(path);
  const found = await mechanics.find(folder, await shop.records.read(folder));
  if (found.kind !== "ours" || found.folders === undefined) return undefined;
  return (await readHead(found.folders))?.branch;
}

export async function branchAt(
  shop: Workshop,
  mechanics: Mechanics,
  path: string,
  branch: string,
): Promise<string | undefined> {
  const { folder, folders } = await findWorkingCopy(shop, mechanics, path);
  const found = await lookForRef(folders.commonFolder, branchRef(branch));
  if (found.kind === "unknown") throw notThere(folder);
  return found.kind === "there" ? found.id : undefined;
}

/** What is wrong with a workspace, as a sentence; undefined where nothing is. Only reads: no git is run. */
export async function flawOf(shop: Workshop, mechanics: Mechanics, path: string): Promise<string | undefined> {
  const whole = await findWhole(shop, mechanics, await wholePath(path));
  if (!("kind" in whole)) return undefined;
  return whole.kind === "missing" ? "It is gone." : whole.reason;
}

interface Whole {
  readonly record: WorkspaceRecord | undefined;
  readonly folders: GitFolders;
  readonly head: Head & { readonly commit: string };
  readonly isLocked: boolean;
}

async function findWhole(
  shop: Workshop,
  mechanics: Mechanics,
  folder: string,
): Promise<Whole | Exclude<Inspection, { kind: "there" }>> {
  if ((await entryAt(folder)) === undefined) return { kind: "missing" };
  const record = await shop.records.read(folder);
  const found = await mechanics.find(folder, record);
  if (found.kind === "nothing") return broken("It is empty.");
  if (found.kind === "foreign") return broken(found.reason);
  if (record !== undefined && record.phase !== "ready") return broken("Its making was not ended.");
  const { folders, flaw, isLocked } = found;
  if (flaw !== undefined || folders === undefined) return broken(flaw ?? "It has no repository any more.");
  const head = await readHead(folders);
  if (head?.commit !== undefined) return { record, folders, head: { ...head, commit: head.commit }, isLocked };
  if (head?.branch !== undefined) return broken(`Its branch "${head.branch}" is gone.`);
  return broken("What is checked out there cannot be read, or has no commit.");
}

function broken(reason: string): Extract<Inspection, { kind: "broken" }> {
  return { kind: "broken", reason };
}
