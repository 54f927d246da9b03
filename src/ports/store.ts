import type { Effect, TaskEvent } from "../engine/decision.ts";
import type { Task } from "../engine/task.ts";
import type { Obeyed } from "./git.ts";
import type {
  Agent,
  CallRecord,
  Conversation,
  Credential,
  Finding,
  Kept,
  Merge,
  Message,
  PullRequestRecord,
  Run,
  Usage,
  Workspace,
} from "./records.ts";

/**
 * Everything we remember. Each method is one transaction: it has happened whole and for good when its promise resolves,
 * or not at all. Faults: `store.exists`, `store.missing`, `store.conflict`, and what the disk does to us.
 */
export interface Store {
  addProject(project: Project): Promise<void>;
  /** Gives the project as it is afterwards. */
  updateProject(name: string, change: Partial<Omit<Project, "name">>): Promise<Project>;
  /** Refused with `store.in-use` while the project has open tasks. */
  removeProject(name: string): Promise<void>;
  getProject(name: string): Promise<Project | undefined>;
  listProjects(): Promise<readonly Project[]>;

  /** Saves a new task with the next number of its project. `decide` is given that number, and must be pure. */
  createTask(project: string, decide: (number: number) => NewTask): Promise<StoredTask>;
  getTask(id: string): Promise<StoredTask | undefined>;
  /** By id, by `project#number`, or by a branch that an open task has. */
  findTask(reference: string, project?: string): Promise<StoredTask | undefined>;
  /** Newest first. */
  listTasks(filter: TaskFilter, page: Page): Promise<readonly StoredTask[]>;
  /** Saves a decision about a task that is still at `revision`; otherwise refused with `store.conflict`. */
  saveDecision(decision: SavedDecision): Promise<StoredTask>;
  /** Adds to a task's history without changing the task. */
  addEvents(task: string, events: readonly TaskEvent[], at: number): Promise<void>;
  /** Replaces the task's document; the events say who wrote what. */
  saveDocument(task: string, document: StoredDocument, events: readonly TaskEvent[], at: number): Promise<void>;
  getDocument(task: string): Promise<StoredDocument>;
  /** Forgets a task and all that belongs to it; its project and other tasks are untouched. */
  deleteTask(id: string): Promise<void>;

  /** The first effect that each task owes, if it is due at `now`. */
  dueEffects(now: number, limit: number): Promise<readonly StoredEffect[]>;
  /** When the next effect becomes due that is not due yet. */
  nextDue(now: number): Promise<number | undefined>;
  /** All effects of a task, the oldest first. */
  listEffects(task: string): Promise<readonly StoredEffect[]>;
  /** Those of them that are owed or have failed. */
  openEffects(task: string): Promise<readonly StoredEffect[]>;
  /** Ticks an effect off. `note` goes into history with it: nothing depended on the effect, but it failed. */
  finishEffect(id: number, at: number, note?: TaskEvent): Promise<void>;
  /** Notes a failure. With `retryAt` the effect stays owed; without, it has failed for good. */
  failEffect(id: number, failure: Failure, retryAt?: number): Promise<void>;
  /** Makes the failed effects of a task owed again. */
  retryEffects(task: string, at: number): Promise<number>;

  /** History after a position, the oldest first. */
  listEvents(filter: EventFilter, after: number, limit: number): Promise<readonly StoredEvent[]>;
  lastEvent(): Promise<number>;
  /** The last number given to an event or an effect. It never goes down, whatever is deleted. */
  lastNumber(): Promise<number>;

  /** Keeps the text of a workflow by its hash, for the tasks that are pinned to it. */
  saveWorkflow(workflow: StoredWorkflow): Promise<void>;
  getWorkflow(hash: string): Promise<StoredWorkflow | undefined>;

  addArtifact(artifact: Artifact): Promise<void>;
  /** The oldest first. */
  listArtifacts(task: string): Promise<readonly Artifact[]>;

  readonly agents: Collection<Agent>;
  readonly workspaces: Collection<Workspace>;
  readonly runs: Collection<Run>;
  readonly credentials: Collection<Credential>;
  readonly findings: Collection<Finding>;
  readonly messages: Collection<Message>;
  readonly conversations: Collection<Conversation>;
  readonly usage: Collection<Usage>;
  readonly merges: Collection<Merge>;
  readonly pullRequests: Collection<PullRequestRecord>;
  readonly calls: Collection<CallRecord>;

  /** Runs of which no end is noted, the oldest first. However many have ended, this takes no longer. */
  liveRuns(): Promise<readonly Run[]>;

