import { accessSync, statfsSync, statSync } from "node:fs";
import { shellWord } from "./shell-word.ts";

export interface AccessProblem {
  readonly reason: string;
  /** What to do about it. None of it loses anything. */
  readonly fix: string;
}

/** Why a file or folder cannot be used in this way (`R_OK`, `W_OK`, …); undefined where it can. */
export function accessProblem(path: string, mode: number): AccessProblem | undefined {
  try {
    accessSync(path, mode);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EROFS") {
      return {
        reason: `the file system of ${path} is mounted read-only`,
        fix: "Mount it writable; the system log says why it is not, such as an error of the disk",
      };
    }
    const owner = statSync(path, { throwIfNoEntry: false })?.uid;
    const us = process.getuid?.();
    if (owner !== undefined && us !== undefined && owner !== us) {
      return {
        reason: `${path} belongs to another user (uid ${owner}, and you are ${us})`,
        fix: `Run signalbox as that user, or take it over: sudo chown -R ${us} ${shellWord(path)}`,
      };
    }
    return {
      reason: `the permissions of ${path} forbid it (${code})`,
      fix: `chmod u+rwX ${shellWord(path)}`,
    };
  }
}

/** Bytes that an ordinary user can still write there. */
export function freeSpace(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
