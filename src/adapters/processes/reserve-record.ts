import { closeSync, fsyncSync, ftruncateSync, linkSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";

/** Room for one record, so that it can be written when the disk is full. */
export interface ReservedRecord {
  /** Writes it for good. False where there is a record of that name already; that one stays. */
  publish(value: unknown): boolean;
  /** Gives the room back. */
  release(): void;
}

/** A record never gets longer. */
const room = 4_096;
let drafts = 0;

export function reserveRecord(folder: string, name: string): ReservedRecord {
  const draft = join(folder, `.${name}.${process.pid}-${++drafts}-${process.hrtime.bigint().toString(36)}`);
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

/** Writes a record for good, unless there is one of that name: then that one stays, and the answer is false. */
export function publishRecord(folder: string, name: string, text: string): boolean {
  const draft = join(folder, `.${name}.${process.pid}-${++drafts}-${process.hrtime.bigint().toString(36)}`);
  try {
    writeFileSync(draft, text, { flag: "wx", mode: 0o600, flush: true });
    const isFirst = linkFirst(draft, join(folder, name));
    syncFolder(folder);
    return isFirst;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Of several that want the name at once one gets it, and nobody ever sees half a file. */
function linkFirst(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } catch (error) {
    // Some file systems cannot do this for folders.
    if (!["EINVAL", "ENOTSUP"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  } finally {
    closeSync(descriptor);
  }
}
