/** Puts lines together from pieces of any size. What is longer than the limit is left out, so that no line fills the memory. */
export interface LineSplitter {
  /** The lines that are whole now. */
  push(chunk: Uint8Array): readonly string[];
  /** What is left where the last line has no end. */
  rest(): string;
}

const mostInALine = 32 * 1024 * 1024;

export function splitLines(limit: number = mostInALine): LineSplitter {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  let length = 0;
  let isTooLong = false;
  const add = (text: string) => {
    length += text.length;
    isTooLong ||= length > limit;
    if (isTooLong) parts = [];
    else parts.push(text);
  };
  const take = () => {
    const line = parts.join("");
    parts = [];
    length = 0;
    isTooLong = false;
    return line;
  };
  return {
    push(chunk) {
      const [first = "", ...others] = decoder.decode(chunk, { stream: true }).split("\n");
      const lines: string[] = [];
      add(first);
      for (const text of others) {
        if (!isTooLong) lines.push(take());
        else take();
        add(text);
      }
      return lines;
    },
    rest() {
      add(decoder.decode());
      return take();
    },
  };
}
