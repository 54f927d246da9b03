import type { Effect, TaskEvent } from "../engine/decision.ts";
import type { Task } from "../engine/task.ts";
import type { Obeyed } from "./git.ts";
import type {
  Agent,
  CallRecord,
  ChatQuestion,
  Conversation,
  Credential,
  Kept,
  Merge,
  Message,
  PullRequestRecord,
  Run,
  Seen,
  Usage,
  WebKey,
  WorkSize,
  Workspace,
} from "./records.ts";

/**
 * The database. Each method is one transaction: it is committed durably when its promise resolves, or not at all.
 * Faults: `store.exists`, `store.missing`, `store.conflict`, and those of the disk.
 */
export interface Store {
  addProject(project: Project): Promise<void>;
  /** Returns the updated project. */
  updateProject(name: string, change: Partial<Omit<Project, "name">>): Promise<Project>;
  /** Refused with `store.in-use` while the project has open tasks. */
  removeProject(name: string): Promise<void>;
  getProject(name: string): Promise<Project | undefined>;
  listProjects(): Promise<readonly Project[]>;

  /** Saves a new task with the next number of its project. `decide` gets that number, and must be pure. */
  createTask(project: string, decide: (number: number) => NewTask): Promise<StoredTask>;
  getTask(id: string): Promise<StoredTask | undefined>;
  /** By id, by `project#number`, or by a branch that an open task has. */
  findTask(reference: string, project?: string): Promise<StoredTask | undefined>;
  /** Newest first. */
  listTasks(filter: TaskFilter, page: Page): Promise<readonly StoredTask[]>;
  /** Saves a decision if the task is still at `revision`; otherwise refused with `store.conflict`. */
  saveDecision(decision: SavedDecision): Promise<StoredTask>;
  /** Saves decisions about several tasks in one transaction: all of them, or none. */
  saveDecisions(decisions: readonly SavedDecision[]): Promise<readonly StoredTask[]>;
  /**
   * Adds to a task's history without changing the task. Without a task (an empty id) the events belong to the home: they
   * are in the event feed only, and `data.project` names their project. With `merge` the record of the task's merge is put in
   * the same transaction: whoever hears of the event finds the record that it tells of.
   */
  addEvents(task: string, events: readonly TaskEvent[], at: number, merge?: Merge): Promise<void>;
  /** Replaces the task's document; the events say who wrote what. */
  saveDocument(task: string, document: StoredDocument, events: readonly TaskEvent[], at: number): Promise<void>;
  getDocument(task: string): Promise<StoredDocument>;
  /** Deletes a task and its records; its project and other tasks are untouched. */
  deleteTask(id: string): Promise<void>;

  /** The first effect that each task owes, if it is due at `now`. */
  dueEffects(now: number, limit: number): Promise<readonly StoredEffect[]>;
  /** When the next effect that is not due yet becomes due. */
  nextDue(now: number): Promise<number | undefined>;
  /** All effects of a task, the oldest first. */
  listEffects(task: string): Promise<readonly StoredEffect[]>;
  /** The effects of a task that are owed or have failed. */
  openEffects(task: string): Promise<readonly StoredEffect[]>;
  /** Marks an effect done. `note` is added to the history: the effect failed, but nothing depended on it. */
  finishEffect(id: number, at: number, note?: TaskEvent): Promise<void>;
  /** Records a failure. With `retryAt` the effect stays owed; without it, the failure is final. */
  failEffect(id: number, failure: Failure, retryAt?: number): Promise<void>;
  /** Makes the failed effects of a task owed again. */
  retryEffects(task: string, at: number): Promise<number>;

  /**
   * History after a position, the oldest first. A page of large events may be shorter than `limit`; only an empty page
   * is the end.
   */
  listEvents(filter: EventFilter, after: number, limit: number): Promise<readonly StoredEvent[]>;
  /** History before a position, the newest first, in pages like those of `listEvents`. */
  listEventsBefore(filter: EventFilter, before: number, limit: number): Promise<readonly StoredEvent[]>;
  lastEvent(): Promise<number>;
  /** The last number given to an event or an effect. It never decreases, whatever is deleted. */
  lastNumber(): Promise<number>;

  /** Stores the text of a workflow by its hash, for the tasks that are pinned to it. */
  saveWorkflow(workflow: StoredWorkflow): Promise<void>;
  getWorkflow(hash: string): Promise<StoredWorkflow | undefined>;

  addArtifact(artifact: StoredArtifact): Promise<void>;
  /** The oldest first. */
  listArtifacts(task: string): Promise<readonly StoredArtifact[]>;
  /** The text of the task's artifact with this hash; undefined if there is none. */
  artifactText(task: string, hash: string): Promise<string | undefined>;

  readonly agents: Collection<Agent>;
  readonly workspaces: Collection<Workspace>;
  readonly runs: Collection<Run>;
  readonly credentials: Collection<Credential>;
  readonly messages: Collection<Message>;
  readonly conversations: Collection<Conversation>;
  readonly usage: Collection<Usage>;
  readonly merges: Collection<Merge>;
  readonly pullRequests: Collection<PullRequestRecord>;
  readonly calls: Collection<CallRecord>;
  readonly chatQuestions: Collection<ChatQuestion>;
  readonly seen: Collection<Seen>;
  readonly workSizes: Collection<WorkSize>;
  readonly webKeys: WebKeys;

  /** The runs without a recorded end, the oldest first. Its cost does not depend on how many have ended. */
  liveRuns(): Promise<readonly Run[]>;

