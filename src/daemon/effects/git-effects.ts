import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import type { Places } from "../../home/places.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Store } from "../../ports/store.ts";
import { publishAgents } from "../agents-at-work.ts";
import type { Merging } from "../merging/merging.ts";
import type { Performers } from "../perform.ts";
import type { Submit } from "../submit.ts";
import type { Turns } from "../turns.ts";
import type { Parking } from "../workspaces/parking.ts";
import type { PoolRoom } from "../workspaces/pool-room.ts";
import type { SettingsOf } from "../workspaces/project-settings.ts";
import type { WorkspacesOf } from "../workspaces/project-workspaces.ts";
import type { UpkeepLimits } from "../workspaces/upkeep-limits.ts";
import { acquireWorkspace } from "./acquire-workspace.ts";
import { createBranch } from "./create-branch.ts";
import { deleteBranch } from "./delete-branch.ts";
import { harvestUncommitted } from "./harvest-uncommitted.ts";
import { mergeWork } from "./merge.ts";
import { nameBranch } from "./name-branch.ts";
import { releaseWorkspace } from "./release-workspace.ts";
import type { CommandPorts } from "./run-in-workspace.ts";
import { syncRepo } from "./sync-repo.ts";

/** What effects on repositories are carried out with. */
export interface GitEffectPorts extends CommandPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly places: Places;
  readonly submit: Submit;
  readonly inTurn: Turns;
  readonly workspacesOf: WorkspacesOf;
  readonly parking: Pick<Parking, "released">;
  readonly room: PoolRoom;
  endRuns(task: string): Promise<void>;
  endCommands(task: string): Promise<void>;
  readonly merging: Merging;
  readonly settingsOf: SettingsOf;
  limits(): UpkeepLimits;
  workflowOf(task: Task): Promise<Workflow>;
}

/** The effects that need git. */
export function gitEffects(given: GitEffectPorts): Performers {
  const { store, places } = given;
  const ports = {
    ...given,
    publishAgents: () => publishAgents({ store, places }),
  };
  return {
    acquire_workspace: acquireWorkspace(ports),
    release_workspace: releaseWorkspace(ports),
    merge: mergeWork(ports),
    sync_repo: syncRepo(ports),
    harvest_uncommitted: harvestUncommitted(ports),
    create_branch: createBranch(ports),
    name_branch: nameBranch(ports),
    delete_branch: deleteBranch(ports),
  };
}