  /** Complains about damage; an empty list is a clean bill. */
  check(): Promise<readonly string[]>;
  /** Copies everything, as it is at one moment, into a new file. */
  backup(path: string): Promise<void>;
  close(): Promise<void>;
}

/** Records of one kind. Those of a task are forgotten with it, those of a project likewise. */
export interface Collection<T extends Kept> {
  /** Adds a record, or replaces the one with its id. */
  put(record: T): Promise<void>;
  get(id: string): Promise<T | undefined>;
  /** The oldest first. */
  list(filter: { readonly project?: string; readonly task?: string }): Promise<readonly T[]>;
  remove(id: string): Promise<void>;
}

export interface Project {
  readonly name: string;
  /** The repository's folder. */
  readonly path: string;
  readonly defaultBranch: string;
  readonly poolSize: number;
  readonly workflow: string;
  readonly harness: string;
  readonly reviewHarness: string;
  readonly branchPrefix: string;
  /** How its workspaces are made; missing: as worktrees. */
  readonly workspaces?: "worktree" | "clone";
  /** Whether a person has allowed its agents to work with full permissions; missing: nobody has. */
  readonly fullPermissions?: "allow" | "ask";
  /** What git obeyed in the repository when a person last looked; missing until it was looked at first. */
  readonly obeyed?: Obeyed;
  /** Milliseconds since 1970, as all times of the store. */
  readonly createdAt: number;
}

/** The task's sections, without frontmatter, and who wrote them. */
export interface StoredDocument {
  readonly text: string;
  /** By heading. A section that is not there was written by nobody we know. */
  readonly authors: Readonly<Record<string, Author>>;
}

export interface Author {
  readonly role: string;
  /** Empty for people. */
  readonly run: string;
  /** The commit the branch was at; empty where there was none. */
  readonly commit: string;
  /** Of the section as its author wrote it: if it is another now, somebody else did. */
  readonly fingerprint: string;
}

export interface NewTask {
  readonly task: Task;
  readonly document: StoredDocument;
  readonly events: readonly TaskEvent[];
  readonly effects: readonly Effect[];
  readonly at: number;
}

export interface StoredTask {
  readonly task: Task;
  /** Grows with every change; names the version a decision was made about. */
  readonly revision: number;
  /** Not over: not in a terminal state yet, or still owing something there. */
  readonly isOpen: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Orders tasks by age. */
  readonly order: number;
}

export interface SavedDecision {
  readonly task: Task;
  readonly revision: number;
  readonly isOpen: boolean;
  readonly events: readonly TaskEvent[];
  readonly effects: readonly Effect[];
  readonly at: number;
  /** The document as it was read for the decision, where it changed. */
  readonly document?: StoredDocument;
  /** Evidence that the decision accepted. */
  readonly artifacts?: readonly Artifact[];
  /** What the task still owed before is not owed any more. */
  readonly dropsOwed?: boolean;
  /** What has failed for good is owed again. */
  readonly retriesFailed?: boolean;
}

export interface TaskFilter {
  readonly project?: string;
  readonly status?: string;
  readonly parent?: string;
  readonly isOpen?: boolean;
}

export interface Page {
  /** Only tasks older than this `order`. */
  readonly before?: number;
  readonly limit: number;
}

export interface StoredEffect {
  readonly id: number;
  readonly task: string;
  /** The stay of the task that owes it. */
  readonly entry: number;
  readonly effect: Effect;
  /** dropped: a later decision made it pointless. */
  readonly state: "owed" | "done" | "failed" | "dropped";
  readonly dueAt: number;
  readonly tries: number;
  /** The last one; undefined where there was none. */
  readonly failure: Failure | undefined;
}

export interface Failure {
  /** How it ended, in the words of the language: `error`, or one that the action declares. */
  readonly word: string;
  readonly reason: string;
  /** The code of the fault; missing where it was none, and in old records. */
  readonly code?: string;
}

export interface StoredEvent {
  /** Grows with time over all tasks; a reader that knows the last one it saw misses nothing. */
  readonly position: number;
  readonly task: string;
  readonly project: string;
  /** The revision of the task that the event led to. */
  readonly revision: number;
  readonly event: TaskEvent;
  readonly at: number;
}

export interface EventFilter {
  readonly project?: string;
  readonly task?: string;
}

export interface StoredWorkflow {
  readonly hash: string;
  readonly name: string;
  readonly text: string;
}

/** A section as it passed a gate. */
export interface Artifact {
  readonly task: string;
  readonly section: string;
  readonly text: string;
  readonly hash: string;
  readonly role: string;
  readonly run: string;
  readonly commit: string;
  readonly at: number;
}
