import { randomBytes } from "node:crypto";
import { chmod, cp, mkdir, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { Fault } from "../../../../fault.ts";
import { entryAt, pathIn } from "../entry-at.ts";
import { publish } from "../publish.ts";

/** What one act took away, as a folder of its own in the trash. It is made when something comes in. */
export interface Heap {
  readonly folder: string;
  /** Moves what is at a path into the heap, under this name. Nothing where nothing is there. */
  take(path: string | Buffer, name: string | Uint8Array): Promise<void>;
  /** The same for what may be on another disk: then it is copied, and deleted afterwards. */
  takeFrom(path: string, name: string): Promise<void>;
}

export interface AboutHeap {
  /** The workspace. */
  readonly from: string;
  readonly at: number;
  /** Whether something in it was saved nowhere else. */
  readonly isHeld: boolean;
}

export const aboutFile = "about.json";

export function openHeap(trash: string, about: AboutHeap): Heap {
  const time = new Date(about.at).toISOString().replaceAll(/[:.]/g, "-");
  const folder = join(trash, `${time}-${basename(about.from)}-${randomBytes(4).toString("hex")}`);
  const made = new Map<string, Promise<unknown>>();
  const taken = new Set<string>();
  const begin = async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await publish(join(folder, aboutFile), JSON.stringify(about));
  };
  const once = (key: string, make: () => Promise<unknown>) => {
    const making = made.get(key) ?? make();
    made.set(key, making);
    return making;
  };
  const placeFor = async (name: string | Uint8Array) => {
    const files = join(folder, "files");
    const wanted = pathIn(files, name);
    // Its whole path may be too long in here, and two things may have had the same name one after the other.
    const isFine = wanted.length < longestPath && !taken.has(wanted.toString("latin1"));
    const place = isFine ? wanted : pathIn(files, `${taken.size}-${randomBytes(4).toString("hex")}`);
    taken.add(place.toString("latin1"));
    const above = place.subarray(0, place.lastIndexOf("/"));
    await once("", begin);
    await once(above.toString("latin1"), () => mkdir(above, { recursive: true }));
    return place;
  };
  return {
    folder,
    async take(path, name) {
      // Where nothing is to be taken, no heap is made.
      if (made.size === 0 && (await entryAt(path)) === undefined) return;
      await move(path, await placeFor(name));
    },
    async takeFrom(path, name) {
      if ((await entryAt(path)) === undefined) return;
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

/** Systems take 4096 bytes, and somebody may want to look deeper into what is there. */
const longestPath = 3000;

async function move(path: string | Buffer, to: Buffer): Promise<void> {
  try {
    await rename(path, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return;
    if (code === "EXDEV") throw otherDisk(path, to, error);
    if (code !== "EACCES" && code !== "EPERM") throw error;
    // Folders that may not be written to cannot be moved; package managers make such.
    await chmod(path, 0o700);
    await rename(path, to);
  }
}

function otherDisk(path: string | Buffer, to: Buffer, cause: unknown): Fault {
  return new Fault("workspace.other-disk", `${path} cannot be moved to ${to}, which is on another disk.`, {
    hint: "Have the trash and the workspaces on the same disk.",
    cause,
  });
}
