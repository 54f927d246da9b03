import fs, {
  existsSync,
  fstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join, relative } from "node:path";
import { onTestFinished } from "vitest";

type Inode = string;

const nameOf = ({ dev, ino }: { readonly dev: number; readonly ino: number }): Inode => `${dev} ${ino}`;

/**
 * Records the fsyncs of this process from now on. Only the system knows what survives a power cut, but data without an
 * fsync does not.
 */
export async function recordSyncs(
  onSync: (inode: Inode) => void = () => {},
): Promise<{ readonly has: (path: string) => boolean; readonly forget: () => void }> {
  const synced = new Set<Inode>();
  const handle = await open(import.meta.filename);
  await handle.close();
  const handles = Object.getPrototypeOf(handle) as FileHandle;
  const { sync } = handles;
  const { fsyncSync } = fs;
  const note = (descriptor: number) => {
    const inode = nameOf(fstatSync(descriptor));
    synced.add(inode);
    onSync(inode);
  };
  handles.sync = function (this: FileHandle) {
    note(this.fd);
    return sync.call(this);
  };
  fs.fsyncSync = (descriptor) => {
    note(descriptor);
    fsyncSync(descriptor);
  };
  syncBuiltinESMExports();
  onTestFinished(() => {
    handles.sync = sync;
    fs.fsyncSync = fsyncSync;
    syncBuiltinESMExports();
  });
  return { has: (path) => synced.has(nameOf(statSync(path))), forget: () => synced.clear() };
}

interface Entry {
  readonly inode: Inode;
  readonly kind: "file" | "folder" | "link";
  readonly content: Buffer;
}

type Names = ReadonlyMap<string, Entry>;

export interface Disk {
  /** Runs an operation of an agent or the user, who fsync nothing. */
  others<T>(act: () => T): T;
  /**
   * Writes the state of a root after a power cut at this moment: POSIX promises a name only after an fsync of its directory, and
   * content only after one of the file. With `eager`, names below such a path have reached the disk without an fsync.
   */
  afterPowerCut(root: string, into: string, eager?: RegExp): void;
  /** Called at every fsync of this process, before the fsync counts. */
  onSync: () => void;
}

/**
 * Tracks which names and contents below some folders are durable. Git fsyncs no directory, but it fsyncs the files in
 * `objects` and `refs`, as we configure it; `others` do not.
 */
export async function recordDisk(roots: readonly string[]): Promise<Disk> {
  const names = new Map<Inode, Names>();
  const unsynced = new Set<Inode>();
  const folders = () => roots.filter((root) => existsSync(root)).flatMap(foldersBelow);
  for (const folder of folders()) names.set(nameOf(statSync(folder)), namesIn(folder));
  const disk: Disk = {
    onSync: () => {},
    others(act) {
      const before = new Map(files(folders()));
      const result = act();
      for (const [inode, content] of files(folders())) if (before.get(inode) !== content) unsynced.add(inode);
      return result;
    },
    afterPowerCut(root, into, eager) {
      write(root, into, nameOf(statSync(root)));
      function write(path: string, place: string, inode: Inode): void {
        mkdirSync(place, { recursive: true });
        const isEager = eager?.test(`${relative(root, path)}/`) === true && existsSync(path);
        const durable = isEager ? namesIn(path) : names.get(inode);
        for (const [name, entry] of durable ?? []) {
          const to = join(place, name);
          if (entry.kind === "folder") write(join(path, name), to, entry.inode);
          else if (entry.kind === "link") symlinkSync(entry.content.toString(), to);
          else writeFileSync(to, unsynced.has(entry.inode) ? "" : entry.content);
        }
      }
    },
  };
  await recordSyncs((inode) => {
    disk.onSync();
    unsynced.delete(inode);
    const folder = folders().find((each) => nameOf(statSync(each)) === inode);
    if (folder !== undefined) names.set(inode, namesIn(folder));
  });
  return disk;
}

function foldersBelow(folder: string): readonly string[] {
  const below = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [folder, ...below.flatMap(({ name }) => foldersBelow(join(folder, name)))];
}

/** Compares contents, not times: git touches existing objects instead of writing them again. */
function files(folders: readonly string[]): readonly (readonly [Inode, string])[] {
  return folders.flatMap((folder) =>
    [...namesIn(folder).values()].flatMap(({ kind, inode, content }) =>
      kind === "file" ? [[inode, content.toString("latin1")] as const] : [],
    ),
  );
}

function namesIn(folder: string): Names {
  const found = new Map<string, Entry>();
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const inode = nameOf(fs.lstatSync(path));
    if (entry.isDirectory()) found.set(entry.name, { inode, kind: "folder", content: Buffer.alloc(0) });
    else if (entry.isSymbolicLink())
      found.set(entry.name, { inode, kind: "link", content: Buffer.from(readlinkSync(path)) });
    else if (entry.isFile()) found.set(entry.name, { inode, kind: "file", content: readFileSync(path) });
  }
  return found;
}
