import { join } from "node:path";
import type { Inspection } from "../../../ports/workspaces.ts";
import { entryAt } from "./entry-at.ts";
import { isDirty, lookAt } from "./look-at.ts";
import type { Mechanics } from "./mechanics.ts";
import { isParked } from "./parked.ts";
import { readHead } from "./read-git-folder.ts";
import { type Workshop, wholePath } from "./workshop.ts";

export async function inspect(shop: Workshop, mechanics: Mechanics, path: string): Promise<Inspection> {
  const folder = await wholePath(path);
  if ((await entryAt(folder)) === undefined) return { kind: "missing" };
  const record = await shop.records.read(folder);
  const found = await mechanics.find(folder, record);
  if (found.kind === "nothing") return broken("It is empty.");
  if (found.kind === "foreign") return broken(found.reason);
  if (record !== undefined && record.phase !== "ready") return broken("Its making was not ended.");
  const { folders, flaw, isLocked } = found;
  if (flaw !== undefined || folders === undefined) return broken(flaw ?? "It has no repository any more.");
  const head = await readHead(folders);
  if (head?.commit === undefined) return broken("What is checked out there cannot be read, or has no commit.");
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

function broken(reason: string): Inspection {
  return { kind: "broken", reason };
}
