import { randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, linkSync, openSync, readFileSync, renameSync, rmSync } from "node:fs";
import { lstat, open, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault } from "../../fault.ts";
import { syncFolder } from "../sync-folder.ts";
import { asideEnding, draftName } from "./sweep-drafts.ts";

/** The names in a folder, in their order; none where it is not there. */
export async function listFiles(folder: string): Promise<readonly string[]> {
  try {
    const found = await lstat(folder);
    if (found.isSymbolicLink())
      throw new Fault("ticket.link", `${folder} is a link, and links are not followed.`, {
        hint: "Put the folder itself there.",
      });
    if (!found.isDirectory()) throw new Fault("ticket.folder", `${folder} is no folder.`, { hint: "Look what it is." });
    return (await readdir(folder)).toSorted();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw asFault(error, folder, "read");
  }
}

export type FileReading =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: string };

const mostBytes = 1024 * 1024;

/**
 * Undefined where there is none. What is no plain file, such as a link or a pipe, may lead anywhere, or never end. It is read
 * at once: to hand something so small to another thread and back takes this one ten times as long.
 */
export function readPlainFile(path: string): FileReading | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, reading);
    const found = fstatSync(descriptor);
    if (!found.isFile()) return { ok: false, problem: "It is no plain file." };
    if (found.size > mostBytes) return { ok: false, problem: `It has more than ${mostBytes} bytes.` };
    return { ok: true, text: exact.decode(readFileSync(descriptor)) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (code === "ELOOP") return { ok: false, problem: "It is a link, and links are not followed." };
    if (code === "ENXIO") return { ok: false, problem: "It is no plain file." };
    if (code === "EACCES") return { ok: false, problem: "It cannot be read; look at its permissions." };
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") return { ok: false, problem: "It is not written in UTF-8." };
    throw asFault(error, path, "read");
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/**
 * Replaces a file that has this text, and no other, for good; false where it has another one by now. The draft lies beside
 * it under a name that nobody takes for a ticket.
 */
export async function replaceFile(path: string, before: string, text: string): Promise<boolean> {
  const draft = join(dirname(path), draftName(path, process.pid, randomBytes(4).toString("hex")));
  try {
    const { mode } = await lstat(path);
    const handle = await open(draft, "wx", mode & 0o777);
    try {
      // What is asked for on opening is cut down by the umask.
      await handle.chmod(mode & 0o777);
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (!swap(path, draft, before)) return false;
    await syncFolder(dirname(path));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw asFault(error, path, "written");
  } finally {
    await rm(draft, { force: true });
  }
}

/** What somebody writes into it at the very moment comes back: the old file is looked at again when the new one is there. */
function swap(path: string, draft: string, before: string): boolean {
  const aside = `${draft}${asideEnding}`;
  try {
    linkSync(path, aside);
    if (textAt(aside) !== before) return false;
    renameSync(draft, path);
    if (textAt(aside) === before) return true;
    renameSync(aside, path);
    return false;
  } finally {
    rmSync(aside, { force: true });
  }
}

function textAt(path: string): string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, reading);
    return fstatSync(descriptor).isFile() ? exact.decode(readFileSync(descriptor)) : undefined;
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function asFault(error: unknown, path: string, done: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof Fault || code === undefined) return error;
  return new Fault("ticket.unreachable", `${path} cannot be ${done} (${code}).`, {
    retry: "later",
    hint: "Look at the folder's permissions and at the free space.",
    cause: error,
  });
}

const reading = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Every byte comes back as it was, or nothing does. */
const exact = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
