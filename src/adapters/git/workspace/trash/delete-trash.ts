import { join } from "node:path";
import type { TrashOrder, TrashReport } from "../../../../ports/workspaces.ts";
import { diskUse } from "../disk-use.ts";
import { entryAt, namesIn } from "../entry-at.ts";
import { readSmall } from "../read-git-folder.ts";
import { deleteTree } from "./delete-tree.ts";
import { type AboutHeap, aboutFile } from "./open-heap.ts";

interface KnownHeap extends AboutHeap {
  readonly folder: string;
  readonly size: number;
}

/** `sizes` is what was counted before, by folder: heaps change no more once they are full. */
export async function deleteTrash(trash: string, sizes: Map<string, number>, order: TrashOrder): Promise<TrashReport> {
  const { now, keepFor, most, isDry = false, signal } = order;
  const heaps: KnownHeap[] = [];
  for (const name of await namesIn(trash)) heaps.push(await lookAt(join(trash, name), sizes, now));
  heaps.sort((a, b) => a.at - b.at);
  const left = new Set(heaps);
  const before = heaps.reduce((sum, heap) => sum + heap.size, 0);
  let size = before;
  for (const heap of heaps) {
    if (heap.isHeld || (heap.at + keepFor > now && size <= most)) continue;
    // What it is about goes last: half deleted, a heap is as old as before, and goes on next time.
    const isGone =
      isDry || ((await deleteTree(join(heap.folder, "files"), signal)) && (await deleteTree(heap.folder, signal)));
    if (!isGone) break;
    left.delete(heap);
    if (!isDry) sizes.delete(heap.folder);
    size -= heap.size;
  }
  const held = heaps.filter(({ isHeld }) => isHeld).map(({ folder }) => folder);
  return { deleted: heaps.length - left.size, left: left.size, freed: before - size, size, held };
}

const settled = 10 * 60_000;

async function lookAt(folder: string, sizes: Map<string, number>, now: number): Promise<KnownHeap> {
  const about = parse(await readSmall(join(folder, aboutFile)));
  const at = about?.at ?? (await entryAt(folder))?.mtimeMs ?? now;
  const size = sizes.get(folder) ?? (await diskUse(folder)).bytes;
  if (at + settled < now) sizes.set(folder, size);
  return { from: about?.from ?? "", at, isHeld: about?.isHeld ?? false, folder, size };
}

function parse(text: string | undefined): AboutHeap | undefined {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
