import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";

export interface Rotation {
  readonly maxBytes: number;
  readonly keep: number;
}

/**
 * Adds lines to the end of a file, all of them or none; throws where that fails. The file is opened each time, so that
 * it may be moved or removed by others. It is put aside first if it would become too large.
 */
export function appendRotating(path: string, lines: Buffer, { maxBytes, keep }: Rotation): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > 0 && size + lines.length > maxBytes) putAside(path, keep);
  const file = openPrivate(path);
  try {
    appendWhole(file, lines);
  } finally {
    closeSync(file);
  }
}

function openPrivate(path: string): number {
  try {
    return openSync(path, "a+", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return openSync(path, "a+", 0o600);
  }
}

function appendWhole(file: number, lines: Buffer): void {
  const { size } = fstatSync(file);
  try {
    if (isTorn(file, size)) writeSync(file, "\n");
    for (let done = 0; done < lines.length; ) done += writeSync(file, lines, done);
  } catch (error) {
    takeBack(file, size);
    throw error;
  }
}

/** Whether we were killed in the middle of a line. */
function isTorn(file: number, size: number): boolean {
  const last = Buffer.alloc(1);
  return size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a;
}

function takeBack(file: number, size: number): void {
  try {
    ftruncateSync(file, size);
  } catch {
    // Half a line stays; the next append begins a new one.
  }
}

function putAside(path: string, keep: number): void {
  const names = [path, ...Array.from({ length: keep }, (_, index) => `${path}.${index + 1}`)];
  try {
    rmSync(names.at(-1) ?? path, { force: true });
    for (let index = keep - 1; index >= 0; index--) move(names[index] ?? path, names[index + 1] ?? path);
  } catch {
    // A file that is too large is better than no log.
  }
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
