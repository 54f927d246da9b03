import { randomBytes } from "node:crypto";
import { chmod, cp, mkdir, opendir, rename, rm, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { writeWhole } from "../../../durable-file.ts";
import { Fault } from "../../../fault.ts";
import { createMemo } from "../../../keyed.ts";
import type { DiskUse, TrashOrder, TrashReport } from "../../../ports/workspaces.ts";
import { entryAt, entryIfSeen, namesIn, pathIn } from "../file-entries.ts";
import { readSmall } from "../git-folder.ts";
import { fileName } from "../names.ts";

const maxEntries = 500_000;

/** Measures a folder, on its own disk only. Counts links without following them; skips what it may not read. */
export async function diskUse(folder: string | Buffer, most = maxEntries): Promise<DiskUse> {
  const root = entryAt(folder);
  const count = { bytes: 0, files: 0, left: most };
  const visit = async (path: Buffer): Promise<void> => {
    const entries = await opendir(path, { encoding: "buffer" as BufferEncoding }).catch(() => []);
    for await (const entry of entries) {
      if (count.left <= 0) return;
      count.left -= 1;
      const inside = pathIn(path, entry.name as string | Buffer);
      const found = entryIfSeen(inside);
      if (found === undefined || found.dev !== root?.dev) continue;
      // A file with several hard links is counted once.
      count.bytes += (found.blocks * 512) / (found.isDirectory() ? 1 : found.nlink);
      count.files += 1;
      if (count.left % 64 === 0) await nextTurn();
      if (found.isDirectory()) await visit(inside);
    }
  };
  if (root?.isDirectory()) await visit(Buffer.from(folder as string));
  return { bytes: Math.round(count.bytes), files: count.files, isCut: count.left <= 0 };
}

interface KnownHeap extends AboutHeap {
  readonly folder: string;
  readonly size: number;
}

/** `sizes` caches sizes by folder: a heap does not change once it is complete. */
export async function deleteTrash(trash: string, sizes: Map<string, number>, order: TrashOrder): Promise<TrashReport> {
  const { now, keepFor, most, isDry = false, signal } = order;
  const heaps: KnownHeap[] = [];
  for (const name of await namesIn(trash)) heaps.push(await lookAt(join(trash, name), sizes, now));
  heaps.sort((a, b) => a.at - b.at);
  const left = new Set(heaps);
  const before = heaps.reduce((sum, heap) => sum + heap.size, 0);
  let size = before;
  const stuck: { readonly folder: string; readonly reason: string }[] = [];
  for (const heap of heaps) {
    if (heap.isHeld || (heap.at + keepFor > now && size <= most)) continue;
    const end = isDry ? "gone" : await deleteHeap(heap.folder, signal);
    if (end === "stopped") break;
    if (end !== "gone") {
      stuck.push({ folder: heap.folder, reason: end.reason });
      continue;
    }
    left.delete(heap);
    if (!isDry) sizes.delete(heap.folder);
    size -= heap.size;
  }
  const held = heaps.filter(({ isHeld }) => isHeld).map(({ folder }) => folder);
  return { deleted: heaps.length - left.size, left: left.size, freed: before - size, size, held, stuck };
}

/** `about.json` is deleted last: a half-deleted heap keeps its age, and the next call continues. */
async function deleteHeap(
  folder: string,
  signal: AbortSignal | undefined,
): Promise<"gone" | "stopped" | { readonly reason: string }> {
  try {
    const isGone =
      (await deleteTree(join(folder, "files"), folder, signal)) && (await deleteTree(folder, folder, signal));
    return isGone ? "gone" : "stopped";
  } catch (error) {
    const { code, path, syscall } = error as NodeJS.ErrnoException;
    if (code === undefined || syscall === undefined) throw error;
    const { text } = fileName(Buffer.from(String(path ?? folder)));
    return { reason: `${text} cannot be deleted: ${syscall} failed with ${code}.` };
  }
}

const settled = 10 * 60_000;

async function lookAt(folder: string, sizes: Map<string, number>, now: number): Promise<KnownHeap> {
  const about = parse(await readSmall(join(folder, aboutFile)));
  const at = about?.at ?? entryAt(folder)?.mtimeMs ?? now;
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

/** Deletes a folder file by file, so that the daemon stays responsive. False if the signal fired first. */
async function deleteTree(folder: string | Buffer, heap: string, signal?: AbortSignal): Promise<boolean> {
  const path = Buffer.from(folder as string);
  const entries = await allowing(path, () => opendir(path, { encoding: "buffer" as BufferEncoding }));
  if (entries === undefined) return true;
  let count = 0;
  for await (const entry of entries) {
    if (signal?.aborted) return false;
    const inside = pathIn(path, entry.name as string | Buffer);
    if (entry.isDirectory()) {
      // Below it, paths may become longer than the system allows.
      const place = inside.length < maxPathLength ? inside : await moveUp(inside, heap);
      if (!(await deleteTree(place, heap, signal))) return false;
    } else await allowing(path, () => unlink(inside));
    count += 1;
    if (count % 64 === 0) await nextTurn();
  }
  await allowing(Buffer.from(dirname(path.toString("latin1")), "latin1"), () => rmdir(path));
  return true;
}

async function moveUp(folder: Buffer, heap: string): Promise<Buffer> {
  const place = Buffer.from(join(heap, `deep-${randomBytes(6).toString("hex")}`));
  await move(folder, place);
  return place;
}

/** Undefined if the path is gone already. Makes the folder writable if its permissions forbid the action. */
async function allowing<T>(folder: Buffer, act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (code !== "EACCES" && code !== "EPERM") throw error;
    await chmod(folder, 0o700);
    return act();
  }
}

/** A folder in the trash with everything that one action removed. It is created with the first file. */
export interface Heap {
  readonly folder: string;
  /** Moves a path into the heap, under this name. Does nothing if the path does not exist. */
  take(path: string | Buffer, name: string | Uint8Array): Promise<void>;
  /** The same for a path that may be on another disk: then it is copied, and deleted afterwards. */
  takeFrom(path: string, name: string): Promise<void>;
}

interface AboutHeap {
  /** The workspace. */
  readonly from: string;
  readonly at: number;
  /** Whether it contains something that was not saved elsewhere. */
  readonly isHeld: boolean;
}

const aboutFile = "about.json";

export function openHeap(trash: string, about: AboutHeap): Heap {
  const time = new Date(about.at).toISOString().replaceAll(/[:.]/g, "-");
  const folder = join(trash, `${time}-${basename(about.from)}-${randomBytes(4).toString("hex")}`);
  const made = createMemo<unknown>();
  const taken = new Set<string>();
  const begin = async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeWhole(join(folder, aboutFile), JSON.stringify(about), { fsync: false });
  };
  const placeFor = async (name: string | Uint8Array) => {
    const files = join(folder, "files");
    const wanted = pathIn(files, name);
    // The path may be too long inside the trash, and two things may have had the same name one after the other.
    const isFine = wanted.length < maxPathLength && !taken.has(wanted.toString("latin1"));
    const place = isFine ? wanted : pathIn(files, `${taken.size}-${randomBytes(4).toString("hex")}`);
    taken.add(place.toString("latin1"));
    const above = place.subarray(0, place.lastIndexOf("/"));
    await made.get("", begin);
    await made.get(above.toString("latin1"), () => mkdir(above, { recursive: true }));
    return place;
  };
  return {
    folder,
    async take(path, name) {
      // Without anything to move, no heap is created.
      if (taken.size === 0 && entryAt(path) === undefined) return;
      await move(path, await placeFor(name));
    },
    async takeFrom(path, name) {
      if (entryAt(path) === undefined) return;
      const place = await placeFor(name);
      try {
        await move(path, place);
      } catch (error) {
        if (!(error instanceof Fault) || error.code !== "workspace.other-disk") throw error;
        await cp(path, place.toString("utf8"), { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
        await rm(path, { recursive: true, force: true });
      }
    },
  };
}

/** Systems allow 4096 bytes; the rest is for the paths inside a moved folder. */
const maxPathLength = 3000;

async function move(path: string | Buffer, to: Buffer): Promise<void> {
  try {
    await rename(path, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return;
    if (code === "EXDEV") throw otherDisk(path, to, error);
    if (code !== "EACCES" && code !== "EPERM") throw error;
    // A read-only folder cannot be moved; some package managers create such folders.
    await chmod(path, 0o700);
    await rename(path, to);
  }
}

function otherDisk(path: string | Buffer, to: Buffer, cause: unknown): Fault {
  return new Fault("workspace.other-disk", `${path} cannot be moved to ${to}, which is on another disk.`, {
    hint: "The trash and the workspaces must be on the same disk.",
    cause,
  });
}
