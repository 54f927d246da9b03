/** What is longer is no line that anybody wants to read: a program may print for ever without a line break. */
const longest = 16 * 1024 * 1024;

export interface LineSplitter {
  /** The lines that are complete now. */
  push(chunk: Uint8Array): readonly string[];
  /** What stands behind the last line break. */
  rest(): string;
}

/** Cuts bytes that come in pieces of any size into lines. A line that is too long is left out. */
export function createLineSplitter(): LineSplitter {
  let pieces: Uint8Array[] = [];
  let size = 0;
  const take = (): string => {
    const line = size > longest ? "" : Buffer.concat(pieces).toString("utf8");
    pieces = [];
    size = 0;
    return line;
  };
  const keep = (piece: Uint8Array) => {
    size += piece.length;
    if (size > longest) pieces = [];
    // A copy: whoever gave it may use the memory again.
    else if (piece.length > 0) pieces.push(Uint8Array.from(piece));
  };
  return {
    push(chunk) {
      const lines: string[] = [];
      let from = 0;
      for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, from)) {
        keep(chunk.subarray(from, end));
        lines.push(take());
        from = end + 1;
      }
      keep(chunk.subarray(from));
      return lines.filter((line) => line !== "");
    },
    rest: take,
  };
}

const lineFeed = 10;
