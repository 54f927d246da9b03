import type { Stats } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeWhole } from "../../../durable-file.ts";
import { Fault } from "../../../fault.ts";
import { badTaskFile } from "../../../ports/workspaces.ts";
import { shellWord } from "../../../shell-quote.ts";
import { entryAt } from "../file-entries.ts";
import { readFileAt } from "../git-folder.ts";

export const mainTaskFile = "TASK.md";
export const otherTaskFile = ".signalbox/TASK.md";

/** Only these names may be written or read as a task file, so that a name cannot leave the workspace. */
export function checkTaskFileName(name: string): string {
  if (name === mainTaskFile || /^\.signalbox\/[A-Za-z][A-Za-z0-9_-]{0,99}\.md$/.test(name)) return name;
  throw bad(`${JSON.stringify(name)} is not a valid name for a task file.`, `Use ${mainTaskFile}.`);
}

/** False if the file no longer equals `before`: an agent has written meanwhile, and its text must not be lost. */
export async function writeTaskFile(folder: string, name: string, text: string, before?: string): Promise<boolean> {
  const path = join(folder, name);
  await checkPlace(folder, path);
  return unwritable(path, async () => {
    if (dirname(path) !== folder) await mkdir(dirname(path)).catch(unless("EEXIST"));
    return writeWhole(path, text, before === undefined ? {} : { before });
  });
}

async function unwritable<T>(path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Fault("workspace.unwritable", `${path} cannot be written (${code}).`, {
      hint: "Check the folder's permissions and the free space.",
      cause: error,
    });
  }
}

/** The path of a document. Only plain names: one cannot leave the folder. */
export function documentFileName(name: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,150}\.md$/.test(name)) return `${documents}/${name}`;
  throw bad(`${JSON.stringify(name)} is not a valid name for a document.`, "Hand it over again under another title.");
}

const documents = ".signalbox/documents";

/** Writes a document read-only, unless it is there already. */
export async function writeDocument(folder: string, name: string, text: string): Promise<void> {
  const path = join(folder, name);
  for (const above of [dirname(dirname(path)), dirname(path)]) {
    await checkPlace(folder, join(above, "any"));
    await unwritable(above, () => mkdir(above).catch(unless("EEXIST")));
  }
  const isThere = await checkPlace(folder, path);
  const bytes = isThere ? await readFileAt(path, maxBytes) : "none";
  const isSame = typeof bytes !== "string" && bytes.equals(Buffer.from(text));
  const isWritable = ((entryAt(path)?.mode ?? 0) & 0o222) !== 0;
  if (!isSame || isWritable) await unwritable(path, () => writeWhole(path, text, { mode: 0o444 }));
}

const maxBytes = 1024 * 1024;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

export async function readTaskFile(folder: string, name: string): Promise<string | undefined> {
  const path = join(folder, name);
  if (!(await checkPlace(folder, path))) return undefined;
  const bytes = await readFileAt(path, maxBytes);
  if (bytes === "none") return undefined;
  if (bytes === "other") throw notPlain(path, entryAt(path));
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

/** False if nothing is there. Throws on a link: an agent could use it to make the daemon read or write elsewhere. */
async function checkPlace(folder: string, path: string): Promise<boolean> {
  const above = dirname(path);
  if (above !== folder) {
    const found = entryAt(above);
    if (found === undefined) return false;
    if (!found.isDirectory()) throw bad(`${above} must be a folder, but it is ${kindOfEntry(found)}.`, moveAway(above));
  }
  const found = entryAt(path);
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
    return bad(`The daemon's user may not read ${path}.`, `Restore the permission: chmod u+rw ${shellWord(path)}`);
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

/** Suggests moving the file, not deleting it: an agent's text may be needed even if it is no valid task file. */
function moveAway(path: string): string {
  return `Move it away, and the daemon writes it again from the stored text:\nmv ${shellWord(path)} ${shellWord(`${path}.moved`)}`;
}

function bad(message: string, hint: string): Fault {
  return new Fault(badTaskFile, message, { hint });
}
