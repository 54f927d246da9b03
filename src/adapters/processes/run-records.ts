import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { draftOf, linkFirst, syncFolderSync } from "../../durable-file.ts";
import { Fault } from "../../fault.ts";
import type { ProcessEnd, ProcessIdentity, ProcessOrder } from "../../ports/processes.ts";

// The files in a run's folder, by which the daemon and the run's supervisor talk to each other.

/**
 * The files that a program prints to. The program writes to them directly, so no output is lost or blocked when its
 * supervisor dies; only the limit must be enforced from outside.
 */
export interface Printed {
  readonly descriptors: readonly [output: number, errors: number];
  /** The bytes of both files together. */
  size(): number;
  /** Whether the files were deleted. */
  isGone(): boolean;
  /** Truncates the files so that together they fit the limit. */
  trim(limit: number): void;
  /** Fsyncs both files. */
  sync(): void;
}

export function openPrinted(folder: string): Printed {
  const open = (name: string) => openSync(join(folder, name), "a", 0o600);
  const [output, errors] = [open("output"), open("errors")];
  const sizeOf = (descriptor: number) => fstatSync(descriptor).size;
  const cut = (descriptor: number, most: number) => {
    if (sizeOf(descriptor) > most) ftruncateSync(descriptor, most);
  };
  return {
    descriptors: [output, errors],
    size: () => sizeOf(output) + sizeOf(errors),
    isGone: () => fstatSync(output).nlink === 0,
    trim(limit) {
      const kept = Math.min(sizeOf(output), limit - Math.min(sizeOf(errors), Math.floor(limit / 2)));
      cut(output, kept);
      cut(errors, limit - kept);
    },
    sync() {
      for (const each of [output, errors]) fsyncSync(each);
    },
  };
}

/** Disk space reserved for one record, so that it can be written when the disk is full. */
export interface ReservedRecord {
  /** Writes the record durably. False if a record with that name exists already; that one stays. */
  publish(value: unknown): boolean;
  /** Frees the space. */
  release(): void;
}

/** The maximum size of a record. */
const maxRecord = 4_096;

export function reserveRecord(folder: string, name: string): ReservedRecord {
  const draft = draftOf(join(folder, name));
  const descriptor = openSync(draft, "wx", 0o600);
  let isOpen = true;
  const release = () => {
    if (!isOpen) return;
    isOpen = false;
    closeSync(descriptor);
    rmSync(draft, { force: true });
  };
  try {
    writeFileSync(descriptor, " ".repeat(maxRecord));
    fsyncSync(descriptor);
  } catch (error) {
    release();
    throw error;
  }
  return {
    publish(value) {
      const text = Buffer.from(`${JSON.stringify(value)}\n`);
      writeSync(descriptor, text, 0, text.length, 0);
      ftruncateSync(descriptor, text.length);
      fsyncSync(descriptor);
      const isFirst = linkFirst(draft, join(folder, name));
      syncFolderSync(folder);
      release();
      return isFirst;
    },
    release,
  };
}

/**
 * The files in the folder of a run; each is complete or missing:
 *
 * - `order.json`: the supervisor's order. It is deleted when the program runs, because it contains the environment.
 * - `input`: the program's standard input.
 * - `claim`: once it exists, the program may have been started, and no other supervisor may start it.
 * - `process.json`: the program's identity.
 * - `kill`: the daemon has asked for the run's end.
 * - `output`, `errors`: what the program prints.
 * - `end.json`: how the program ended.
 * - `trouble`: errors of the supervisor itself.
 */
export const orderFile = "order.json";
export const inputFile = "input";
export const claimFile = "claim";
export const processFile = "process.json";
export const killFile = "kill";
export const endFile = "end.json";
export const troubleFile = "trouble";
/** Beside the runs' folders: a file for each running one, touched when there is news about it. */
export const newsFolder = ".news";
export const newsOf = (folder: string) => join(dirname(folder), newsFolder, basename(folder));

export interface OrderRecord extends Omit<ProcessOrder, "input"> {
  /** A random value that only this run's processes have in their environment. */
  readonly mark: string;
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly grace: number;
}

export interface ClaimRecord {
  readonly supervisor: ProcessIdentity;
  readonly mark: string;
  readonly at: number;
}

interface ProcessRecord extends ClaimRecord {
  readonly identity: ProcessIdentity;
}

export const readOrder = (folder: string) => readRecord<OrderRecord>(folder, orderFile, ["argv", "env", "mark"]);
export const readClaim = (folder: string) => readRecord<ClaimRecord>(folder, claimFile, ["supervisor", "mark"]);
export const readProcess = (folder: string) =>
  readRecord<ProcessRecord>(folder, processFile, ["identity", "supervisor", "mark"]);

export function readEnd(folder: string): ProcessEnd | undefined {
  const end = readRecord<ProcessEnd>(folder, endFile, ["cause"]);
  // JSON has no undefined.
  return end && { ...end, kind: "ended", code: end.code ?? undefined };
}

/** Undefined if the record is missing or damaged. */
function readRecord<Record extends object>(
  folder: string,
  name: string,
  keys: readonly (keyof Record)[],
): Record | undefined {
  const text = readIfThere(join(folder, name));
  if (text === undefined) return undefined;
  try {
    const value = JSON.parse(text) as Record | null;
    return typeof value === "object" && value !== null && keys.every((key) => key in value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Anything but a plain file counts as missing: reading from a pipe or a device may never end. */
function readIfThere(path: string): string | undefined {
  let handle: number | undefined;
  try {
    handle = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const found = fstatSync(handle);
    return found.isFile() && found.size <= maxBytes ? readFileSync(handle, "utf8") : undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP" || code === "ENXIO") return undefined;
    throw new Fault("processes.unreadable", `${path} cannot be read (${code}).`, {
      retry: "later",
      hint: "Check the folder's permissions and the disk.",
      cause: error,
    });
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

const maxBytes = 64 * 1024 ** 2;
