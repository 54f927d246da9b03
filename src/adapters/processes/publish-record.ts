import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

let drafts = 0;

/** Writes a record for good, unless there is one of that name: then that one stays, and the answer is false. */
export function publishRecord(folder: string, name: string, text: string): boolean {
  return withDraft(folder, name, text, linkFirst);
}

/** The same, in the place of the one that is there. */
export function replaceRecord(folder: string, name: string, text: string): void {
  withDraft(folder, name, text, renameSync);
}

/** Of several that want the name at once one gets it, and nobody ever sees half a file. */
export function linkFirst(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** A name that nobody else writes to. */
export function draftOf(folder: string, name: string): string {
  drafts += 1;
  return join(folder, `.${name}.${process.pid}-${drafts}-${process.hrtime.bigint().toString(36)}`);
}

/** Makes the names in a folder last. */
export function syncFolder(folder: string): void {
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

function withDraft<Result>(
  folder: string,
  name: string,
  text: string,
  publish: (draft: string, file: string) => Result,
): Result {
  const draft = draftOf(folder, name);
  try {
    writeFileSync(draft, text, { flag: "wx", mode: 0o600, flush: true });
    const result = publish(draft, join(folder, name));
    syncFolder(folder);
    return result;
  } finally {
    rmSync(draft, { force: true });
  }
}
