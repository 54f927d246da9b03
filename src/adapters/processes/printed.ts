import { fstatSync, fsyncSync, ftruncateSync, openSync } from "node:fs";
import { join } from "node:path";

/**
 * The files that a program prints to. It has them itself, without anybody in between: so nothing is lost and nothing is
 * held up when its supervisor dies, and only the limit has to be looked after from outside.
 */
export interface Printed {
  readonly descriptors: readonly [output: number, errors: number];
  /** Bytes of both together. */
  size(): number;
  /** Somebody has deleted them. */
  isGone(): boolean;
  /** Cuts them down to what they may be together at most. */
  trim(limit: number): void;
  /** Makes what is in them last. */
  sync(): void;
}

export function openPrinted(folder: string): Printed {
  const open = (name: string) => openSync(join(folder, name), "a", 0o600);
  const [output, errors] = [open("output"), open("errors")];
  const sizeOf = (descriptor: number) => fstatSync(descriptor).size;
  const cut = (descriptor: number, most: number) => {
    if (sizeOf(descriptor) > most) ftruncateSync(descriptor, most);
  };
  return {
    descriptors: [output, errors],
    size: () => sizeOf(output) + sizeOf(errors),
    isGone: () => fstatSync(output).nlink === 0,
    trim(limit) {
      const kept = Math.min(sizeOf(output), limit - Math.min(sizeOf(errors), Math.floor(limit / 2)));
      cut(output, kept);
      cut(errors, limit - kept);
    },
    sync() {
      for (const each of [output, errors]) fsyncSync(each);
    },
  };
}
