/** How a reader gets from one file to another without an import. */
export type Link =
  | "over the socket"
  | "by the table of handlers"
  | "by an effect"
  /** The caller knows an interface of src/ports, and this file implements it. */
  | "through a port"
  /** The caller knows the interface Core, and this file assembles it. */
  | "through the core"
  | "as a program of its own";

/** `file: symbol`, from `src`. */
export type Station = string | { readonly at: string; readonly link: Link };

export interface Leg {
  readonly title: string;
  readonly stations: readonly Station[];
}

export interface Walk {
  readonly title: string;
  /** The maximum number of distinct files. */
  readonly limit: number;
  readonly legs: readonly Leg[];
}

/**
 * The files that a reader opens, in order, to follow an operation from beginning to end. A station is on the path, or its
 * result decides the path. Omitted are leaves whose name is enough (paths, hashes, log, time, text), type declarations, and
 * code that runs concurrently (needs, calls, deadlines, the event feed). V8 coverage of the command line and of a daemon
 * shows which files ran; a file that ran and is on no walk belongs to those.
 */
export const walks: readonly Walk[] = [
  {
    title: "`task update --status` from a reviewer's pane to git and tmux",
    limit: 70,
    legs: [
      {
        title: "the command line asks",
        stations: [
          "cli/main.ts: main",
          "cli/fast/update.ts: fastUpdate",
          "home/places.ts: homePlaces",
          "cli/fast/ask-daemon.ts: askDaemon",
          "api/socket-request.ts: socketRequest",
        ],
      },
      {
        title: "the daemon takes the request",
        stations: [
          { at: "daemon/http/serve.ts: answer", link: "over the socket" },
          "daemon/http/request.ts: checkRequest",
          "daemon/http/identify.ts: identify",
          "daemon/callers.ts: createCallers",
          "api/routes.ts: routes",
          "api/wire.ts: problemsOf",
          "daemon/handlers.ts: createHandlers",
          { at: "daemon/requests/move-task.ts: moveTask", link: "by the table of handlers" },
          "daemon/authorise.ts: actorFor",
          { at: "daemon/create-core.ts: createCore", link: "through the core" },
          "daemon/submit.ts: createSubmit",
          "daemon/daemon-store.ts: createDaemonStore",
        ],
      },
      {
        title: "it looks at the workspace",
        stations: [
          "daemon/look.ts: gatherFacts",
          "daemon/workspaces/outside.ts: createOutside",
          "daemon/git-parts.ts: createGitParts",
          "daemon/workspaces/guard-workspaces.ts: guardWorkspaces",
          "daemon/workspaces/project-workspaces.ts: createWorkspaces",
          { at: "adapters/git/workspace/kinds.ts: createWorktrees", link: "through a port" },
          "adapters/git/workspace/inspect.ts: inspect",
          "adapters/git/workspace/worktree.ts: worktreeMechanics",
          "adapters/git/workspace/changes.ts: listChanges",
          "adapters/git/git-folder.ts: readHead",
          { at: "adapters/git/git.ts: createGit", link: "through a port" },
          "adapters/git/user/obeyed.ts: createObeyed",
          "adapters/git/control/collect.ts: collect",
          "adapters/git/control/history.ts: countCommits",
          "adapters/git/runner.ts: createRunner",
          "daemon/landing-place.ts: placeOf",
          "daemon/landing-place.ts: userBranch",
          "daemon/workspaces/task-files.ts: readTaskFiles",
          "adapters/git/workspace/task-file.ts: readTaskFile",
          "daemon/task-documents.ts: writeDocument",
          "documents/task-document.ts: parseTaskDocument",
          "documents/sections.ts: sectionStarts",
        ],
      },
      {
        title: "the engine decides",
        stations: [
          "engine/decide.ts: decide",
          "engine/move.ts: decideMove",
          "engine/when.ts: allHold",
          "engine/gate.ts: gateReasons",
          "engine/enter.ts: enter",
          "engine/draft.ts: startDraft",
          "engine/prompt.ts: buildPrompt",
          "engine/decision.ts: apply",
        ],
      },
      {
        title: "the decision is saved",
        stations: [
          { at: "adapters/sqlite/store.ts: createSqliteStore", link: "through a port" },
          "adapters/sqlite/tasks.ts: createTasks",
          "adapters/sqlite/effects.ts: createEffects",
          "adapters/sqlite/history.ts: createHistory",
          "adapters/sqlite/connection.ts: createWriter",
          "daemon/views.ts: viewOf",
          "cli/fast/tell.ts: tellChange",
        ],
      },
      {
        title: "the reviewer is ended, the worker is told",
        stations: [
          "daemon/perform.ts: createPerformer",
          "daemon/agents/agents.ts: createAgents",
          { at: "daemon/agents/brake.ts: killAgent", link: "by an effect" },
          "daemon/agents/heal-run.ts: killRun",
          { at: "adapters/tmux/tmux.ts: createTmux", link: "through a port" },
          "adapters/tmux/windows.ts: closeWindow",
          "adapters/processes/end-family.ts: endFamily",
          { at: "adapters/processes/processes.ts: createProcesses", link: "through a port" },
          { at: "daemon/agents/messages.ts: tellAgent", link: "by an effect" },
          "daemon/agents/run-order.ts: runPrompt",
          "daemon/agents/dispatch.ts: createDispatch",
          "daemon/agents/watch-run.ts: watchRun",
          "adapters/tmux/typing.ts: pasteInto",
          "adapters/tmux/run-tmux.ts: runTmux",
          "engine/settled.ts: settled",
        ],
      },
    ],
  },
  {
    title: "a task is created until its agent is started",
    limit: 50,
    legs: [
      {
        title: "the command line asks",
        stations: [
          "cli/main.ts: main",
          "cli/start.ts: start",
          "cli/start.ts: createApp",
          "cli/start.ts: taskCommands",
          "cli/commands/task-create.ts: create",
          "cli/find.ts: findProject",
          "cli/connect.ts: createCall",
          "api/client.ts: createClient",
          "cli/fast/ask-daemon.ts: askDaemon",
          "api/socket-request.ts: socketRequest",
        ],
      },
      {
        title: "the daemon makes the task",
        stations: [
          { at: "daemon/http/serve.ts: answer", link: "over the socket" },
          "api/routes.ts: routes",
          "daemon/handlers.ts: createHandlers",
          { at: "daemon/requests/tasks.ts: createTask", link: "by the table of handlers" },
          "daemon/make-task.ts: makeTask",
          "daemon/choose-workflow.ts: chooseWorkflow",
          "home/workflows.ts: findWorkflow",
          "engine/language/load.ts: loadWorkflow",
          "daemon/agents/harnesses.ts: checkNeeds",
          "engine/create.ts: createTask",
          { at: "daemon/create-core.ts: createCore", link: "through the core" },
          "daemon/daemon-store.ts: createDaemonStore",
          { at: "adapters/sqlite/store.ts: createSqliteStore", link: "through a port" },
          "adapters/sqlite/tasks.ts: createTasks",
        ],
      },
      {
        title: "a slot is free, and the task leaves its first state",
        stations: [
          "daemon/scheduler.ts: createScheduler",
          "daemon/submit.ts: createSubmit",
          "daemon/look.ts: gatherFacts",
          "engine/decide.ts: decide",
          "engine/continue.ts: decideContinue",
          "engine/take-rule.ts: endWait",
          "engine/enter.ts: enter",
          "engine/draft.ts: startDraft",
          "daemon/perform.ts: createPerformer",
        ],
      },
      {
        title: "it gets a workspace",
        stations: [
          "daemon/git-parts.ts: createGitParts",
          { at: "daemon/effects/workspace.ts: acquireWorkspace", link: "by an effect" },
          "daemon/workspaces/pool.ts: bindWorkspace",
          "daemon/workspaces/guard-workspaces.ts: guardWorkspaces",
          { at: "adapters/git/workspace/kinds.ts: createWorktrees", link: "through a port" },
          "adapters/git/workspace/prepare.ts: prepare",
          "adapters/git/workspace/worktree.ts: worktreeMechanics",
          "adapters/git/runner.ts: createRunner",
          "daemon/workspaces/task-files.ts: placeTaskFiles",
        ],
      },
      {
        title: "its agent is started",
        stations: [
          "daemon/agents/agents.ts: createAgents",
          { at: "daemon/agents/start-run.ts: spawnAgent", link: "by an effect" },
          "daemon/agents/dispatch.ts: createDispatch",
          "daemon/agents/run-order.ts: launchRun",
          "engine/prompt.ts: buildPrompt",
          { at: "adapters/harness/scripted.ts: scripted", link: "through a port" },
          { at: "adapters/tmux/tmux.ts: createTmux", link: "through a port" },
          "adapters/tmux/windows.ts: openWindow",
          "adapters/tmux/launch-order.ts: writeOrder",
          { at: "adapters/tmux/launch.ts: launch", link: "as a program of its own" },
        ],
      },
    ],
  },
  {
    title: "`task merge` until it is published",
    limit: 32,
    legs: [
      {
        title: "the command line asks",
        stations: [
          "cli/main.ts: main",
          "cli/start.ts: start",
          "cli/start.ts: createApp",
          "cli/start.ts: taskCommands",
          "cli/commands/task-merge.ts: merge",
          "cli/find.ts: nameTask",
          "cli/connect.ts: createCall",
          "cli/fast/ask-daemon.ts: askDaemon",
          "api/socket-request.ts: socketRequest",
        ],
      },
      {
        title: "the daemon asks whether the task may be done",
        stations: [
          { at: "daemon/http/serve.ts: answer", link: "over the socket" },
          "api/routes.ts: routes",
          "daemon/handlers.ts: createHandlers",
          { at: "daemon/requests/merge-task.ts: mergeTask", link: "by the table of handlers" },
          "daemon/authorise.ts: actorFor",
          "engine/decide.ts: decide",
        ],
      },
      {
        title: "the task waits in the queue of its branch",
        stations: [
          "daemon/merging/merging.ts: createMerging",
          "daemon/merging/merge-queue.ts: createMergeQueue",
          "daemon/merging/land.ts: landEntries",
          "daemon/task-work.ts: mergeableWork",
          "daemon/landing-place.ts: placeAt",
        ],
      },
      {
        title: "its work is merged and tested",
        stations: [
          "daemon/merging/stack.ts: stackUp",
          { at: "adapters/git/git.ts: createGit", link: "through a port" },
          "adapters/git/control/collect.ts: syncFrom",
          "adapters/git/control/merge.ts: mergeAll",
          "adapters/git/control/history.ts: createTrunk",
          "adapters/git/control/tree-merge.ts: mergeTrees",
          "adapters/git/control/objects.ts: openDrafts",
          { at: "daemon/merging/test-merged.ts: testMerged", link: "through the core" },
        ],
      },
      {
        title: "the user's branch is moved",
        stations: [
          "daemon/landing-place.ts: publishCommit",
          "adapters/git/user/publish.ts: publish",
          "adapters/git/user/repository.ts: giveObjects",
          "adapters/git/user/repository.ts: listWorktrees",
          "adapters/git/user/forward-worktree.ts: forwardWorktree",
          "adapters/git/runner.ts: createRunner",
          "daemon/submit.ts: createSubmit",
          "cli/tell.ts: tellMerge",
        ],
      },
    ],
  },
  {
    title: "a YAML file until `verify` prints a finding",
    limit: 28,
    legs: [
      {
        title: "the command line finds the file",
        stations: [
          "cli/main.ts: main",
          "cli/start.ts: start",
          "cli/start.ts: createApp",
          "cli/commands/workflow.ts: workflowCommands",
          "cli/commands/verify.ts: verify",
          "home/workflows.ts: findWorkflow",
          "cli/findings.ts: loadFound",
        ],
      },
      {
        title: "the text becomes a workflow",
        stations: [
          "engine/language/load.ts: loadWorkflow",
          "engine/language/tree.ts: readTree",
          "engine/language/shape.ts: readShape",
          "engine/language/schema.ts: workflowShape",
          "engine/language/problem.ts: createReporter",
          "engine/language/read-settings.ts: readSettings",
          "engine/language/read-ways.ts: readWays",
          "engine/language/read-action.ts: readAction",
          "engine/language/read-wait.ts: readWait",
          "engine/language/read-run.ts: readRun",
          "engine/language/check-rules.ts: checkRules",
          "engine/language/check-ways.ts: checkAmbiguity",
        ],
      },
      {
        title: "everything that it can do is explored",
        stations: [
          "engine/verify/verify.ts: verify",
          "engine/explore/graph.ts: explore",
          "engine/explore/stimuli.ts: stimuli",
          "engine/explore/step.ts: requestOf",
          "engine/explore/world.ts: takeStep",
          "engine/decide.ts: decide",
        ],
      },
      {
        title: "what is wrong becomes findings",
        stations: [
          "engine/verify/check-ends.ts: checkEnds",
          "engine/verify/check-ends.ts: checkCycles",
          "engine/verify/check-gates.ts: checkProducers",
          "engine/verify/check-coverage.ts: checkLeaks",
          "engine/verify/check-coverage.ts: checkExplored",
          "engine/verify/finding.ts: exampleOf",
          "cli/findings.ts: writeFinding",
        ],
      },
    ],
  },
  {
    title: "`crew run` gives a ticket to an agent",
    limit: 22,
    legs: [
      {
        title: "the command line asks",
        stations: [
          "cli/main.ts: main",
          "cli/start.ts: start",
          "cli/start.ts: createApp",
          "cli/commands/crew.ts: crewCommands",
          "cli/commands/crew.ts: run",
          "cli/find.ts: findProject",
          "cli/connect.ts: createCall",
          "cli/fast/ask-daemon.ts: askDaemon",
          "api/socket-request.ts: socketRequest",
        ],
      },
      {
        title: "the daemon looks for tickets",
        stations: [
          { at: "daemon/http/serve.ts: answer", link: "over the socket" },
          "api/routes.ts: routes",
          "daemon/handlers.ts: createHandlers",
          { at: "daemon/requests/crew.ts: runCrew", link: "by the table of handlers" },
          { at: "daemon/crew/crew.ts: createCrewRunner", link: "through the core" },
          "daemon/crew/tickets.ts: readTickets",
          { at: "adapters/ticket-files.ts: ticketFiles", link: "through a port" },
          "tickets/ticket.ts: readTicket",
          "tickets/ready-tickets.ts: givingOrder",
        ],
      },
      {
        title: "a task is made for an idle agent",
        stations: [
          "daemon/crew/give-ticket.ts: giveTicket",
          "daemon/make-task.ts: makeTask",
          "daemon/choose-workflow.ts: chooseWorkflow",
          "engine/create.ts: createTask",
          { at: "daemon/daemon-store.ts: createDaemonStore", link: "through a port" },
          { at: "adapters/sqlite/tasks.ts: createTasks", link: "through a port" },
        ],
      },
    ],
  },
];
