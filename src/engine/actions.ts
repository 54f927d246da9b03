const acquireWorkspace: ActionDeclaration = {
  name: "acquire_workspace",
  summary: "Bind a workspace from the project's pool to the task",
  params: { base: { type: "text" } },
  words: {},
  holds: true,
  begins: "work",
};

const closeTicket: ActionDeclaration = {
  name: "close_ticket",
  summary: "Close the ticket the task came from",
  params: {},
  words: {},
  holds: false,
};

const createBranch: ActionDeclaration = {
  name: "create_branch",
  summary: "Create the task's branch",
  params: { name: { type: "text" }, from: { type: "text" } },
  words: {},
  holds: true,
  inWorkspace: "where-bound",
  begins: "work",
};

export const createPr: ActionDeclaration = {
  name: "create_pr",
  summary: "Open the pull request, or update it",
  params: { title: { type: "text" }, body: { type: "text" } },
  words: {},
  holds: true,
  begins: "work",
};

/**
 * An action as the language sees it: its name, its parameters, and the words it can end with besides `ok` and `error`.
 */
interface ActionDeclaration {
  readonly name: string;
  /** Imperative, without a full stop. */
  readonly summary: string;
  readonly params: Readonly<Record<string, Param>>;
  readonly words: Readonly<Record<string, Word>>;
  /** A failure keeps the later effects of the task from being performed. */
  readonly holds: boolean;
  /** It runs in the task's workspace. always: acquire one first. where-bound: only make a lost workspace again. */
  readonly inWorkspace?: "always" | "where-bound";
  /** A failure is only logged, even in a state's own work. */
  readonly failsSilently?: true;
  /**
   * What the action begins. agent: skipped once the task has ended. work: skipped where the task ended without its
   * work, so that nothing of it is made, tested or published.
   */
  readonly begins?: "agent" | "work";
}

export interface Param {
  readonly type: ParamType;
  readonly required?: boolean;
  readonly oneOf?: readonly string[];
}

/** text may hold {variables}; prompt, role, counter and result are names declared in the file. */
type ParamType = "text" | "prompt" | "role" | "counter" | "result" | "integer" | "boolean" | "duration" | "list";

/**
 * An answer is final. A temporary word may change by itself, so the engine checks again. A word for a person holds the task
 * unless a rule names it: neither `failed` nor a rule without `on` covers it.
 */
type Word = "answer" | "temporary" | "person";

const deleteBranch: ActionDeclaration = {
  name: "delete_branch",
  summary: "Delete the task's branch once its work is saved elsewhere",
  params: {},
  words: {},
  holds: false,
};

const deleteRemoteBranch: ActionDeclaration = {
  name: "delete_remote_branch",
  summary: "Delete the branch on the remote",
  params: {},
  words: {},
  holds: false,
};

const harvestUncommitted: ActionDeclaration = {
  name: "harvest_uncommitted",
  summary: "Commit what the agent left uncommitted",
  params: {},
  words: {},
  holds: true,
  inWorkspace: "where-bound",
};

const increment: ActionDeclaration = {
  name: "increment",
  summary: "Add one to a counter",
  params: { field: { type: "counter", required: true } },
  words: {},
  holds: true,
};

const killAgent: ActionDeclaration = {
  name: "kill_agent",
  summary: "End the live run of a role",
  params: { role: { type: "role", required: true } },
  words: {},
  holds: true,
};

const killSession: ActionDeclaration = {
  name: "kill_session",
  summary: "End all runs of the task",
  params: {},
  words: {},
  holds: true,
};

export const merge: ActionDeclaration = {
  name: "merge",
  summary: "Merge, and check that the target contains the work",
  params: {
    from: { type: "text", oneOf: ["task", "children", "needs"] },
    into: { type: "text", oneOf: ["default", "parent", "task"] },
    strategy: { type: "text", oneOf: ["ff", "no-ff"] },
    uncommitted: { type: "text", oneOf: ["refuse", "leave"] },
  },
  words: { conflict: "answer", tests: "answer", protected: "person", dropped: "person" },
  holds: true,
  begins: "work",
};

const mergePr: ActionDeclaration = {
  name: "merge_pr",
  summary: "Merge the pull request on the forge; without a forge, merge as `merge` does",
  params: {},
  words: {
    ...{ unapproved: "temporary", unmergeable: "temporary", unreviewed: "answer" },
    ...{ conflict: "answer", tests: "answer", protected: "person" },
  },
  holds: true,
  begins: "work",
};

