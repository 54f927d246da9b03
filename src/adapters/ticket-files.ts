import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { writerOf, writeWhole } from "../durable-file.ts";
import { Fault } from "../fault.ts";
import type { BrokenTicket, Tickets } from "../ports/tickets.ts";
import { oneLine } from "../text.ts";
import { changeTicket, isTicketId, maxIdLength, readTicket, type Ticket } from "../tickets/ticket.ts";

/** The sorted names in a folder; empty if the folder is missing. */
async function listFiles(folder: string): Promise<readonly string[]> {
  try {
    const found = await lstat(folder);
    if (found.isSymbolicLink())
      throw new Fault("ticket.link", `${folder} is a link, and links are not followed.`, {
        hint: "Replace the link with the folder itself.",
      });
    if (!found.isDirectory())
      throw new Fault("ticket.folder", `${folder} is not a folder.`, {
        hint: "Move it away, or replace it with a folder.",
      });
    return (await readdir(folder)).toSorted();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw asFault(error, folder, "read");
  }
}

type FileReading = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: string };

const maxBytes = 1024 * 1024;

/**
 * Undefined if the file is missing. Only plain files are read: a link may lead anywhere, and a pipe may never end.
 * Synchronous: for such small files a round trip to the thread pool takes ten times as long.
 */
function readPlainFile(path: string): FileReading | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, reading);
    const found = fstatSync(descriptor);
    if (!found.isFile()) return { ok: false, problem: "It is not a plain file." };
    if (found.size > maxBytes) return { ok: false, problem: `It has more than ${maxBytes} bytes.` };
    return { ok: true, text: exact.decode(readFileSync(descriptor)) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (code === "ELOOP") return { ok: false, problem: "It is a link, and links are not followed." };
    if (code === "ENXIO") return { ok: false, problem: "It is not a plain file." };
    if (code === "EACCES") return { ok: false, problem: "It is not readable. Check its permissions." };
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") return { ok: false, problem: "It is not valid UTF-8." };
    throw asFault(error, path, "read");
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Replaces a file only if it still has the text `before`; false if it has changed. */
async function replaceFile(path: string, before: string, text: string): Promise<boolean> {
  try {
    return await writeWhole(path, text, { mode: "kept", before });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw asFault(error, path, "written");
  }
}

function asFault(error: unknown, path: string, done: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof Fault || code === undefined) return error;
  return new Fault("ticket.unreachable", `${path} cannot be ${done} (${code}).`, {
    retry: "later",
    hint: "Check the folder's permissions and the free space.",
    cause: error,
  });
}

const reading = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Fails instead of changing any byte. */
const exact = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Deletes drafts that a killed process left beside a file. A draft with lines that the file lacks stays: another
 * program may have written them at that moment.
 */
function sweepDrafts(path: string): void {
  const folder = dirname(path);
  for (const name of readdirSync(folder)) {
    const writer = writerOf(name, basename(path));
    if (writer === undefined || isAlive(writer.pid)) continue;
    const left = join(folder, name);
    try {
      if (!lstatSync(left).isFile()) continue;
      if (!writer.isOld || !hasMore(left, path)) rmSync(left, { force: true });
    } catch {
      // Another process is deleting it, or it cannot be deleted: it does no harm.
    }
  }
}

/** Ignores the status line, which Signalbox itself changes. */
function hasMore(left: string, path: string): boolean {
  const [one, other] = [lstatSync(left), lstatSync(path)];
  if (one.ino === other.ino && one.dev === other.dev) return false;
  const known = new Set(readFileSync(path, "utf8").split("\n"));
  return readFileSync(left, "utf8")
    .split("\n")
    .some((line) => !known.has(line) && !line.startsWith("status:"));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

const ending = ".md";
const maxTries = 5;
const batchSize = 100;

/** The tickets in a folder of files, in the format of `tk`. Neither a linked folder nor a linked file is followed. */
export function ticketFiles(folder: string): Tickets {
  return {
    place: "file",
    async list() {
      const tickets: Ticket[] = [];
      const broken: BrokenTicket[] = [];
      for (const [place, file] of (await listFiles(folder)).entries()) {
        // Thousands of tickets must not block the daemon.
        if (place % batchSize === batchSize - 1) await nextTurn();
        if (!file.endsWith(ending) || file.startsWith(".")) continue;
        const id = file.slice(0, -ending.length);
        const found = isTicketId(id) ? readPlainFile(join(folder, file)) : badName(id);
        // Deleted since the folder was read.
        if (found === undefined) continue;
        const read = found.ok ? readTicket(id, found.text) : found;
        if (read.ok) tickets.push(read.ticket);
        else broken.push({ file: oneLine(file, maxName), problem: read.problem });
      }
      return { tickets, broken };
    },
    async get(id) {
      return (await readOne(folder, id))?.ticket;
    },
    async change(id, change) {
      for (let tries = 0; tries < maxTries; tries++) {
        const found = await readOne(folder, id);
        if (found === undefined) throw missing(folder, id);
        sweepDrafts(found.path);
        const text = changeTicket(found.text, change);
        // If another program has changed the file meanwhile, retry with the new text.
        if (text === found.text || (await replaceFile(found.path, found.text, text)))
          return parsed(found.path, id, text);
      }
      throw new Fault("ticket.changing", `${join(folder, id + ending)} keeps being changed by another program.`, {
        retry: "later",
        hint: "Try again.",
      });
    },
  };
}

/** Of a file's name, in characters. */
const maxName = 200;

function badName(id: string): FileReading {
  const problem = isTicketId(id.slice(0, maxIdLength))
    ? `Its name has more than ${maxIdLength} characters.`
    : "Its name must begin with a letter or digit, and may contain only letters, digits, dots, - and _.";
  return { ok: false, problem };
}

interface Found {
  readonly path: string;
  readonly text: string;
  readonly ticket: Ticket;
}

async function readOne(folder: string, id: string): Promise<Found | undefined> {
  if (!isTicketId(id) || !(await listFiles(folder)).includes(id + ending)) return undefined;
  const path = join(folder, id + ending);
  const found = readPlainFile(path);
  if (found === undefined) return undefined;
  if (!found.ok) throw bad(path, found.problem);
  return { path, text: found.text, ticket: parsed(path, id, found.text) };
}

function parsed(path: string, id: string, text: string): Ticket {
  const read = readTicket(id, text);
  if (!read.ok) throw bad(path, read.problem);
  return read.ticket;
}

function bad(path: string, problem: string): Fault {
  return new Fault("ticket.broken", `${path} cannot be used. ${problem}`, { hint: "Correct the file." });
}

function missing(folder: string, id: string): Fault {
  return new Fault("ticket.missing", `There is no ticket ${JSON.stringify(id)} in ${folder}.`, {
    hint: "Another branch may be checked out there. List the tickets: signalbox ticket list",
  });
}
