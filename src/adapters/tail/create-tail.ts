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
  /** It is not read where a link has taken its place. */
  readonly isOwn?: boolean;
}

const mebibyte = 1024 * 1024;
/** Bytes and lines for one call: enough to be quick, and little enough to let others go on, however short the lines are. */
const portion = mebibyte;
const mostLines = 10_000;
const chunkSize = mebibyte / 16;
/** How many bytes tell one file from another. Lines of transcripts have times and ids in them. */
const witnessed = 64;
const beginning: TailPosition = { offset: 0, before: "" };

export function createTail(
  path: string,
  { position = beginning, longest = 16 * mebibyte, isOwn = false }: TailOptions = {},
): Tail {
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
      const nothing = { lines: [], position: complete, hasMore: false, isAnew: false };
      const handle = await openIfThere(path, isOwn);
      if (handle === undefined) return nothing;
      if (typeof handle === "string") return { ...nothing, trouble: `${path} ${handle}.` };
      try {
        // A device gives for ever, and a pipe what nobody can read again.
        if (!(await handle.stat()).isFile()) return { ...nothing, trouble: `${path} is no plain file.` };
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
          if (reached >= until || lines.length >= mostLines) break;
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

/** Undefined where it is not there; what is wrong with it where somebody has seen to it that it cannot be read. */
async function openIfThere(path: string, isOwn: boolean): Promise<FileHandle | string | undefined> {
  try {
    // Of what is no file, such as a pipe, nobody must wait for the other end.
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
  ENXIO: "is no plain file",
  ENODEV: "is no plain file",
  EACCES: "may not be read by us",
  EPERM: "may not be read by us",
};

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
