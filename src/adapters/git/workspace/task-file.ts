import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
} from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault } from "../../../fault.ts";
import { badTaskFile } from "../../../ports/workspaces.ts";
import { entryAt } from "./entry-at.ts";
import { draftEnding, publish } from "./publish.ts";
import { readFileAt } from "./read-git-folder.ts";

export const mainTaskFile = "TASK.md";
export const otherTaskFile = ".signalbox/TASK.md";

/** Nothing else may be written or read as a task file: a name must not lead anywhere. */
export function checkTaskFileName(name: string): string {
  if (name === mainTaskFile || /^\.signalbox\/[A-Za-z][A-Za-z0-9_-]{0,99}\.md$/.test(name)) return name;
  throw bad(`${JSON.stringify(name)} is no name for a task file.`, `Use ${mainTaskFile}.`);
}

/** False where it is not what it was any more: an agent has written meanwhile, and that must not be lost. */
export async function writeTaskFile(folder: string, name: string, text: string, before?: string): Promise<boolean> {
  const path = join(folder, name);
  await checkPlace(folder, path);
  try {
    if (dirname(path) !== folder) await mkdir(dirname(path)).catch(unless("EEXIST"));
    return await publish(path, text, {
      lasts: true,
      ...(before === undefined ? {} : { replace: (draft, place) => replaceOnly(before, draft, place) }),
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Fault("workspace.unwritable", `${path} cannot be written (${code}).`, {
      hint: "Look at the folder's permissions and at the free space.",
      cause: error,
    });
  }
}

/**
 * Replaces a file that has this text, and no other. What somebody writes into it at the very moment comes back: the old file
 * is looked at once more when the new one has its place.
 */
function replaceOnly(before: string, draft: string, path: string): boolean {
  // Named like a draft, which git does not see: we may be killed before it is taken away.
  const aside = `${draft.slice(0, -draftEnding.length)}-before${draftEnding}`;
  try {
    linkSync(path, aside);
    if (!isStill(aside, before)) return false;
    renameSync(draft, path);
    if (isStill(aside, before)) return true;
    renameSync(aside, path);
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function isStill(path: string, text: string): boolean {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { size } = fstatSync(descriptor);
    return size <= mostBytes && decoder.decode(readFileSync(descriptor)) === text;
  } catch {
    return false;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

const mostBytes = 1024 * 1024;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

export async function readTaskFile(folder: string, name: string): Promise<string | undefined> {
  const path = join(folder, name);
  if (!(await checkPlace(folder, path))) return undefined;
  const bytes = await readFileAt(path, mostBytes);
  if (bytes === "none") return undefined;
  if (bytes === "other") throw notPlain(path, await entryAt(path));
  if (bytes === "too-large")
    throw bad(
      `${path} is larger than 1 MB, which is the limit for a task file.`,
      `Let the agent shorten it. ${moveAway(path)}`,
    );
  try {
    return decoder.decode(bytes);
  } catch {
    throw bad(`${path} is not text in UTF-8.`, `Let the agent write it again as UTF-8. ${moveAway(path)}`);
  }
}

/** False where nothing is there. An agent may have put a link there, to be written or read through. */
async function checkPlace(folder: string, path: string): Promise<boolean> {
  const above = dirname(path);
  if (above !== folder) {
    const found = await entryAt(above);
    if (found === undefined) return false;
    if (!found.isDirectory()) throw bad(`${above} must be a folder, but it is ${kindOfEntry(found)}.`, moveAway(above));
  }
  const found = await entryAt(path);
  if (found !== undefined && !found.isFile()) throw notPlain(path, found);
  return found !== undefined;
}

/** A file of the repository's own is never overwritten. */
export function ofRepository(folder: string, name: string): Fault {
  return bad(`${name} in ${folder} belongs to the repository.`, `Use ${otherTaskFile} instead.`);
}

function unless(code: string): (error: NodeJS.ErrnoException) => undefined {
  return (error) => {
    if (error.code !== code) throw error;
    return undefined;
  };
}

function notPlain(path: string, found: Stats | undefined): Fault {
  if (found?.isFile())
    return bad(
      `${path} may not be read by the user of the daemon.`,
      `Give the permission back: chmod u+rw ${quoted(path)}`,
    );
  return bad(`${path} must be a plain file, but it is ${kindOfEntry(found)}.`, moveAway(path));
}

function kindOfEntry(found: Stats | undefined): string {
  if (found?.isSymbolicLink()) return "a symbolic link";
  if (found?.isDirectory()) return "a folder";
  if (found?.isFIFO()) return "a named pipe";
  if (found?.isSocket()) return "a socket";
  if (found?.isBlockDevice() || found?.isCharacterDevice()) return "a device";
  return found?.isFile() ? "a file" : "something else";
}

/** Nothing is deleted: what an agent wrote may be needed, also where it cannot be read as a task file. */
function moveAway(path: string): string {
  return `Move it away, and it is written again from what is stored:\nmv ${quoted(path)} ${quoted(`${path}.moved`)}`;
}

function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function bad(message: string, hint: string): Fault {
  return new Fault(badTaskFile, message, { hint });
}
