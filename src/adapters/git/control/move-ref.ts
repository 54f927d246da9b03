import { Fault } from "../../../fault.ts";
import { checkCommit, checkRef, noCommit } from "../check-names.ts";
import { syncRef } from "../lasting.ts";
import type { ControlGit } from "./control-git.ts";
import { keep } from "./keep.ts";
import { knownCommits } from "./known-commits.ts";
import { commitAt, isAncestor, treeOf } from "./read-history.ts";

export async function moveRef(control: ControlGit, ref: string, to: string, from: string | undefined): Promise<void> {
  checkRef(ref);
  if (!knownCommits(control).whole.has(to)) await treeOf(control, to);
  if (from !== undefined && !(await isAncestor(control, checkCommit(from), to))) {
    await keep(control, ownerOf(ref), from);
  }
  const moved = [ref, to, from ?? noCommit(to)];
  try {
    await control.git(["update-ref", "--no-deref", "-m", "moved", "--end-of-options", ...moved], { writes: true });
  } catch (error) {
    // Somebody who was killed right after this moved it already.
    const isThere = isMoved(error) && (await commitAt(control, ref)) === to;
    if (!isThere) throw error;
  }
  await syncRef(control.folder, ref);
}

function isMoved(error: unknown): boolean {
  return error instanceof Fault && error.code === "git.ref-moved";
}

/** Under which name we keep what a ref leaves: the task's id for its ref, some word for others. */
function ownerOf(ref: string): string {
  const last = ref.split("/").at(-1) ?? "";
  return (
    last
      .replaceAll(/[^A-Za-z0-9_-]/g, "-")
      .replace(/^[^A-Za-z0-9]+/, "")
      .slice(0, 100) || "ref"
  );
}
