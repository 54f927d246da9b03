import { Fault } from "../../../fault.ts";
import type { PushOrder } from "../../../ports/control-repository.ts";
import { branchRef, checkCommit } from "../check-names.ts";
import type { ControlGit } from "../control/control-git.ts";
import { keep } from "../control/keep.ts";
import { isAncestor, treeOf } from "../control/read-history.ts";
import { remoteOptions } from "../remote-options.ts";

/** From the control repository, with the user's own keys and passwords. */
export async function pushBranch(control: ControlGit, order: PushOrder): Promise<void> {
  const { remote, branch, commit, expected, isOwn, signal } = order;
  const ref = branchRef(branch);
  await treeOf(control, commit);
  if (isOwn && expected !== undefined) await keepReplaced(control, expected, commit);
  const force = isOwn ? [`--force-with-lease=${ref}:${expected ?? ""}`] : [];
  await control.git(["push", ...pushFlags, ...force, "--end-of-options", remote, `${checkCommit(commit)}:${ref}`], {
    ...remoteOptions(remote),
    configuration: "user",
    signal,
  });
}

/** What the remote is to lose must be here, and stay here. */
async function keepReplaced(control: ControlGit, expected: string, commit: string): Promise<void> {
  try {
    if (!(await isAncestor(control, expected, commit))) await keep(control, "remote", expected);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "git.bad-ref") throw error;
    throw new Fault("git.ref-moved", `The remote's branch is at ${expected}, which was never fetched.`, {
      retry: "later",
      hint: "Sync from the remote first.",
      cause: error,
    });
  }
}

const pushFlags = [
  "--no-verify",
  "--no-follow-tags",
  "--recurse-submodules=no",
  "--no-signed",
  "--no-force-if-includes",
  "--no-progress",
];
