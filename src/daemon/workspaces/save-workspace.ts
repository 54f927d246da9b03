import { Fault } from "../../fault.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Salvage } from "../../ports/control-repository.ts";
import type { Log } from "../../ports/log.ts";
import { isOtherBranch } from "./checked-out.ts";
import type { ProjectWorkspaces } from "./project-workspaces.ts";

export interface SavePorts {
  readonly clock: Clock;
  readonly log: Log;
}

/** Under whose name salvage is filed that belongs to no task. No task's id has a vowel. */
export const nobody = "free";

/**
 * Saves whatever is in a workspace: what is committed as the task's work, what is not under a ref of its own. Undefined
 * where there is nothing that git could read.
 */
export async function saveWorkspace(
  { clock, log }: SavePorts,
  { control, kind, repository }: ProjectWorkspaces,
  folder: string,
  task: string,
): Promise<Salvage | undefined> {
  const found = await kind.inspect(folder);
  if (found.kind === "there" && found.branch !== undefined && task !== nobody)
    await control.collect({ folder, branch: found.branch, task, seenAt: found.head }).catch((error) => {
      // Then the task's own branch was collected, and what no branch of the user's has is salvaged.
      if (!isOtherBranch(error)) throw error;
    });
  // One that is broken or gone may have work in it all the same.
  const order = { folder, task, at: clock.now(), anybodys: task === nobody, repository };
  const salvage = await control.salvage(order).catch((error) => {
    // Somebody has put a link in its place: whoever gets the workspace next says so. Nobody need wait for that.
    if (found.kind === "there" || !(error instanceof Fault) || error.code !== "git.not-a-repository") throw error;
    log.warn("A workspace could not be saved", { folder, error });
    return undefined;
  });
  const refused = salvage?.refused.map(({ text }) => text) ?? [];
  if (refused.length > 0)
    log.warn("Something in a workspace could not be saved, and stays in the trash", { folder, refused });
  if (salvage?.saved !== undefined) log.info("What was not committed was saved", { task, ref: salvage.saved.ref });
  return salvage;
}
