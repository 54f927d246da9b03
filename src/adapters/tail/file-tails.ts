import { watch } from "node:fs";
import type { Tails } from "../../ports/tail.ts";
import { createTail } from "./create-tail.ts";

export const fileTails: Tails = {
  open: (path, position, isOwn = false) => createTail(path, { isOwn, ...(position === undefined ? {} : { position }) }),
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
