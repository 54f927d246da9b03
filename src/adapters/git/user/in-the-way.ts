import type { PublishOrder, Waits } from "../../../ports/control-repository.ts";
import { branchRef } from "../check-names.ts";
import type { ControlGit } from "../control/control-git.ts";
import { checkFolder } from "../control/fetch-into.ts";
import { busyWith, changesInTheWay } from "./forward-worktree.ts";
import { updateNote } from "./half-done.ts";
import { localChanges } from "./local-changes.ts";
import { holdersInTheWay, holdersOf } from "./publish.ts";

/** Where an update was cut short, what it left cannot be told from the user's changes: then only `publish` knows. */
export async function inTheWay(control: ControlGit, order: PublishOrder): Promise<Waits | undefined> {
  const { repository, branch, commit, expected, workspaces } = order;
  const holders = await holdersOf(
    control,
    { folder: checkFolder(repository), configuration: "user" },
    branchRef(branch),
  );
  const held = holdersInTheWay(branch, holders, workspaces);
  const [holder] = holders;
  if (held !== undefined || holder === undefined || expected === undefined) return held;
  const place = { folder: holder.folder, configuration: "user" } as const;
  const busy = await busyWith(control, place);
  if (busy !== undefined || updateNote(control, holder.folder).cutShort.length > 0) return busy;
  const changes = (await localChanges(control, place, expected, commit)).filter(({ state }) => state !== "missing");
  return changes.length === 0 ? undefined : changesInTheWay(place, changes);
}
