import { existsSync, type Stats } from "node:fs";
import { open, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder } from "../sync-folder.ts";
import { isObjectId } from "./check-names.ts";

// Git fsyncs what it writes into files if it is told to (`core.fsync`), but never a directory. Until the directory is
// synced as well, a power cut may take the name away, and with it the file.

/** Directories whose own name is durable, with their identity: git removes empty ones, and makes them again. */
const named = new Map<string, string>();

/** Fsyncs a directory of a repository, and those above it up to `top` that nobody has synced since it was made. */
export async function syncNames(folder: string, top: string): Promise<void> {
  await syncFolder(folder);
  for (let each = folder; each.length > top.length; each = dirname(each)) {
    const found = await stat(each).catch(() => undefined);
    if (found === undefined || named.get(each) === identityOf(found)) return;
    await syncFolder(dirname(each));
    if (named.size >= maxNamed) named.clear();
    named.set(each, identityOf(found));
  }
}

const maxNamed = 10_000;

function identityOf({ dev, ino, birthtimeMs }: Stats): string {
  return `${dev} ${ino} ${birthtimeMs}`;
}

/** Makes a ref of a repository survive a power cut. Its file was synced by our own git, unless it is `foreign`. */
export async function syncRef(repository: string, ref: string, foreign = false): Promise<void> {
  if (foreign) await syncFile(join(repository, ref));
  await syncNames(dirname(join(repository, ref)), repository);
}

/** Makes the names of objects survive a power cut that our own git has written, each by itself or in a pack. */
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

/** More than this are looked for nowhere: then all directories are synced. */
const maxLooked = 5_000;

/** Makes all objects of a repository survive a power cut, whoever wrote them. Git syncs none that it writes by itself. */
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
  // Git may have packed or removed it meanwhile.
  const handle = await open(path, "r").catch(() => undefined);
  try {
    await handle?.sync();
  } finally {
    await handle?.close();
  }
}

/** Commits of a repository that survive a power cut with all that they need, the newest first. */
export interface LastingCommits {
  readonly known: readonly string[];
  add(commit: string): Promise<void>;
}

/**
 * Reads which commits of a repository are known to be durable. The note needs no fsync: without it, or with an old one, more
 * is synced than would be necessary.
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
