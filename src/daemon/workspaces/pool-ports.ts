import type { Places } from "../../home/places.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Store } from "../../ports/store.ts";
import type { Turns } from "../turns.ts";
import type { Parking } from "./parking.ts";
import type { PoolRoom } from "./pool-room.ts";
import type { WorkspacesOf } from "./project-workspaces.ts";
import type { UpkeepLimits } from "./upkeep-limits.ts";

/** What pools are kept in order with. */
export interface PoolPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly inTurn: Turns;
  readonly places: Places;
  readonly workspacesOf: WorkspacesOf;
  readonly parking: Pick<Parking, "released">;
  readonly room: PoolRoom;
  /** Ends what still runs for a task: nobody may work in a folder that is given back. */
  endRuns(task: string): Promise<void>;
  endCommands(task: string): Promise<void>;
  limits(): UpkeepLimits;
}
