import { join } from "node:path";
import { isObjectId } from "../check-names.ts";
import type { ControlGit } from "../control/control-git.ts";
import type { GitPlace } from "../git-runner.ts";
import type { IndexEntry } from "./draft-index.ts";
import { distrust, type Workspace, withObjectsOf } from "./workspace.ts";

/** Copies what was staged and never committed. What arrives is hashed anew: an object is what its id says, or is refused. */
export async function copyStaged(
  control: ControlGit,
  workspace: Workspace,
  draft: GitPlace & { readonly gitDir: string },
  entries: readonly IndexEntry[],
): Promise<void> {
  const staged = [...new Set(entries.filter(({ mode }) => mode !== "160000").map(({ id }) => id))];
  const missing = await split(control, staged, {});
  const { found } = await split(control, missing.missing, withObjectsOf(workspace));
  if (found.length === 0) return;
  const { stdout } = await control.git(["pack-objects", "-q", "--window=0", join(draft.gitDir, "staged")], {
    input: Buffer.from(found.map((id) => `${id}\n`).join("")),
    env: withObjectsOf(workspace),
    settings: distrust,
    isLong: true,
    writes: true,
  });
  const pack = join(draft.gitDir, `staged-${stdout.toString("latin1").trim()}.pack`);
  await control.git(["index-pack", "--stdin", "--fsck-objects"], { inputFile: pack, isLong: true, writes: true });
}

async function split(
  control: ControlGit,
  ids: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ readonly found: readonly string[]; readonly missing: readonly string[] }> {
  if (ids.length === 0) return { found: [], missing: [] };
  const { stdout } = await control.git(["cat-file", "--batch-check=%(objectname)"], {
    input: Buffer.from(ids.map((id) => `${id}\n`).join("")),
    env,
    settings: distrust,
  });
  const found = new Set(stdout.toString("latin1").split("\n").filter(isObjectId));
  return { found: [...found], missing: ids.filter((id) => !found.has(id)) };
}