  /** The damage found; empty if there is none. */
  check(): Promise<readonly string[]>;
  /** Copies a snapshot of the database into a new file. */
  backup(path: string): Promise<void>;
  close(): Promise<void>;
}

/** Records of one kind. They are deleted together with their task or project. */
export interface Collection<T extends Kept> {
  /** Adds a record, or replaces the one with its id. */
  put(record: T): Promise<void>;
  get(id: string): Promise<T | undefined>;
  /** The oldest first. */
  list(filter: { readonly project?: string; readonly task?: string }): Promise<readonly T[]>;
  remove(id: string): Promise<void>;
}

/** The links and sessions of browsers; they belong to no project. */
export interface WebKeys {
  put(key: WebKey): Promise<void>;
  /** The oldest first. */
  list(): Promise<readonly WebKey[]>;
  /** Removes a key and returns it. Of several callers at the same time, one gets it. */
  take(id: string): Promise<WebKey | undefined>;
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
  /** The kind of its new workspaces. */
  readonly workspaces: "worktree" | "clone";
  /** Whether a person has allowed its agents to work with full permissions; missing: no. */
  readonly fullPermissions?: "allow" | "ask";
  /** The git settings and hooks of the repository that a person last approved; missing until the first check. */
  readonly obeyed?: Obeyed & {
    /** No workspace shared the repository's `.git` then, or has since. */
    readonly isApart?: boolean;
  };
  /** Branches of the user's that were moved or deleted while agents had worktrees; missing: none. */
  readonly movedBranches?: readonly MovedBranch[];
  /** Milliseconds since 1970, as all times of the store. */
  readonly createdAt: number;
}

/** A branch of the user's that an agent in a worktree may have moved or deleted, until a person has decided about it. */
export interface MovedBranch {
  readonly branch: string;
  /** The control repository keeps this commit. */
  readonly before: string;
  /** Empty if the branch was deleted. */
  readonly after: string;
  readonly way: "forward" | "back" | "apart" | "deleted";
  /** The ids of the tasks that had worktrees then; if `isKnown`, only those in which the new commit was made. */
  readonly tasks: readonly string[];
  readonly isKnown: boolean;
  /** Whether a person is called, and nothing is merged into the branch. Otherwise the move may as well be the user's. */
  readonly blocks: boolean;
  /**
   * The ref of the control repository that keeps `after`: the branch is that of a parent without a workspace, and was
   * restored. Missing where the branch is the user's own.
   */
  readonly setAside?: string;
  readonly at: number;
}

/** The task's sections, without frontmatter, and their authors. */
export interface StoredDocument {
  readonly text: string;
  /** By heading. A missing section has no known author. */
  readonly authors: Readonly<Record<string, Author>>;
}

export interface Author {
  readonly role: string;
  /** Empty for people. */
  readonly run: string;
  /** The branch's commit at that time; empty if there was none. */
  readonly commit: string;
  /** Of the section as its author wrote it: if the section has another one now, somebody else has changed it. */
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
  /** Increases with every change; identifies the version that a decision is based on. */
  readonly revision: number;
  /** Not in a terminal state yet, or effects are still owed there. */
  readonly isOpen: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** When it entered its state. */
  readonly enteredAt: number;
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
  /** The document as it was read for the decision, if it has changed. */
  readonly document?: StoredDocument;
  /** Evidence that the decision accepted. */
  readonly artifacts?: readonly StoredArtifact[];
  /** Earlier effects that are still owed are dropped. */
  readonly dropsOwed?: boolean;
  /** Failed effects are owed again. */
  readonly retriesFailed?: boolean;
}

export interface TaskFilter {
  readonly project?: string;
  readonly status?: string;
  readonly parent?: string;
  readonly isOpen?: boolean;
}

interface Page {
  /** Only tasks older than this `order`. */
  readonly before?: number;
  readonly limit: number;
}

export interface StoredEffect {
  readonly id: number;
  readonly task: string;
  /** The task's stay that the effect belongs to. */
  readonly entry: number;
  readonly effect: Effect;
  /** dropped: a later decision made it pointless. */
  readonly state: "owed" | "done" | "failed" | "dropped";
  readonly dueAt: number;
  readonly tries: number;
  /** The last failure; undefined if there was none. */
  readonly failure: Failure | undefined;
}

export interface Failure {
  /** The word for how it ended: `error`, or one that the action declares. */
  readonly word: string;
  readonly reason: string;
  /** The code of the Fault; missing if there was none, and in old records. */
  readonly code?: string;
}

export interface StoredEvent {
  /** Increases over the events of all tasks; a reader that resumes after its last position misses nothing. */
  readonly position: number;
  /** Empty for an event of the home. */
  readonly task: string;
  /** Empty for an event of the home that concerns no project. */
  readonly project: string;
  /** The revision of the task that the event led to. */
  readonly revision: number;
  readonly event: TaskEvent;
  readonly at: number;
}

interface EventFilter {
  readonly project?: string;
  readonly task?: string;
}

interface StoredWorkflow {
  readonly hash: string;
  readonly name: string;
  readonly text: string;
}

/** A section as it passed a gate, or a document that a run has handed over. */
export interface StoredArtifact {
  readonly task: string;
  /** The heading of the section, or the title of the document. */
  readonly section: string;
  readonly text: string;
  readonly hash: string;
  readonly role: string;
  readonly run: string;
  readonly commit: string;
  readonly at: number;
  /** Only of a document: its type, and the state in which it was handed over. */
  readonly document?: { readonly type: string; readonly state: string };
}
