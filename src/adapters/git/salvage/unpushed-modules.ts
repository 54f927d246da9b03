import { join } from "node:path";
import { Fault } from "../../../fault.ts";
import type { FileName } from "../../../ports/git-names.ts";
import { checkCommit } from "../check-names.ts";
import type { ControlGit } from "../control/control-git.ts";
import { fileName, splitNul } from "../file-name.ts";
import { tipsInside } from "./fetch-tips.ts";
import { isRealFolder } from "./salvage-inside.ts";
import { findWorkspace } from "./workspace.ts";

/** Of submodules that are not checked out in the workspace, nobody here can tell. */
export async function unpushedModules(
  control: ControlGit,
  { folder, from, to }: { readonly folder: string; readonly from: string; readonly to: string },
): Promise<readonly FileName[]> {
  const ids = [checkCommit(from), checkCommit(to)];
  const { stdout } = await control.git(["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", ...ids], {
    isLong: true,
  });
  const found: FileName[] = [];
  const parts = splitNul(stdout);
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [, mode, , id = ""] = parts[at]?.toString("latin1").split(" ") ?? [];
    const path = parts[at + 1];
    if (mode === "160000" && path !== undefined && (await isUnpushed(control, folder, path, id)))
      found.push(fileName(path));
  }
  return found;
}

async function isUnpushed(control: ControlGit, folder: string, path: Buffer, commit: string): Promise<boolean> {
  const place = join(folder, path.toString("utf8"));
  if (!isRealFolder(folder, place)) return false;
  try {
    const module = await findWorkspace(control.run, place, undefined);
    if (module?.source === undefined) return false;
    return (await tipsInside(control, module, false, undefined)).isOwn(commit);
  } catch (error) {
    // Salvage reports a repository that git cannot read; this check leaves it out.
    if (error instanceof Fault) return false;
    throw error;
  }
}
