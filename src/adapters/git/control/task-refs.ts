import type { TaskRef } from "../../../ports/control-repository.ts";
import { checkCommit, checkRef } from "../check-names.ts";
import type { ControlGit } from "./control-git.ts";
import { isAncestor } from "./read-history.ts";

const folders = ["tasks", "own", "made", "pushed", "pushing", "kept"].map((name) => `refs/signalbox/${name}/`);

/** What was salvaged is not among them: only a person forgets that. */
export async function listTaskRefs(control: ControlGit): Promise<readonly TaskRef[]> {
  const format = "--format=%(objectname) %(refname)";
  const { stdout } = await control.git(["for-each-ref", format, "--end-of-options", ...folders]);
  const lines = stdout.toString("utf8").split("\n");
  return lines.flatMap((line) => {
    const [commit = "", ref = ""] = line.split(" ");
    const [, , , task = ""] = ref.split("/");
    return task === "" ? [] : [{ ref, task, commit }];
  });
}

/** Deletes those refs whose commits one of the others contains. Gives how many. */
export async function dropContainedRefs(
  control: ControlGit,
  refs: readonly TaskRef[],
  into: readonly string[],
): Promise<number> {
  const lines: string[] = [];
  for (const { ref, commit } of refs) {
    if (!folders.some((folder) => checkRef(ref).startsWith(folder))) continue;
    for (const tip of into) {
      if (!(await isAncestor(control, checkCommit(commit), checkCommit(tip)))) continue;
      lines.push(`delete ${ref} ${commit}\n`);
      break;
    }
  }
  if (lines.length === 0) return 0;
  await control.git(["update-ref", "--no-deref", "--stdin"], { input: Buffer.from(lines.join("")), writes: true });
  return lines.length;
}
