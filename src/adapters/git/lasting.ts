import { existsSync, type Stats } from "node:fs";
import { open, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolderIfThere } from "../../durable-file.ts";
import { isObjectId } from "./names.ts";

// Git fsyncs the files that it writes if `core.fsync` says so, but never a directory. Until the directory is synced as
// well, a power cut may remove the file's name, and with it the file.

/** Directories whose own name is durable, with their identity: git removes empty directories and creates them again. */
const named = new Map<string, string>();

/** Fsyncs a directory of a repository, and those above it, up to `top`, that were not synced since their creation. */
export async function syncNames(folder: string, top: string): Promise<void> {
  await syncFolderIfThere(folder);
  for (let each = folder; each.length > top.length; each = dirname(each)) {
    const found = await stat(each).catch(() => undefined);
    if (found === undefined || named.get(each) === identityOf(found)) return;
    await syncFolderIfThere(dirname(each));
    if (named.size >= maxNamed) named.clear();
    named.set(each, identityOf(found));
  }
}

const maxNamed = 10_000;

function identityOf({ dev, ino, birthtimeMs }: Stats): string {
  return `${dev} ${ino} ${birthtimeMs}`;
}

/** Makes a ref durable. Our own git has already synced its file; a `foreign` ref's file is synced here. */
export async function syncRef(repository: string, ref: string, foreign = false): Promise<void> {
  if (foreign) await syncFile(join(repository, ref));
  await syncNames(dirname(join(repository, ref)), repository);
}

/** Makes the names of objects durable that our own git has written, loose or packed. */
export async function syncObjects(objects: string, ids: ReadonlySet<string>): Promise<void> {
  const parts = new Set<string>();
  let isPacked = ids.size > maxLooked;
  for (const id of ids) {
    const part = id.slice(0, 2);
    if (ids.size > maxLooked || existsSync(join(objects, part, id.slice(2)))) parts.add(part);
    else isPacked = true;
  }
  const folders = [...parts, ...(isPacked ? ["pack"] : [])].map((name) => join(objects, name));
  await Promise.all(folders.map((folder) => syncNames(folder, objects)));
}

/** Above this number all directories are synced, without checking where each object is. */
const maxLooked = 5_000;

/** Makes all objects of a repository durable. By default git does not sync the objects that it writes. */
export async function syncAllObjects(objects: string): Promise<void> {
  const parts = (await readdir(objects)).filter((name) => /^[0-9a-f]{2}$/.test(name) || name === "pack");
  const files: string[] = [];
  for (const part of parts)
    for (const name of await readdir(join(objects, part)).catch(() => [])) files.push(join(objects, part, name));
  const next = files.values();
  const work = async () => {
    for (const file of next) await syncFile(file);
  };
  await Promise.all(Array.from({ length: 8 }, work));
  await Promise.all(parts.map((part) => syncNames(join(objects, part), objects)));
}

async function syncFile(path: string): Promise<void> {
  // Git may have packed or removed the file meanwhile.
  const handle = await open(path, "r").catch(() => undefined);
  try {
    await handle?.sync();
  } finally {
    await handle?.close();
  }
}

/** Commits of a repository that are durable with everything that they reach, the newest first. */
interface LastingCommits {
  readonly known: readonly string[];
  add(commit: string): Promise<void>;
}

/**
 * Reads which commits of a repository are known to be durable. The note itself needs no fsync: if it is lost or old,
 * more is synced than necessary.
 */
export async function lastingCommits(control: string, objects: string): Promise<LastingCommits> {
  const file = join(control, "lasting");
  const of = `${objects} ${identityOf(await stat(objects))}`;
  const [first, ...lines] = (await readFile(file, "utf8").catch(() => "")).split("\n");
  const known = first === of ? lines.filter(isObjectId) : [];
  return {
    known,
    add: (commit) => writeFile(file, [of, ...new Set([commit, ...known])].slice(0, maxKnown).join("\n")),
  };
}

const maxKnown = 20;
