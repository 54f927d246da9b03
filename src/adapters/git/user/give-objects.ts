import { Fault } from "../../../fault.ts";
import type { ControlGit } from "../control/control-git.ts";
import { fetchFlags, fromControl } from "../control/fetch-into.ts";
import { manyObjects, packCommit } from "../control/pack-commit.ts";
import type { GitPlace } from "../git-runner.ts";
import { listRefs } from "../list-refs.ts";

/**
 * Brings a commit and what it needs into the user's repository, and moves nothing there. A merge is a few objects, and
 * what it merges is there: two processes do it. Everything else is fetched.
 */
export async function giveObjects(
  control: ControlGit,
  place: GitPlace,
  commit: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (await areGiven(control, place, commit, signal)) return;
  await control.run(place, ["fetch", ...fetchFlags, ...fromControl, "--end-of-options", control.folder, commit], {
    protocols: ["file"],
    isLong: true,
    writes: true,
    signal,
  });
}

async function areGiven(
  control: ControlGit,
  place: GitPlace,
  commit: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  // As they were seen there last. Git looks whether what the objects name is there.
  const seen = await listRefs(control.folder, "refs/remotes/user/");
  if (seen === undefined || seen.size === 0) return false;
  try {
    const pack = await packCommit(control, { commit, known: [...seen.values()], signal });
    if (pack === undefined || pack.count === 0 || pack.count >= manyObjects) return false;
    await control.run(place, ["unpack-objects", "-q", "--strict"], { input: pack.bytes, writes: true, signal });
    return true;
  } catch (error) {
    if (error instanceof Fault && error.retry === "never") return false;
    throw error;
  }
}