const nameBranch: ActionDeclaration = {
  name: "name_branch",
  summary: "Give the branch a descriptive name",
  params: { model: { type: "text" }, prompt: { type: "prompt" } },
  words: {},
  holds: false,
  inWorkspace: "where-bound",
  begins: "work",
};

const notify: ActionDeclaration = {
  name: "notify",
  summary: "Notify the person",
  params: { message: { type: "text" }, title: { type: "text" } },
  words: {},
  holds: false,
  failsSilently: true,
};

const notifyAgent: ActionDeclaration = {
  name: "notify_agent",
  summary: "Tell a live agent something, or start a dead one with it",
  params: {
    role: { type: "role", required: true },
    message: { type: "text" },
    prompt: { type: "prompt" },
    steps: { type: "integer" },
  },
  words: {},
  holds: false,
  begins: "agent",
};

const postComment: ActionDeclaration = {
  name: "post_comment",
  summary: "Comment on the pull request",
  params: { message: { type: "text" } },
  words: {},
  holds: false,
};

const pushBranch: ActionDeclaration = {
  name: "push_branch",
  summary: "Push the task's branch; without a remote, make it in the user's repository",
  params: {},
  words: {},
  holds: true,
  begins: "work",
};

const releaseWorkspace: ActionDeclaration = {
  name: "release_workspace",
  summary: "Save uncommitted work, then return the workspace to the pool",
  params: {},
  words: {},
  holds: true,
};

const runCommand: ActionDeclaration = {
  name: "run_command",
  summary: "Run a command in the workspace, or in an empty folder where the task has none",
  params: {
    command: { type: "list", required: true },
    timeout: { type: "duration" },
  },
  words: {},
  holds: true,
  inWorkspace: "where-bound",
  begins: "work",
};

const runTests: ActionDeclaration = {
  name: "run_tests",
  summary: "Run the project's tests",
  params: { command: { type: "list" }, timeout: { type: "duration" }, only: { type: "text", oneOf: ["stale"] } },
  words: { tests: "answer", untested: "answer" },
  holds: true,
  inWorkspace: "always",
  begins: "work",
};

const setField: ActionDeclaration = {
  name: "set_field",
  summary: "Set a counter",
  params: { field: { type: "counter", required: true }, value: { type: "integer", required: true } },
  words: {},
  holds: true,
};

const spawnAgent: ActionDeclaration = {
  name: "spawn_agent",
  summary: "Start an agent, unless the role has a live one",
  params: {
    role: { type: "role" },
    prompt: { type: "prompt" },
    mode: { type: "text", oneOf: ["session", "turn", "steps", "dialogue"] },
    harness: { type: "text" },
    model: { type: "text" },
    permissions: { type: "text", oneOf: ["full", "reduced"] },
    tools: { type: "list" },
    result: { type: "result" },
    window: { type: "text" },
    keep: { type: "boolean" },
    increment: { type: "counter" },
  },
  words: {},
  holds: true,
  inWorkspace: "always",
  begins: "agent",
};

const spawnNext: ActionDeclaration = {
  name: "spawn_next",
  summary: "Start the next waiting task of the project",
  params: {},
  words: {},
  holds: false,
};

const syncIdleAgents: ActionDeclaration = {
  name: "sync_idle_agents",
  summary: "Let free workspaces of the project follow its branch",
  params: {},
  words: {},
  holds: false,
};

const syncRepo: ActionDeclaration = {
  name: "sync_repo",
  summary: "Fetch the project's repository",
  params: {},
  words: {},
  holds: false,
};

/** All actions by name. Each is declared above and listed here. */
export const actions: Readonly<Record<string, ActionDeclaration>> = Object.fromEntries(
  [
    acquireWorkspace,
    closeTicket,
    createBranch,
    createPr,
    deleteBranch,
    deleteRemoteBranch,
    harvestUncommitted,
    increment,
    killAgent,
    killSession,
    mergePr,
    merge,
    nameBranch,
    notifyAgent,
    notify,
    postComment,
    pushBranch,
    releaseWorkspace,
    runCommand,
    runTests,
    setField,
    spawnAgent,
    spawnNext,
    syncIdleAgents,
    syncRepo,
  ].map((action) => [action.name, action]),
);

/** Other names of actions, which the seed workflows use. */
export const aliases: Readonly<
  Record<string, { readonly action: string; readonly params: Readonly<Record<string, string>> }>
> = {
  spawn_reviewer: { action: "spawn_agent", params: { role: "reviewer", harness: "review", permissions: "reduced" } },
  kill_reviewer: { action: "kill_agent", params: { role: "reviewer" } },
  notify_worker: { action: "notify_agent", params: { role: "worker" } },
  increment_review_round: { action: "increment", params: { field: "review_round" } },
};
