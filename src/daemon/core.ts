import type { Task } from "../engine/task.ts";
import type { Fault } from "../fault.ts";
import type { CurrentConfig } from "../home/live-config.ts";
import type { Places } from "../home/places.ts";
import type { Turns } from "../keyed.ts";
import type { Git } from "../ports/git.ts";
import type { Project, Store, StoredTask } from "../ports/store.ts";
import type { Channels, Clock, Ids, Log } from "../ports/system.ts";
import type { Agents } from "./agents/agents.ts";
import type { Callers } from "./callers.ts";
import type { Chats } from "./chat/chats.ts";
import type { Receiver } from "./chat/receiver.ts";
import type { Children } from "./children/children.ts";
import type { ConfigChanges } from "./config-changes.ts";
import type { CrewRunner } from "./crew/crew.ts";
import type { Deadlines } from "./deadlines.ts";
import type { ForgeEffectPorts } from "./effects/forge.ts";
import type { EventFeed } from "./event-feed.ts";
import type { CoreWebDoor } from "./http/web-door.ts";
import type { FactsOf, Seen } from "./look.ts";
import type { Predictions } from "./merging/conflicts.ts";
import type { Merging, MergingPorts } from "./merging/merging.ts";
import type { Calls } from "./needs/calls.ts";
import type { Needs } from "./needs/needs.ts";
import type { Performer } from "./perform.ts";
import type { TicketsOf } from "./project.ts";
import type { Protection } from "./protection.ts";
import type { Refusals } from "./refusals.ts";
import type { Scheduler } from "./scheduler.ts";
import type { StoppableCommands } from "./stoppable-commands.ts";
import type { WorkflowCache } from "./store-cache.ts";
import type { Submit, SubmitTogether } from "./submit.ts";
import type { TaskIndex } from "./task-index.ts";
import type { WebSessions } from "./web-sessions.ts";
import type { PoolPorts } from "./workspaces/pool.ts";

export interface Repositories extends MergingPorts {
  readonly merging: Merging;
  readonly predictions: Predictions;
  readonly protection: Protection;
  /** Aborts when the daemon stops. */
  readonly signal: AbortSignal;
  /**
   * Whether merges are tested, and the command that tests a project: the configured one, else the one that its files in the
   * user's checkout name; empty if there is neither.
   */
  testsOf(project: Project): Promise<{ readonly testMerges: boolean; readonly command: readonly string[] }>;
}

/** The services that handlers are given. */
export interface Core {
  readonly version: string;
  readonly home: string;
  readonly places: Places;
  readonly startedAt: number;
  readonly store: Store;
  readonly taskIndex: TaskIndex;
  /** Why nothing can be saved any more; undefined where it can. */
  storeLoss(): Fault | undefined;
  /** Why nothing can be saved for now; undefined where it can. */
  unsaved(): Fault | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly commands: StoppableCommands;
  readonly callers: Callers;
  readonly workflows: WorkflowCache;
  readonly factsOf: FactsOf;
  /** Gathers the facts that a decision about a task would rest on now. */
  look(task: Task): Promise<Seen>;
  /** The same for reports: an unreadable workspace is part of the answer, not a fault. */
  lookFor(task: Task): Promise<Seen>;
  readonly submit: Submit & { readonly together: SubmitTogether };
  readonly refusals: Refusals;
  /** The mutex for writes about a task without `submit`. */
  readonly inTurn: Turns;
  /** What is needed to push branches and open pull requests; undefined where there is no forge. */
  readonly forge: ForgeEffectPorts | undefined;
  /** Undefined where there are no workspaces. */
  readonly pools: PoolPorts | undefined;
  readonly performer: Performer;
  readonly scheduler: Scheduler;
  readonly children: Children;
  readonly deadlines: Deadlines;
  readonly needs: Needs;
  readonly calls: Calls;
  readonly chats: Chats;
  readonly receiver: Receiver;
  /** The channels for calls that are configured now. */
  channels(): Channels;
  readonly eventFeed: EventFeed;
  /** The services for projects' repositories; undefined where there is no git. */
  readonly repositories: Repositories | undefined;
  /** Undefined where the daemon starts no agents. */
  readonly agents: Agents | undefined;
  /** Undefined where there is no git. */
  readonly git: Git | undefined;
  readonly ticketsOf: TicketsOf;
  readonly crew: CrewRunner;
  readonly configChanges: ConfigChanges;
  /** The user's current configuration, and the problems of its file. */
  config(): CurrentConfig;
  /** A task was created or changed: notifies everything that caches or watches tasks. */
  changed(stored: StoredTask, mayGoOn?: boolean): void;
  /** The port for browsers. */
  readonly webDoor: CoreWebDoor;
  readonly sessions: WebSessions;
  /** Starts to stop once the current request is answered. */
  stop(): void;
}
