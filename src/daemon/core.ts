import type { PartialConfig } from "../home/config-fields.ts";
import type { Places } from "../home/places.ts";
import type { Clock } from "../ports/clock.ts";
import type { Commands } from "../ports/commands.ts";
import type { Ids } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import type { Store, StoredTask } from "../ports/store.ts";
import type { Callers } from "./caller.ts";
import type { Deadlines } from "./deadlines.ts";
import type { FactsOf } from "./facts.ts";
import type { News } from "./news.ts";
import type { Performer } from "./perform.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Submit } from "./submit.ts";
import type { Tally } from "./tally.ts";
import type { Turns } from "./turns.ts";
import type { WorkflowCache } from "./workflow-cache.ts";
import type { PoolPorts } from "./workspaces/pool-ports.ts";
import type { WorkspacesOf } from "./workspaces/project-workspaces.ts";

/** What requests are answered with. */
export interface Core {
  readonly version: string;
  readonly home: string;
  readonly places: Places;
  readonly startedAt: number;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly commands: Commands;
  readonly callers: Callers;
  readonly workflows: WorkflowCache;
  readonly factsOf: FactsOf;
  readonly submit: Submit;
  /** For what is written about a task without `submit`. */
  readonly inTurn: Turns;
  /** Undefined where there are no workspaces. */
  readonly workspacesOf: WorkspacesOf | undefined;
  readonly pools: PoolPorts | undefined;
  readonly performer: Performer;
  readonly scheduler: Scheduler;
  readonly deadlines: Deadlines;
  readonly tally: Tally;
  readonly news: News;
  /** The user's configuration as it is now, and what is wrong with the file. */
  config(): { readonly values: PartialConfig; readonly problems: readonly string[] };
  /** A task was created or changed: whoever depends on where tasks stand is told. */
  changed(stored: StoredTask, mayGoOn?: boolean): void;
  /** Where browsers reach the daemon; empty where TCP is off. */
  address(): string;
  /** Begins to stop, once the present request has been answered. */
  stop(): void;
}
