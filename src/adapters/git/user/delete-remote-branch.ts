import { Fault } from "../../../fault.ts";
import type { RemoteBranchOrder } from "../../../ports/control-repository.ts";
import { branchRef, checkCommit } from "../check-names.ts";
import type { ControlGit } from "../control/control-git.ts";
import { remoteOptions } from "../remote-options.ts";

/** Git itself compares and deletes at once, so that what is pushed in between is seen. */
export async function deleteRemoteBranch(control: ControlGit, order: RemoteBranchOrder): Promise<void> {
  const { remote, branch, expected, signal } = order;
  const ref = branchRef(branch);
  const options = { ...remoteOptions(remote), configuration: "user", signal } as const;
  const { stdout } = await control.git(["ls-remote", "--quiet", "--end-of-options", remote, ref], options);
  // The pattern may also fit the end of a longer name.
  const [at] = stdout
    .toString("utf8")
    .split("\n")
    .flatMap((line) => (line.endsWith(`\t${ref}`) ? [line.slice(0, line.indexOf("\t"))] : []));
  if (at === undefined) return;
  if (at !== expected) {
    throw new Fault(
      "git.ref-moved",
      `The branch ${JSON.stringify(branch)} of the remote is at ${at}, not at ${expected}.`,
      {
        hint: "Somebody has pushed to it; look what is there before it is deleted.",
      },
    );
  }
  const lease = `--force-with-lease=${ref}:${checkCommit(expected)}`;
  await control.git(["push", "--no-verify", "--no-progress", lease, "--end-of-options", remote, `:${ref}`], options);
}
