import type { Task } from "../engine/task.ts";
import type { Fault } from "../fault.ts";
import type { PartialConfig } from "../home/config-fields.ts";
import type { Places } from "../home/places.ts";
import type { Clock } from "../ports/clock.ts";
import type { Git } from "../ports/git.ts";
import type { Ids } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import type { Channels } from "../ports/notifier.ts";
import type { Project, Store, StoredTask } from "../ports/store.ts";
import type { Agents } from "./agents/agents.ts";
import type { Callers } from "./caller.ts";
import type { CrewRunner } from "./crew/crew.ts";
import type { Deadlines } from "./deadlines.ts";
import type { ForgeEffectPorts } from "./effects/forge-effects.ts";
import type { FactsOf } from "./facts.ts";
import type { Seen } from "./look.ts";
import type { Merging, MergingPorts } from "./merging/merging.ts";
import type { Predictions } from "./merging/predict-conflicts.ts";
import type { Calls } from "./needs/calls.ts";
import type { Needs } from "./needs/needs.ts";
import type { News } from "./news.ts";
import type { Performer } from "./perform.ts";
import type { Scheduler } from "./scheduler.ts";
import type { StoppableCommands } from "./stoppable-commands.ts";
import type { Submit } from "./submit.ts";
import type { TicketsOf } from "./tickets-of.ts";
import type { Turns } from "./turns.ts";
import type { WorkflowCache } from "./workflow-cache.ts";
import type { PoolPorts } from "./workspaces/pool-ports.ts";

export interface Repositories extends MergingPorts {
  readonly merging: Merging;
  readonly predictions: Predictions;
  /** Fires when the daemon stops. */
  readonly signal: AbortSignal;
  /** Whether a merge is not tested although there is a command for the tests. */
  leavesUntested(project: Project): boolean;
}

/** What requests are answered with. */
export interface Core {
  readonly version: string;
  readonly home: string;
  readonly places: Places;
  readonly startedAt: number;
  readonly store: Store;
  /** Why nothing can be saved any more; undefined where it can. */
  storeLoss(): Fault | undefined;
  /** Why nothing can be saved now, though it can be again; undefined where it can. */
  unsaved(): Fault | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly commands: StoppableCommands;
  readonly callers: Callers;
  readonly workflows: WorkflowCache;
  readonly factsOf: FactsOf;
  /** What a decision about a task would rest on now. */
  look(task: Task): Promise<Seen>;
  /** The same for who only tells: a workspace that cannot be looked at is part of the answer. */
  lookFor(task: Task): Promise<Seen>;
  readonly submit: Submit;
  /** For what is written about a task without `submit`. */
  readonly inTurn: Turns;
  /** What tasks' branches are pushed with, and their pull requests opened; undefined where there is no way to. */
  readonly forge: ForgeEffectPorts | undefined;
  /** Undefined where there are no workspaces. */
  readonly pools: PoolPorts | undefined;
  readonly performer: Performer;
  readonly scheduler: Scheduler;
  readonly deadlines: Deadlines;
  readonly needs: Needs;
  readonly calls: Calls;
  /** Where people are called, as it is configured now. */
  channels(): Channels;
  readonly news: News;
  /** What is done with projects' repositories; undefined where there is no git. */
  readonly repositories: Repositories | undefined;
  /** Undefined where no agents are started. */
  readonly agents: Agents | undefined;
  /** Undefined where there is no git to be used. */
  readonly git: Git | undefined;
  readonly ticketsOf: TicketsOf;
  readonly crew: CrewRunner;
  /** The user's configuration as it is now, and what is wrong with the file. */
  config(): { readonly values: PartialConfig; readonly problems: readonly string[] };
  /** A task was created or changed: whoever depends on where tasks stand is told. */
  changed(stored: StoredTask, mayGoOn?: boolean): void;
  /** Where browsers reach the daemon; empty where TCP is off. */
  address(): string;
  /** Begins to stop, once the present request has been answered. */
  stop(): void;
}
