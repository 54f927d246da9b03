import { watch } from "node:fs";
import { open } from "node:fs/promises";
import type { Tail, Tails } from "../../ports/tail.ts";

const chunk = 256 * 1024;
/** What is longer is no line of anybody's. */
const longest = 10 * 1024 ** 2;

export const fileTails: Tails = {
  open: openTail,
  watch(folder, listener) {
    try {
      const watcher = watch(folder, { persistent: false }, listener);
      // The folder is gone; whoever looks from time to time finds out.
      watcher.on("error", () => watcher.close());
      return () => watcher.close();
    } catch {
      return () => {};
    }
  },
};

function openTail(path: string, from: number): Tail {
  let at = from;
  let position = from;
  let rest: Buffer = Buffer.alloc(0);
  return {
    position: () => position,
    async read() {
      const handle = await open(path, "r").catch(() => undefined);
      if (handle === undefined) return [];
      const lines: string[] = [];
      try {
        const { size } = await handle.stat();
        // It was replaced by a shorter one, or cut: what is there now is new.
        if (size < at) [at, position, rest] = [0, 0, Buffer.alloc(0)];
        const buffer = Buffer.alloc(Math.min(chunk, Math.max(0, size - at)));
        while (at < size) {
          const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
          if (bytesRead === 0) break;
          at += bytesRead;
          rest = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
          for (let stop = rest.indexOf(10); stop >= 0; stop = rest.indexOf(10)) {
            lines.push(rest.toString("utf8", 0, stop));
            position += stop + 1;
            rest = rest.subarray(stop + 1);
          }
          if (rest.length > longest) [position, rest] = [at, Buffer.alloc(0)];
        }
        rest = Buffer.from(rest);
      } finally {
        await handle.close();
      }
      return lines;
    },
  };
}
