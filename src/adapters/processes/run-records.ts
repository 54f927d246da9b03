import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Fault } from "../../fault.ts";
import type { ProcessEnd, ProcessIdentity, ProcessOrder } from "../../ports/processes.ts";

/**
 * What is in the folder of a run, each file whole or not there at all:
 *
 * - `order.json`: what the supervisor is to do. It goes when the program runs: it has the whole environment in it.
 * - `input`: what the program reads.
 * - `claim`: from here on the program may have been started, and nobody else may start it.
 * - `process.json`: who the program is.
 * - `kill`: somebody of ours wants it to end.
 * - `output`, `errors`: what it prints, straight from the program.
 * - `end.json`: how it ended.
 * - `trouble`: what the supervisor itself had to complain about.
 */
export const orderFile = "order.json";
export const inputFile = "input";
export const claimFile = "claim";
export const processFile = "process.json";
export const killFile = "kill";
export const endFile = "end.json";
export const troubleFile = "trouble";
/** Beside the folders of the runs: a file for each that goes on, touched when there is something new about it. */
export const newsFolder = ".news";
export const newsOf = (folder: string) => join(dirname(folder), newsFolder, basename(folder));

export interface OrderRecord extends Omit<ProcessOrder, "input"> {
  /** Only this run's processes have it in their environment. */
  readonly mark: string;
  /** Milliseconds between the gentle signal and the other one. */
  readonly grace: number;
}

export interface ClaimRecord {
  readonly supervisor: ProcessIdentity;
  readonly mark: string;
  readonly at: number;
}

export interface ProcessRecord extends ClaimRecord {
  readonly identity: ProcessIdentity;
}

export const readOrder = (folder: string) => readRecord<OrderRecord>(folder, orderFile, ["argv", "env", "mark"]);
export const readClaim = (folder: string) => readRecord<ClaimRecord>(folder, claimFile, ["supervisor", "mark"]);
export const readProcess = (folder: string) =>
  readRecord<ProcessRecord>(folder, processFile, ["identity", "supervisor", "mark"]);

export function readEnd(folder: string): ProcessEnd | undefined {
  const end = readRecord<ProcessEnd>(folder, endFile, ["cause"]);
  // What is undefined does not come through JSON as such.
  return end && { ...end, kind: "ended", code: end.code ?? undefined };
}

/** Undefined where it is not there, or was damaged by somebody: what it said is then as unknown as if it were not. */
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

/** What is no plain file is as good as not there: to read from a pipe or a device may never end. */
function readIfThere(path: string): string | undefined {
  let handle: number | undefined;
  try {
    handle = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const found = fstatSync(handle);
    return found.isFile() && found.size <= mostBytes ? readFileSync(handle, "utf8") : undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP" || code === "ENXIO") return undefined;
    throw new Fault("processes.unreadable", `${path} cannot be read (${code}).`, {
      retry: "later",
      hint: "Look at the folder's permissions and at the disk.",
      cause: error,
    });
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

const mostBytes = 64 * 1024 ** 2;
