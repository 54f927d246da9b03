import type { Tails } from "../../ports/tail.ts";

/** Files of lines in memory, and those who read them as they grow. */
export interface MemoryTails extends Tails {
  append(path: string, line: string): void;
}

export function createMemoryTails(): MemoryTails {
  const files = new Map<string, string[]>();
  const listeners = new Map<string, Set<() => void>>();
  return {
    append(path, line) {
      files.set(path, [...(files.get(path) ?? []), line]);
      for (const listener of [...(listeners.get(path.slice(0, path.lastIndexOf("/"))) ?? [])]) listener();
    },
    open(path, position) {
      let offset = position?.offset ?? 0;
      return {
        async read() {
          const lines = (files.get(path) ?? []).slice(offset).map((text) => ({ text, isCut: false }));
          offset += lines.length;
          return { lines, position: { offset, before: "" }, hasMore: false, isAnew: false };
        },
      };
    },
    watch(folder, listener) {
      const own = listeners.get(folder) ?? new Set();
      listeners.set(folder, own.add(listener));
      return () => void own.delete(listener);
    },
  };
}
