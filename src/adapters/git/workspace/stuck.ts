import { Fault } from "../../../fault.ts";
import { stuckWorkspace } from "../../../ports/workspaces.ts";
import { shellWord } from "../../../shell-quote.ts";
import { fileName } from "../names.ts";

/** The Fault for an error of removing something from a workspace; undefined for any other error. */
export function stuckIn(folder: string, error: unknown): Fault | undefined {
  if (error instanceof Fault) return error.code === "git.failed" ? stuckByGit(folder, error.message, error) : undefined;
  const { code = "", path, syscall } = error as NodeJS.ErrnoException;
  const isInside = String(path) === folder || String(path).startsWith(`${folder}/`);
  if (!isInside || !codes.includes(code)) return undefined;
  const { text } = fileName(Buffer.from(String(path)));
  return stuck(folder, `${text} cannot be removed: ${syscall} failed with ${code}.`, error);
}

// EBUSY: a disk is mounted there.
const codes = ["EPERM", "EACCES", "EBUSY"];

/** Git only warns of most files that it cannot remove, and leaves them behind. */
export function stuckByGit(folder: string, stderr: string, cause?: unknown): Fault | undefined {
  const [line] =
    /unable to unlink .*: (?:Operation not permitted|Permission denied|Device or resource busy)/.exec(stderr) ?? [];
  return line === undefined ? undefined : stuck(folder, `Git was ${line}.`, cause);
}

function stuck(folder: string, why: string, cause: unknown): Fault {
  return new Fault(stuckWorkspace, `${folder} cannot be emptied. ${why}`, { hint: unstick(folder), cause });
}

/** What a person can do where a file of a folder cannot be removed. */
export function unstick(folder: string): string {
  const word = shellWord(folder);
  return `Files in it may be immutable, or belong to another user, or a disk is mounted there. Allow it: sudo chattr -R -i ${word} (on macOS: sudo chflags -R nouchg ${word})`;
}
