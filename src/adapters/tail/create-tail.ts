import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { Fault } from "../../fault.ts";
import type { Tail, TailLine, TailPosition } from "../../ports/tail.ts";
import { createLineCutter } from "./line-cutter.ts";

export interface TailOptions {
  /** Where an earlier tail had come to; the beginning where nothing is said. */
  readonly position?: TailPosition;
  /** Bytes of a line that are kept. */
  readonly longest?: number;
}

const mebibyte = 1024 * 1024;
/** Bytes for one call: enough to be quick, and little enough to let others go on. */
const portion = 4 * mebibyte;
const smallChunk = mebibyte / 16;
const largeChunk = mebibyte;
/** How many bytes tell one file from another. Lines of transcripts have times and ids in them. */
const witnessed = 64;
const beginning: TailPosition = { offset: 0, before: "" };

export function createTail(path: string, { position = beginning, longest = 16 * mebibyte }: TailOptions = {}): Tail {
  let cutter = createLineCutter(longest);
  let complete = position;
  /** What has been read, which may be more than what is complete, and the end of it. */
  let reached = position.offset;
  let witness: Buffer = Buffer.from(position.before, "hex");

  const startAnew = () => {
    cutter = createLineCutter(longest);
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
      const handle = await openIfThere(path);
      if (handle === undefined) return { lines: [], position: complete, hasMore: false, isAnew: false };
      try {
        let chunk = await readAt(handle, reached - witness.length, smallChunk);
        const isAnew = !chunk.subarray(0, witness.length).equals(witness);
        if (isAnew) {
          startAnew();
          chunk = await readAt(handle, 0, smallChunk);
        }
        chunk = chunk.subarray(witness.length);
        const until = reached + portion;
        const lines: TailLine[] = [];
        while (chunk.length > 0) {
          for (const line of takeIn(chunk)) lines.push(line);
          if (reached >= until) break;
          chunk = await readAt(handle, reached, largeChunk);
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

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    // Of what is no file, such as a pipe, nobody must wait for the other end.
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw unreadable(path, error);
  }
}

async function readAt(handle: FileHandle, from: number, size: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(size);
  const { bytesRead } = await handle.read(buffer, 0, size, from);
  return buffer.subarray(0, bytesRead);
}

function endOf(before: Buffer, chunk: Buffer): Buffer {
  return Buffer.concat([before, chunk.subarray(-witnessed)]).subarray(-witnessed);
}

function unreadable(path: string, error: unknown): Fault {
  const { code } = error as NodeJS.ErrnoException;
  return new Fault("tail.unreadable", `${path} cannot be read (${code}).`, {
    retry: "later",
    hint: "Look at its permissions.",
    cause: error,
  });
}
