import { lstatSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Beside the file, under a name that nobody takes for a ticket, and which tells whose it is. */
export function draftName(path: string, pid: number, random: string): string {
  return `.${basename(path)}.${pid}-${random}.draft`;
}

/** Where the file before ours is kept until it is known that nobody wrote into it. */
export const asideEnding = ".before";

/**
 * Takes away what somebody left beside a file who was killed while replacing it. What has words that the file does not have
 * stays: somebody may have written them at that very moment.
 */
export function sweepDrafts(path: string): void {
  const folder = dirname(path);
  for (const name of readdirSync(folder)) {
    const [, of, pid, ending] = /^\.(.+)\.(\d+)-[0-9a-f]+\.draft(\.before)?$/.exec(name) ?? [];
    if (of !== basename(path) || isAlive(Number(pid))) continue;
    const left = join(folder, name);
    try {
      if (!lstatSync(left).isFile()) continue;
      if (ending === undefined || !hasMore(left, path)) rmSync(left, { force: true });
    } catch {
      // Somebody else is at it, or it may not be touched: it does no harm where it is.
    }
  }
}

/** The status is what we change ourselves. */
function hasMore(left: string, path: string): boolean {
  const [one, other] = [lstatSync(left), lstatSync(path)];
  if (one.ino === other.ino && one.dev === other.dev) return false;
  const known = new Set(readFileSync(path, "utf8").split("\n"));
  return readFileSync(left, "utf8")
    .split("\n")
    .some((line) => !known.has(line) && !line.startsWith("status:"));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
