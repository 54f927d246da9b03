import { closeSync, fchmodSync, fsyncSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { Fault } from "../fault.ts";
import type { Places } from "./places.ts";
import { syncFolder } from "./publish-file.ts";

/** Whether the user has said that a repository's workflow with this hash may run. */
export function isTrusted(places: Pick<Places, "trusted">, hash: string): boolean {
  return trustedHashes(readTrusted(places.trusted)).has(hash);
}

/** Remembers that a workflow may run. The note is for people who read the file. The home must be there. */
export function trust(places: Pick<Places, "trusted">, hash: string, note: string): void {
  if (!/^[0-9a-f]{64}$/.test(hash)) {
    throw new Fault("usage", `"${hash}" is not the hash of a workflow.`, {
      hint: "To see hashes: signalbox workflow list --json",
    });
  }
  const before = readTrusted(places.trusted);
  if (trustedHashes(before).has(hash)) return;
  // Whoever was interrupted has left half a line; what is written now needs one of its own.
  const start = before === "" || before.endsWith("\n") ? "" : "\n";
  append(places.trusted, `${start}${hash} ${note.replace(/[\p{Cc}\s]+/gu, " ").trim()}\n`);
}

function trustedHashes(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/^([0-9a-f]{64})(?: |$)/gm)].map(([, hash = ""]) => hash));
}

function readTrusted(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return "";
    throw new Fault("unreadable", `${file} cannot be read (${code}).`, {
      hint: "Look at the file's permissions. It has the workflows that you trust.",
      cause: error,
    });
  }
}

function append(file: string, line: string): void {
  try {
    const descriptor = openSync(file, "a", 0o600);
    try {
      fchmodSync(descriptor, 0o600);
      writeFileSync(descriptor, line);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    syncFolder(dirname(file));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Fault("unwritable", `${file} cannot be written (${code}).`, {
      hint: "Look at SIGNALBOX_HOME, at the folder's permissions and at the free space.",
      cause: error,
    });
  }
}
