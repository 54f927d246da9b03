import { type JsonObject, parseObject } from "../json.ts";

interface Line {
  readonly text: string;
  /** The line was longer than the limit: the text is its beginning. */
  readonly isCut: boolean;
}

interface LineCutter {
  /** The lines that this chunk completes, without their line ends (LF or CR LF). */
  push(chunk: Uint8Array): readonly Line[];
  /** The last, unterminated line; empty if there is none. */
  rest(): Line;
  /** Bytes since the last complete line, including those that were not kept. */
  pending(): number;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * Splits chunks of any size into lines. It keeps at most `limit` bytes of a line, so that a program that prints for
 * ever without a line break does not fill the memory.
 */
export function createLineCutter(limit: number): LineCutter {
  let kept: Buffer[] = [];
  let keptSize = 0;
  let pending = 0;
  const keep = (piece: Buffer) => {
    pending += piece.length;
    const part = piece.subarray(0, limit - keptSize);
    if (part.length === 0) return;
    // A copy: the chunk's owner may reuse its memory.
    kept.push(Buffer.from(part));
    keptSize += part.length;
  };
  const take = (last: Buffer): Line => {
    const isCut = pending + last.length > limit;
    const whole = pending === 0 ? last.subarray(0, limit) : joined(last);
    [kept, keptSize, pending] = [[], 0, 0];
    const end = !isCut && whole.at(-1) === carriageReturn ? whole.length - 1 : whole.length;
    return { text: whole.toString("utf8", 0, end), isCut };
  };
  const joined = (last: Buffer) => {
    keep(last);
    return Buffer.concat(kept);
  };
  return {
    push(bytes) {
      const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const lines: Line[] = [];
      let from = 0;
      for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, from)) {
        lines.push(take(chunk.subarray(from, at)));
        from = at + 1;
      }
      if (from < chunk.length) keep(chunk.subarray(from));
      return lines;
    },
    rest: () => take(Buffer.alloc(0)),
    pending: () => pending,
  };
}

interface LineSplitter {
  /** The lines that are now complete, without empty lines and lines that are too long. */
  push(chunk: Uint8Array): readonly string[];
  /** The last, unterminated line; empty if there is none or it is too long. */
  rest(): string;
}

const defaultLimit = 32 * 1024 * 1024;

export function splitLines(limit = defaultLimit): LineSplitter {
  const cutter = createLineCutter(limit);
  const textOf = ({ text, isCut }: Line) => (isCut ? "" : text);
  return {
    push: (chunk) =>
      cutter
        .push(chunk)
        .map(textOf)
        .filter((line) => line !== ""),
    rest: () => textOf(cutter.rest()),
  };
}

interface JsonLines {
  /** The JSON objects in the lines that are now complete. Other lines are ignored. */
  push(chunk: Uint8Array): readonly JsonObject[];
  /** The JSON object in the last, unterminated line. */
  rest(): readonly JsonObject[];
}

export function jsonLines(): JsonLines {
  const lines = splitLines();
  const objectIn = (line: string) => {
    const value = parseObject(line);
    return value === undefined ? [] : [value];
  };
  return { push: (chunk) => lines.push(chunk).flatMap(objectIn), rest: () => objectIn(lines.rest()) };
}
