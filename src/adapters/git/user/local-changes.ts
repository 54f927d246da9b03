import { sep } from "node:path";
import type { FileName } from "../../../ports/git-names.ts";
import type { ControlGit } from "../control/control-git.ts";
import { entryAt } from "../entry-at.ts";
import { fileName, splitNul } from "../file-name.ts";
import type { GitPlace } from "../git-runner.ts";

export interface LocalChange {
  readonly path: FileName;
  /**
   * changed: other than HEAD has it. missing: it is gone, and only that, which is in nobody's way as git writes it anew.
   * unknown: git does not know what is there.
   */
  readonly state: "changed" | "missing" | "unknown";
  readonly isStaged: boolean;
}

/** Files that two commits have differently, and that are in a worktree not as HEAD has them. */
export async function localChanges(
  control: ControlGit,
  place: GitPlace,
  from: string,
  to: string,
): Promise<readonly LocalChange[]> {
  const [own, files] = await Promise.all([ownChanges(control, place), changedBetween(control, from, to)]);
  return files.flatMap(({ path, isNew }): readonly LocalChange[] => {
    const name = { path: fileName(path) };
    const letters = own.get(path.toString("latin1"));
    if (letters === " D") return [{ ...name, state: "missing", isStaged: false }];
    if (letters !== undefined) return [{ ...name, state: "changed", isStaged: letters[0] !== " " }];
    return isNew && isTaken(place.folder, path, own) ? [{ ...name, state: "unknown", isStaged: false }] : [];
  });
}

async function changedBetween(
  control: ControlGit,
  from: string,
  to: string,
): Promise<readonly { readonly path: Buffer; readonly isNew: boolean }[]> {
  const flags = ["-r", "-z", "--name-status", "--no-renames", "--end-of-options"];
  const { stdout } = await control.git(["diff-tree", ...flags, from, to]);
  const parts = splitNul(stdout);
  return parts.flatMap((path, index) => (index % 2 === 0 ? [] : [{ path, isNew: String(parts[index - 1]) === "A" }]));
}

/** By name, the two letters that git has for index and file. */
async function ownChanges(control: ControlGit, place: GitPlace): Promise<ReadonlyMap<string, string>> {
  const flags = ["--porcelain=v1", "-z", "--untracked-files=no", "--no-renames", "--ignore-submodules=all"];
  const { stdout } = await control.run(place, ["status", ...flags], { isLong: true });
  const lines = splitNul(stdout).map((line) => line.toString("latin1"));
  return new Map(lines.map((line) => [line.slice(3), line.slice(0, 2)]));
}

/** Whether something that git does not know is where a new file, or a folder of it, has to go. */
function isTaken(folder: string, path: Buffer, own: ReadonlyMap<string, string>): boolean {
  const whole = Buffer.concat([Buffer.from(folder + sep), path]);
  const start = Buffer.byteLength(folder + sep);
  for (let at = whole.indexOf("/", start); at !== -1; at = whole.indexOf("/", at + 1)) {
    const above = entryAt(whole.subarray(0, at));
    if (above === undefined) return false;
    if (!above.isDirectory()) return !own.has(whole.subarray(start, at).toString("latin1"));
  }
  return entryAt(whole) !== undefined;
}
