import { join } from "node:path";
import { Fault } from "../../../fault.ts";
import type { ControlGit } from "../control/control-git.ts";
import { fetchFlags, fromControl, fsckSeverities } from "../control/fetch-into.ts";
import { packCommit } from "../control/pack-commit.ts";
import type { GitPlace } from "../git-runner.ts";
import { lastingCommits, syncAllObjects, syncNames } from "../lasting.ts";
import { listRefs } from "../list-refs.ts";
import { commonFolderOf } from "./git-folders.ts";

/**
 * Brings a commit and what it needs into the user's repository, and moves nothing there. All of it is durable afterwards: what
 * agents and the user have committed there themselves, without an fsync, comes along in one pack with the rest.
 */
export async function giveObjects(
  control: ControlGit,
  place: GitPlace,
  commit: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const objects = join(await commonFolderOf(control.run, place), "objects");
  const lasting = await lastingCommits(control.folder, objects);
  if (lasting.known.length === 0) await syncAllObjects(objects);
  const known = lasting.known.length === 0 ? await seenBranches(control) : lasting.known;
  if (await givePack(control, place, commit, known, signal)) await syncNames(join(objects, "pack"), objects);
  else {
    await control.run(place, ["fetch", ...fetchFlags, ...fromControl, "--end-of-options", control.folder, commit], {
      protocols: ["file"],
      isLong: true,
      writes: true,
      signal,
    });
    await syncAllObjects(objects);
  }
  await lasting.add(commit);
}

/** Makes a commit that is in the user's repository durable, with all that it needs. */
export async function makeLasting(
  control: ControlGit,
  place: GitPlace,
  commit: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const objects = join(await commonFolderOf(control.run, place), "objects");
  const { known } = await lastingCommits(control.folder, objects);
  if (!known.includes(commit)) await giveObjects(control, place, commit, signal);
}

/** As they were seen there last. Git looks whether what the objects name is there. */
async function seenBranches({ folder }: ControlGit): Promise<readonly string[]> {
  return [...((await listRefs(folder, "refs/remotes/user/")) ?? new Map<string, string>()).values()];
}

async function givePack(
  control: ControlGit,
  place: GitPlace,
  commit: string,
  known: readonly string[],
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (known.length === 0) return false;
  try {
    const pack = await packCommit(control, { commit, known, signal });
    if (pack === undefined || pack.count === 0) return false;
    const args = ["index-pack", "--stdin", `--strict=${fsckSeverities}`];
    await control.run(place, args, { input: pack.bytes, writes: true, isLong: true, signal });
    return true;
  } catch (error) {
    if (error instanceof Fault && error.retry === "never") return false;
    throw error;
  }
}
