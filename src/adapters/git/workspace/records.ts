import { randomBytes } from "node:crypto";
import { link, mkdir, readdir, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { sha256 } from "../../../engine/sha256.ts";
import { publish } from "./publish.ts";
import { readSmall } from "./read-git-folder.ts";

/**
 * What we know about a workspace, out of reach for whoever works in it. If it is lost, workspaces are only slower to
 * make: everything is looked at anew.
 */
export interface WorkspaceRecord {
  readonly folder: string;
  /** making, switching: begun and not ended, so that what is there may be half of it. */
  readonly phase: "making" | "switching" | "ready";
  /** Empty where it is parked, and has none. */
  readonly branch: string;
  /** What the index beside this record stands for. */
  readonly commit: string;
  /** The branch that is being renamed to `branch`. */
  readonly renamedFrom?: string;
  /** Of a parked one: stands for what git had noted of HEAD's moves by then. */
  readonly moves?: string;
  /** Of a worktree: what git calls it, and the files of its own that git obeys. */
  readonly entry?: string;
  readonly obeyed?: Readonly<Record<string, string>>;
}

export interface Records {
  read(folder: string): Promise<WorkspaceRecord | undefined>;
  write(record: WorkspaceRecord): Promise<void>;
  /** What is known about a folder is known about where it was moved to. Nothing where that is so, or nothing is known. */
  move(from: string, to: string): Promise<void>;
  forget(folder: string): Promise<void>;
  all(): Promise<readonly WorkspaceRecord[]>;
  /** Our own index of the workspace's files. The one inside of it may say what it likes. */
  indexOf(folder: string): string;
  /** The last index that was made from ours for another commit, if it was for this one: agents commit, and are looked at often. */
  madeFor(folder: string, commit: string): string;
  keepMade(folder: string, commit: string, index: string): Promise<void>;
  /** A new path for what is needed only for a moment. */
  draft(): Promise<string>;
}

export function createRecords(state: string): Records {
  const placeOf = (folder: string) => join(state, sha256(folder).slice(0, 20));
  const write = async (record: WorkspaceRecord) => {
    const place = placeOf(record.folder);
    await mkdir(place, { recursive: true, mode: 0o700 });
    await publish(join(place, "record.json"), JSON.stringify(record));
  };
  const all = async () => {
    const names = await readdir(state).catch(() => []);
    const records = await Promise.all(names.map((name) => readRecord(join(state, name, "record.json"))));
    return records.filter((record) => record !== undefined);
  };
  return {
    read: (folder) => readRecord(join(placeOf(folder), "record.json")),
    write,
    async move(from, to) {
      // By the folder's number: where links led to it before, its path was noted in another form.
      const known = (await all()).find(({ folder }) => folder !== to && basename(folder) === basename(from));
      if (known === undefined) return;
      // Killed after the first step, what is there already only has to say so.
      const isMoved = !(await readdir(placeOf(known.folder)).then(
        () => true,
        () => false,
      ));
      if (!isMoved) {
        await rm(placeOf(to), { recursive: true, force: true });
        await rename(placeOf(known.folder), placeOf(to));
      }
      await write({ ...known, folder: to });
    },
    forget: (folder) => rm(placeOf(folder), { recursive: true, force: true }),
    all,
    indexOf: (folder) => join(placeOf(folder), "index"),
    madeFor: (folder, commit) => join(placeOf(folder), `${made}${commit}`),
    async keepMade(folder, commit, index) {
      const place = placeOf(folder);
      const earlier = (await readdir(place).catch(() => [])).filter((name) => name.startsWith(made));
      for (const name of earlier) await rm(join(place, name), { force: true });
      // Without it the next one is made anew.
      await link(index, join(place, `${made}${commit}`)).catch(() => {});
    },
    async draft() {
      const drafts = join(state, "drafts");
      await mkdir(drafts, { recursive: true, mode: 0o700 });
      return join(drafts, randomBytes(8).toString("hex"));
    },
  };
}

const made = "index-";

/** Half a file, left by a power cut, is none. */
async function readRecord(path: string): Promise<WorkspaceRecord | undefined> {
  const text = await readSmall(path, 1024 * 1024);
  try {
    return text === undefined ? undefined : (JSON.parse(text) as WorkspaceRecord);
  } catch {
    return undefined;
  }
}
