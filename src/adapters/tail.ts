import { constants, watch } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { Fault } from "../fault.ts";
import type { Tail, TailLine, TailPosition, Tails } from "../ports/tail.ts";
import { createLineCutter } from "./lines.ts";

interface TailOptions {
  /** The position of an earlier tail; by default the beginning. */
  readonly position?: TailPosition;
  /** The maximum bytes kept of a line. */
  readonly maxLine?: number;
  /** The file is our own: a link in its place is not read. */
  readonly isOwn?: boolean;
}

const mebibyte = 1024 * 1024;
/** Bytes and lines per call: enough to be fast, and few enough not to block other work. */
const portion = mebibyte;
const maxLines = 10_000;
const chunkSize = mebibyte / 16;
/** How many bytes identify a file. Lines of transcripts contain times and ids. */
const witnessSize = 64;
const beginning: TailPosition = { offset: 0, before: "" };

export function createTail(
  path: string,
  { position = beginning, maxLine = 16 * mebibyte, isOwn = false }: TailOptions = {},
): Tail {
  let cutter = createLineCutter(maxLine);
  let complete = position;
  /** How far the file was read, possibly beyond the last complete line, and the last bytes before that. */
  let reached = position.offset;
  let witness: Buffer = Buffer.from(position.before, "hex");

  const startAnew = () => {
    cutter = createLineCutter(maxLine);
    complete = beginning;
    reached = 0;
    witness = Buffer.alloc(0);
  };
  const takeIn = (chunk: Buffer): readonly TailLine[] => {
    const lines = cutter.push(chunk);
    reached += chunk.length;
    if (lines.length > 0) {
      const part = chunk.subarray(0, chunk.length - cutter.pending());
      complete = { offset: reached - cutter.pending(), before: endOf(witness, part).toString("hex") };
    }
    witness = endOf(witness, chunk);
    return lines;
  };

  return {
    async read() {
      const nothing = { lines: [], position: complete, hasMore: false, isAnew: false };
      const handle = await openIfThere(path, isOwn);
      if (handle === undefined) return nothing;
      if (typeof handle === "string") return { ...nothing, trouble: `${path} ${handle}.` };
      try {
        // A device may be endless, and a pipe cannot be read twice.
        if (!(await handle.stat()).isFile()) return { ...nothing, trouble: `${path} is not a plain file.` };
        let chunk = await readAt(handle, reached - witness.length, chunkSize);
        const isAnew = !chunk.subarray(0, witness.length).equals(witness);
        if (isAnew) {
          startAnew();
          chunk = await readAt(handle, 0, chunkSize);
        }
        chunk = chunk.subarray(witness.length);
        const until = reached + portion;
        const lines: TailLine[] = [];
        while (chunk.length > 0) {
          for (const line of takeIn(chunk)) lines.push(line);
          if (reached >= until || lines.length >= maxLines) break;
          chunk = await readAt(handle, reached, chunkSize);
        }
        return { lines, position: complete, hasMore: chunk.length > 0, isAnew };
      } catch (error) {
        throw unreadable(path, error);
      } finally {
        await handle.close();
      }
    },
  };
}

/** Undefined if the file is missing; a reason if it cannot be opened as a plain file. */
async function openIfThere(path: string, isOwn: boolean): Promise<FileHandle | string | undefined> {
  try {
    // Non-blocking: opening a pipe must not wait for its other end.
    const flags = constants.O_RDONLY | constants.O_NONBLOCK | (isOwn ? constants.O_NOFOLLOW : 0);
    return await open(path, flags);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    const trouble = troubles[code];
    if (trouble !== undefined) return trouble;
    throw unreadable(path, error);
  }
}

const troubles: Readonly<Record<string, string>> = {
  ELOOP: "is a link",
  EISDIR: "is a folder",
  ENXIO: "is not a plain file",
  ENODEV: "is not a plain file",
  EACCES: "is not readable by Signalbox",
  EPERM: "is not readable by Signalbox",
};

async function readAt(handle: FileHandle, from: number, size: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(size);
  const { bytesRead } = await handle.read(buffer, 0, size, from);
  return buffer.subarray(0, bytesRead);
}

function endOf(before: Buffer, chunk: Buffer): Buffer {
  return Buffer.concat([before, chunk.subarray(-witnessSize)]).subarray(-witnessSize);
}

function unreadable(path: string, error: unknown): Fault {
  const { code } = error as NodeJS.ErrnoException;
  return new Fault("tail.unreadable", `${path} cannot be read (${code}).`, {
    retry: "later",
    hint: "Check its permissions.",
    cause: error,
  });
}

export const fileTails: Tails = {
  open: (path, position, isOwn = false) => createTail(path, { isOwn, ...(position === undefined ? {} : { position }) }),
  watch(folder, listener) {
    try {
      const watcher = watch(folder, { persistent: false }, listener);
      // The folder is gone; callers also poll.
      watcher.on("error", () => watcher.close());
      return () => watcher.close();
    } catch {
      return () => {};
    }
  },
};
