import { Fault } from "../../../fault.ts";
import { checkCommit, checkPart, noCommit } from "../check-names.ts";
import { syncRef } from "../lasting.ts";
import type { ControlGit } from "./control-git.ts";

/** Keeps a commit reachable that some ref is about to leave, as `refs/signalbox/kept/<owner>/<n>`. */
export async function keep(control: ControlGit, owner: string, commit: string): Promise<void> {
  const folder = `refs/signalbox/kept/${checkPart(owner)}`;
  checkCommit(commit);
  for (;;) {
    const containing = ["for-each-ref", "--count=1", `--contains=${commit}`, "--end-of-options", folder];
    if ((await control.git(containing)).stdout.length > 0) return;
    const { stdout } = await control.git(["for-each-ref", "--format=%(refname)", "--end-of-options", folder]);
    const taken = stdout.toString("utf8").matchAll(/\/(\d+)$/gm);
    const next = Math.max(0, ...[...taken].map(([, number]) => Number(number))) + 1;
    try {
      const created = [`${folder}/${next}`, commit, noCommit(commit)];
      await control.git(["update-ref", "--no-deref", "-m", "kept", "--end-of-options", ...created], { writes: true });
      return await syncRef(control.folder, `${folder}/${next}`);
    } catch (error) {
      // Somebody else took the number.
      if (!(error instanceof Fault) || error.code !== "git.ref-moved") throw error;
    }
  }
}
