import type { Task } from "../engine/task.ts";
import type { Workflow } from "../engine/workflow.ts";
import type { Fault } from "../fault.ts";
import type { CurrentConfig } from "../home/live-config.ts";
import type { Git } from "../ports/git.ts";
import type { Store } from "../ports/store.ts";
import type { Channels, Clock, Commands, Ids, Log } from "../ports/system.ts";
import type { ProjectFiles } from "../project-tests/finders.ts";
import type { AgentsPorts } from "./agents/agents.ts";
import type { OpenChat } from "./chat/chats.ts";
import type { ForgeOf } from "./forge/push-task.ts";
import type { CoreWebDoor } from "./http/web-door.ts";
import type { Landing } from "./merging/test-merged.ts";
import type { Performers } from "./perform.ts";
import type { TicketsOf } from "./project.ts";
import type { WorkspacesOf } from "./workspaces/project-workspaces.ts";
import type { UpkeepLimits } from "./workspaces/upkeep.ts";

/** What the core is put together from. */
export interface CorePorts {
  readonly version: string;
  readonly home: string;
  readonly store: Store;
  /** Why nothing can be saved any more; missing where nothing can be lost. */
  storeLoss?(): Fault | undefined;
  /** Why nothing can be saved for now; missing where it always can. */
  unsaved?(): Fault | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly commands: Commands;
  readonly humanToken: string;
  /** Called once the folders and the workflows of tasks are available. */
  performers(
    folderOf: (task: Task) => Promise<string>,
    workflowOf: (task: Task) => Promise<Workflow>,
    portOf: (task: Task) => Promise<number | undefined>,
    commands: Commands,
  ): Performers;
  /** The part of the daemon's environment that every command may see. */
  readonly commandEnvironment?: Readonly<Record<string, string>>;
  /** Aborts when running commands must be killed. */
  readonly signal?: AbortSignal;
  readonly git?: Git;
  /** How much disk space may be used before the upkeep; the default where it is missing. */
  limits?(): UpkeepLimits;
  /** Where it is missing, actions that need a workspace are not available. */
  readonly workspacesOf?: WorkspacesOf;
  /** Reads the files of a workspace; from the disk where it is missing. */
  filesIn?(folder: string): ProjectFiles;
  /** Overrides how merges are tested and published. */
  readonly landing?: Partial<Landing>;
  /** Where it is missing, or there are no workspaces, nothing is pushed. */
  readonly forgeOf?: ForgeOf;
  /** The channels for calls; where it is missing, only the history has them. */
  channels?(): Channels;
  /** The chat service that questions are sent to; undefined where none is configured. */
  chat?(): OpenChat | undefined;
  /** Where it is missing, projects have no tickets. */
  readonly ticketsOf?: TicketsOf;
  /** What is needed to start agents; where it is missing, none are started. */
  readonly agents?: Pick<AgentsPorts, "harnesses" | "terminal" | "processes" | "tails" | "table" | "sandbox"> & {
    /** Agents see only the variables of this environment that are on a list. */
    readonly env: NodeJS.ProcessEnv;
  };
  config(): CurrentConfig;
  /** Where it is missing, browsers are not served. */
  readonly webDoor?: CoreWebDoor;
  stop(): void;
}
