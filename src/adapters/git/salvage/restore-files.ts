import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { Fault } from "../../../fault.ts";
import type { ControlGit } from "../control/control-git.ts";
import { draftsFolder } from "../control/open-control.ts";
import { treeOf } from "../control/read-history.ts";

/** A folder that could not be filled is taken away again, so that the same can be asked once more. */
export async function restoreFiles(control: ControlGit, commit: string, folder: string): Promise<void> {
  const tree = await treeOf(control, commit);
  await makeFolder(folder);
  const drafts = join(control.folder, draftsFolder);
  await mkdir(drafts, { recursive: true });
  const draft = await mkdtemp(join(drafts, "restore-"));
  try {
    const place = { folder, gitDir: control.folder, workTree: folder, configuration: "ours" } as const;
    const options = { env: { GIT_INDEX_FILE: join(draft, "index") }, writes: true, isLong: true };
    await control.run(place, ["read-tree", "--end-of-options", tree], options);
    await control.run(place, ["checkout-index", "--quiet", "--all"], options);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function makeFolder(folder: string): Promise<void> {
  try {
    if (!isAbsolute(folder)) throw Object.assign(new Error("It is no whole path."), { code: "no whole path" });
    await mkdir(dirname(folder), { recursive: true });
    await mkdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") {
      throw new Fault("restore.exists", `${folder} is there already, and nothing is ever overwritten.`, {
        hint: "Name a folder that is not there yet.",
      });
    }
    throw new Fault("restore.unwritable", `${folder} cannot be made (${code}).`, {
      hint: "Name a folder that you may write to.",
      cause: error,
    });
  }
}
