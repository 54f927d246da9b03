import { Buffer } from "node:buffer";

/** Text of which the middle is left out where it becomes too long. */
export interface HeadAndTail {
  add(chunk: Uint8Array): void;
  /** Everything, or both ends with a line between them that says how much is missing. What is no UTF-8 is replaced. */
  text(): string;
}

/** Keeps at most `most` bytes, however much is added. */
export function createHeadAndTail(most: number): HeadAndTail {
  const half = Math.floor((most - noteSize) / 2);
  const decoder = new TextDecoder();
  let head = "";
  let headSize = 0;
  let isHeadFull = false;
  let tail: Part[] = [];
  let tailSize = 0;
  let missing = 0;

  const take = (text: string) => {
    const size = Buffer.byteLength(text);
    isHeadFull ||= headSize + size > half;
    if (!isHeadFull) {
      head += text;
      headSize += size;
      return;
    }
    tail.push({ text, size });
    tailSize += size;
    // Dropping from the front costs as much as there is, so it is done seldom.
    if (tailSize > most) drop();
  };
  const drop = () => {
    let first = 0;
    for (; tailSize > half && first < tail.length - 1; first++) {
      const { size } = tail[first] as Part;
      tailSize -= size;
      missing += size;
    }
    tail = tail.slice(first);
  };

  return {
    add(chunk) {
      // Pieces that are much smaller than a half, so that neither end is cut far from its limit.
      const piece = Math.max(1, Math.min(64 * 1024, Math.floor(half / 8)));
      for (let start = 0; start < chunk.length; start += piece) {
        take(decoder.decode(chunk.subarray(start, start + piece), { stream: true }));
      }
    },
    text() {
      take(decoder.decode());
      if (missing > 0 || headSize + tailSize > most) drop();
      const end = tail.map((each) => each.text).join("");
      return missing === 0 ? `${head}${end}` : `${head}\n… ${missing} bytes are left out here …\n${end}`;
    },
  };
}

/** Room for the line in the middle. */
const noteSize = 64;

interface Part {
  readonly text: string;
  readonly size: number;
}
