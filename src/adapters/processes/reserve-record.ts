import { closeSync, fsyncSync, ftruncateSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { draftOf, linkFirst, syncFolder } from "./publish-record.ts";

/** Room for one record, so that it can be written when the disk is full. */
export interface ReservedRecord {
  /** Writes it for good. False where there is a record of that name already; that one stays. */
  publish(value: unknown): boolean;
  /** Gives the room back. */
  release(): void;
}

/** A record never gets longer. */
const room = 4_096;

export function reserveRecord(folder: string, name: string): ReservedRecord {
  const draft = draftOf(folder, name);
  const descriptor = openSync(draft, "wx", 0o600);
  let isOpen = true;
  const release = () => {
    if (!isOpen) return;
    isOpen = false;
    closeSync(descriptor);
    rmSync(draft, { force: true });
  };
  try {
    writeFileSync(descriptor, " ".repeat(room));
    fsyncSync(descriptor);
  } catch (error) {
    release();
    throw error;
  }
  return {
    publish(value) {
      const text = Buffer.from(`${JSON.stringify(value)}\n`);
      writeSync(descriptor, text, 0, text.length, 0);
      ftruncateSync(descriptor, text.length);
      fsyncSync(descriptor);
      const isFirst = linkFirst(draft, join(folder, name));
      syncFolder(folder);
      release();
      return isFirst;
    },
    release,
  };
}
