import type { TailLine } from "../../ports/tail.ts";

export interface LineCutter {
  /** The lines that this piece completes. */
  push(chunk: Buffer): readonly TailLine[];
  /** Bytes since the last complete line, also those that were not kept. */
  pending(): number;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Cuts bytes into lines. Of a line that is longer, `longest` bytes are kept, so that nobody can fill the memory. */
export function createLineCutter(longest: number): LineCutter {
  let kept: Buffer[] = [];
  let keptSize = 0;
  let pending = 0;
  const keep = (piece: Buffer) => {
    pending += piece.length;
    const part = piece.subarray(0, longest - keptSize);
    if (part.length === 0) return;
    // The piece is part of something larger, which would stay in memory with it.
    kept.push(Buffer.from(part));
    keptSize += part.length;
  };
  const take = (last: Buffer): TailLine => {
    const isCut = pending + last.length > longest;
    const whole = pending === 0 ? last.subarray(0, longest) : joined(last);
    [kept, keptSize, pending] = [[], 0, 0];
    const end = !isCut && whole.at(-1) === carriageReturn ? whole.length - 1 : whole.length;
    return { text: whole.toString("utf8", 0, end), isCut };
  };
  const joined = (last: Buffer) => {
    keep(last);
    return Buffer.concat(kept);
  };
  return {
    push(chunk) {
      const lines: TailLine[] = [];
      let from = 0;
      for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, from)) {
        lines.push(take(chunk.subarray(from, at)));
        from = at + 1;
      }
      if (from < chunk.length) keep(chunk.subarray(from));
      return lines;
    },
    pending: () => pending,
  };
}
