import { Fault } from "../../../fault.ts";
import { distrust, findWorkspace, withObjectsOf } from "../salvage/workspace.ts";
import type { ControlGit } from "./control-git.ts";
import { fsckSeverities } from "./fetch-into.ts";
import { manyObjects, packCommit } from "./pack-commit.ts";
import { unpackAside } from "./unpack-aside.ts";

export interface BroughtIn {
  readonly folder: string;
  readonly commit: string;
  /** Commits that are here, most of which it contains. */
  readonly known: readonly string[];
  readonly signal: AbortSignal | undefined;
}

/**
 * Copies a commit of a workspace with what it needs, without asking the git there, which would take three times as many
 * processes. What arrives is hashed and looked at anew. False where this is not the way.
 */
export async function bringIn(control: ControlGit, { folder, ...order }: BroughtIn): Promise<boolean> {
  const workspace = await findWorkspace(control.run, folder, undefined);
  if (workspace?.source === undefined) return false;
  try {
    const pack = await packCommit(control, { ...order, env: withObjectsOf(workspace), settings: distrust });
    if (pack === undefined) return false;
    const { bytes: input, count } = pack;
    const { signal } = order;
    if (count >= manyObjects)
      await control.git(["index-pack", "--stdin", `--strict=${fsckSeverities}`], {
        input,
        writes: true,
        isLong: true,
        signal,
      });
    else if (count > 0) await unpackAside(control, input, signal);
    return true;
  } catch (error) {
    // Some of it may be missing there, or forbidden: whoever fetches it learns why.
    if (error instanceof Fault && error.retry === "never") return false;
    throw error;
  }
}
