import type { Mutant } from "./found-by-lives.ts";

/** Bugs that a test must find; each names its test. */
export const foundByTests: readonly (Mutant & { readonly test: string })[] = [
  {
    name: "a section counts regardless of its author",
    edits: [
      {
        file: "src/daemon/task-documents.ts",
        from: "const own = headings.filter((heading) => isPerson || ownsSection(workflow, role, heading));",
        to: "const own = headings.filter(() => isPerson || ownsSection !== undefined);",
      },
      {
        file: "src/engine/gate.ts",
        from: 'if (artifact.role === "human" || ownsSection(',
        to: 'if (artifact.role !== "nobody" || ownsSection(',
      },
    ],
    test: "test/engine/default-life.test.ts",
  },
  {
    name: "work that a merged pull request lacks counts as merged",
    edits: [
      {
        file: "src/daemon/forge/left-out.ts",
        from: "  const as = mergedCommit",
        to: "  if (base === target) return undefined;\n  const as = mergedCommit",
      },
    ],
    test: "test/scenarios/pipeline-merge.test.ts",
  },
  {
    name: "a pull request is merged into another branch than the target",
    edits: [
      {
        file: "src/daemon/forge/merge-pull-request.ts",
        from: "wrongBase(project, task, status.pullRequest) ?? obstacleIn",
        to: "obstacleIn",
      },
    ],
    test: "test/scenarios/pipeline-merge.test.ts",
  },
  {
    name: "the task is not read again before the forge merges",
    edits: [
      {
        file: "src/daemon/forge/merge-pull-request.ts",
        from: "const commit = await check();",
        to: "const commit = status.pullRequest.headCommit || (await check());",
      },
    ],
    test: "test/scenarios/pipeline-merge.test.ts",
  },
  {
    name: "a pause does not stop a merge on the forge that has begun",
    edits: [
      {
        file: "src/daemon/effects/forge.ts",
        from: "if (ports.stopsWork(project.name,",
        to: "if (ports.stopsWork(project.path,",
      },
    ],
    test: "test/scenarios/pipeline-merge.test.ts",
  },
  {
    name: "nobody is told of a merge that came through after a brake",
    edits: [
      {
        file: "src/daemon/forge/merge-pull-request.ts",
        from: "now.entry === entry || record === undefined",
        to: "now.entry >= entry || record === undefined",
      },
    ],
    test: "test/scenarios/pipeline-merge.test.ts",
  },
  {
    name: "the branch of a merged pull request is pushed again",
    edits: [
      {
        file: "src/daemon/forge/push-task.ts",
        from: "if (await isMergedWhole(ports, project, task)) return true;",
        to: "void isMergedWhole;",
      },
    ],
    test: "test/scenarios/pipeline-merge.test.ts",
  },
  {
    name: "a commit made after the merge was requested is merged too",
    edits: [
      {
        file: "src/daemon/merging/land.ts",
        from: "const commit = asked?.only;",
        to: 'const commit = asked?.only === "" ? "" : undefined;',
      },
    ],
    test: "test/daemon/merging.test.ts",
  },
  {
    name: "a task with commits after its merge ends as if they were merged",
    edits: [
      {
        file: "src/daemon/merging/merging.ts",
        from: 'if (later !== "" || to === "") return later;',
        to: 'if (to === "") return "";',
      },
    ],
    test: "src/daemon/merging/merging.test.ts",
  },
  {
    name: "the merge of a task that moved on during its tests is published",
    edits: [
      {
        file: "src/daemon/merging/land.ts",
        from: "const going = wanted.filter((entry) => isIn.has(entry));",
        to: "void wanted;\n  const going = merged.map(({ entry }) => entry).filter((entry) => isIn.has(entry));",
      },
    ],
    test: "src/daemon/merging/land.test.ts",
  },
  {
    name: "the end of one run counts for another run of the same role",
    edits: [
      {
        file: "src/engine/run-ended.ts",
        from: "task.runs[name]?.key === run);",
        to: 'task.runs[name]?.key.split("#")[0] === run.split("#")[0]);',
      },
    ],
    test: "test/engine/default-life.test.ts",
  },
  {
    name: "a credential is accepted for every task",
    edits: [
      {
        file: "src/daemon/authorise.ts",
        from: "if (credential.task !== task.id) return",
        to: 'if (credential.task === "") return',
      },
    ],
    test: "test/api/who-asks.test.ts",
  },
  {
    name: "a ticket is closed before its work is merged",
    edits: [
      {
        file: "src/daemon/effects/others.ts",
        from: 'if (merge?.state === "merged" && merge.target === defaultBranch) return',
        to: "if (merge !== undefined) return",
      },
    ],
    test: "src/daemon/effects/others.test.ts",
  },
  {
    name: "a task gets a slot when all are taken",
    edits: [
      {
        file: "src/daemon/scheduler.ts",
        from: "return others >= (await ports.poolSize(project));",
        to: "return others > (await ports.poolSize(project));",
      },
    ],
    test: "test/daemon/scheduler.test.ts",
  },
  {
    name: "a deadline restarts with every edit",
    edits: [
      {
        file: "src/daemon/deadlines.ts",
        from: "if (known?.entry === task.entry && !isTriedAgain) return known.at;",
        to: "if (known?.entry === -1) return known.at;",
      },
    ],
    test: "test/daemon/deadlines.test.ts",
  },
  {
    name: "a saved transaction is not durable",
    edits: [
      {
        file: "src/adapters/sqlite/connection.ts",
        from: "pragma synchronous = full",
        to: "pragma synchronous = normal",
      },
    ],
    test: "test/contracts/sqlite-faults.test.ts",
  },
  {
    name: "a write does not check the revision in the database",
    edits: [
      {
        file: "src/adapters/sqlite/tasks.ts",
        from: "if (now !== revision) throw conflict(id, revision, now);",
        to: "if (now < 0) throw conflict(id, revision, now);",
      },
    ],
    test: "test/contracts/store.test.ts",
  },
  {
    name: "a failed effect is retried without a pause",
    edits: [
      {
        file: "src/daemon/perform.ts",
        from: "wakeIn(task, Math.min(firstRetryPause * 2 ** count, maxRetryPause));",
        to: "wakeIn(task, 0 * count * maxRetryPause);",
      },
    ],
    test: "test/daemon/perform.test.ts",
  },
  {
    name: "the cache returns the old task while a decision is being saved",
    edits: [
      {
        file: "src/daemon/store-cache.ts",
        from: "    this.forget(key);\n    const writing =",
        to: "    const writing =",
      },
    ],
    test: "src/daemon/store-cache.test.ts",
  },
  {
    name: "commits of a folder are collected for its former task",
    edits: [
      {
        file: "src/daemon/workspaces/guard-workspaces.ts",
        from: "if (known !== undefined && (known.task !== order.task || isCheckout(known))) throw",
        to: "if (known !== undefined && isCheckout(known)) throw",
      },
    ],
    test: "src/daemon/workspaces/guard-workspaces.test.ts",
  },
  {
    name: "an agent that was about to take a ticket when the daemon died is not recovered",
    edits: [
      {
        file: "src/daemon/crew/give-ticket.ts",
        from: 'if (taking === "") return agent;',
        to: "if (taking.length >= 0) return agent;",
      },
    ],
    test: "src/daemon/crew/give-ticket.test.ts",
  },
  {
    name: "a workspace that was bound to a task meanwhile is parked",
    edits: [
      {
        file: "src/daemon/workspaces/parking.ts",
        from: "const isFree = async () => (await find()) !== undefined;",
        to: "const isFree = async () => true;",
      },
    ],
    test: "src/daemon/workspaces/parking.test.ts",
  },
  {
    name: "a run whose start was dropped counts as alive",
    edits: [
      {
        file: "src/engine/enter.ts",
        from: "  endUnstarted(draft, facts);\n",
        to: "",
      },
    ],
    test: "test/engine/corners.test.ts",
  },
  {
    name: "a waiting merge depends on a clock that was set back",
    edits: [
      {
        file: "src/daemon/merging/merge-queue.ts",
        from: "return left > pause ? 0 : Math.max(0, left);",
        to: "return Math.max(0, left);",
      },
    ],
    test: "src/daemon/merging/merge-queue.test.ts",
  },
  {
    name: "a merge that was requested before the task moved on is published after a crash",
    edits: [
      {
        file: "src/daemon/merging/merging.ts",
        from: "const isWanted = isSameStay(merge, task);",
        to: "const isWanted = isSameStay !== undefined;",
      },
    ],
    test: "test/daemon/merging.test.ts",
  },
  {
    name: "a task settles although it owes effects that were added since the check",
    edits: [
      {
        file: "src/daemon/submit.ts",
        from: "if (open.length > 0 && saysAllIsDone(request))",
        to: "if (open.length < 0 && saysAllIsDone(request))",
      },
    ],
    test: "test/daemon/perform-tries.test.ts",
  },
  {
    name: "an effect that is interrupted by the daemon's stop counts as failed",
    edits: [
      {
        file: "src/daemon/perform.ts",
        from: "if (isStopped() || (isPausedFault(error)",
        to: "void isStopped;\n    if ((isPausedFault(error)",
      },
    ],
    test: "test/daemon/perform-tries.test.ts",
  },
  {
    name: "a publication is recorded only after it happened",
    edits: [
      {
        file: "src/daemon/merging/land.ts",
        from: "  await round.planned(merged);\n  const result = await place.publish({ ...round, pushed: () => round.published(merged) }, tips, top);\n",
        to: "  const result = await place.publish({ ...round, pushed: () => round.published(merged) }, tips, top);\n  await round.planned(merged);\n",
      },
    ],
    test: "src/daemon/merging/land.test.ts",
  },
  {
    name: "a merge is pushed although the user's checkout cannot follow",
    edits: [
      {
        file: "src/daemon/landing-place.ts",
        from: "const waits = commit === user || follows ?",
        to: "const waits = commit === user || remote !== undefined ?",
      },
    ],
    test: "src/daemon/merging/publish-commit.test.ts",
  },
  {
    name: "the person's credential is accepted in another task's workspace",
    edits: [
      {
        file: "src/daemon/authorise.ts",
        from: "if (own === undefined) return undefined;",
        to: "if (own !== task.id) return undefined;",
      },
    ],
    test: "test/api/who-asks.test.ts",
  },
  {
    name: "the ref of salvaged work is not durable",
    edits: [
      {
        file: "src/adapters/git/salvage/salvage.ts",
        from: "    await syncRef(control.folder, ref);\n",
        to: "    void syncRef;\n",
      },
    ],
    test: "test/git/lasting.test.ts",
  },
  {
    name: "a workspace that another task has acquired since is released",
    edits: [
      {
        file: "src/daemon/workspaces/pool.ts",
        from: "if (now?.task === workspace.task) await",
        to: "if (now !== undefined) await",
      },
    ],
    test: "src/daemon/workspaces/bind-workspace.test.ts",
  },
  {
    name: "content read from a folder counts for the task that has released it meanwhile",
    edits: [
      {
        file: "src/daemon/workspaces/outside.ts",
        from: "if (!isStillOurs) return",
        to: "if (!isStillOurs && nowhere === undefined) return",
      },
    ],
    test: "src/daemon/workspaces/outside.test.ts",
  },
  {
    name: "after a start an agent has lost the ticket that it was given",
    edits: [
      {
        file: "src/daemon/crew/crew.ts",
        from: "for (const { id } of await core().store.agents.list({})) {",
        to: "for (const old of await core().store.agents.list({})) {\n        const { id } = old;",
      },
      {
        file: "src/daemon/crew/crew.ts",
        from: "async (found) => found && settleAgent(core(), found)",
        to: "async () => settleAgent(core(), old)",
      },
    ],
    test: "test/daemon/crew.test.ts",
  },
  {
    name: "a merge that was published before a crash is made and reported again",
    edits: [
      {
        file: "src/daemon/merging/merge-record.ts",
        from: 'return (known.only ?? commit) === commit || (now.to === "" && known.reason === "");',
        to: "return known.at < 0;",
      },
    ],
    test: "test/daemon/merging.test.ts",
  },
  {
    name: "no sleeping run is woken after a start",
    edits: [
      {
        file: "src/daemon/agents/sleepers.ts",
        from: "asleep.set(run.id, { ...run, started: run.started });\n      await rouseIfNeeded(run);",
        to: "asleep.set(run.id, { ...run, started: run.started });",
      },
    ],
    test: "src/daemon/agents/sleepers.test.ts",
  },
  {
    name: "a run that ends while it waits for a seat still gets one",
    edits: [
      {
        file: "src/daemon/agents/dispatch.ts",
        from: "refuse((seat) => seat.run === run, superseded());",
        to: "",
      },
    ],
    test: "src/daemon/agents/dispatch.test.ts",
  },
  {
    name: "a program that was prepared for long is started although its task has moved on",
    edits: [
      {
        file: "src/daemon/agents/run-order.ts",
        from: "if (task === undefined || !isWanted(task, run.key)) throw superseded();",
        to: "if (task === undefined) throw superseded();",
      },
    ],
    test: "src/daemon/agents/start-run.test.ts",
  },
  {
    name: "a program that is being started when a person cancels its task stays",
    edits: [
      {
        file: "src/daemon/agents/brake.ts",
        from: "if (start.ending !== undefined) await end(run, start.ending);",
        to: "",
      },
    ],
    test: "test/daemon/brake.test.ts",
  },
  {
    name: "the answer of a run that its task no longer wants is asked for again",
    edits: [
      {
        file: "src/daemon/agents/heal-run.ts",
        from: "if (canAsk && !hasAnswered && isWanted(task, run.key))",
        to: "if (canAsk && !hasAnswered)",
      },
    ],
    test: "src/daemon/agents/end-run.test.ts",
  },
  {
    name: "an idle agent of an earlier daemon receives a message although all seats are taken",
    edits: [
      {
        file: "src/daemon/agents/dispatch.ts",
        from: "if (seats.get(seat.run)?.isAssumed === true) seats.delete(seat.run);",
        to: "",
      },
    ],
    test: "src/daemon/agents/dispatch.test.ts",
  },
];
