import type { Mutant } from "./mutant.ts";

/** Bugs that a test must find: it is named with each. */
export const foundByTests: readonly (Mutant & { readonly test: string })[] = [
  {
    name: "what is committed while it is merged is forgotten",
    edits: [
      {
        file: "src/daemon/merging/merging.ts",
        from: "!(await hasAll(ports, task.id, merge))",
        to: "hasAll === undefined",
      },
    ],
    test: "test/daemon/merging.test.ts",
  },
  {
    name: "the end of one run is taken for that of another of the same role",
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
    name: "whoever has a credential may ask about every task",
    edits: [
      {
        file: "src/daemon/requests/standing.ts",
        from: "if (credential.task !== task.id) {",
        to: 'if (credential.task === "") {',
      },
    ],
    test: "test/api/who-asks.test.ts",
  },
  {
    name: "a ticket is closed before its work is merged",
    edits: [
      {
        file: "src/daemon/effects/close-ticket.ts",
        from: 'if (merge?.state === "merged" && merge.target === defaultBranch) return',
        to: "if (merge !== undefined) return",
      },
    ],
    test: "src/daemon/effects/close-ticket.test.ts",
  },
  {
    name: "a task gets its slot although all are taken",
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
    name: "a deadline begins anew with every edit",
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
    name: "what is saved may go with the power",
    edits: [
      {
        file: "src/adapters/store/sqlite/connect.ts",
        from: "pragma synchronous = full",
        to: "pragma synchronous = normal",
      },
    ],
    test: "test/contracts/sqlite-faults.test.ts",
  },
  {
    name: "the database is written over whatever revision is there",
    edits: [
      {
        file: "src/adapters/store/sqlite/tasks.ts",
        from: "if (now !== revision) throw conflict(id, revision, now);",
        to: "if (now < 0) throw conflict(id, revision, now);",
      },
    ],
    test: "test/contracts/store.test.ts",
  },
  {
    name: "what failed is tried again without a pause",
    edits: [
      {
        file: "src/daemon/perform.ts",
        from: "wakeIn(task, Math.min(firstPause * 2 ** count, longestPause));",
        to: "wakeIn(task, 0 * count * longestPause);",
      },
    ],
    test: "test/daemon/perform.test.ts",
  },
  {
    name: "a task is known as it was while a decision about it is being saved",
    edits: [
      {
        file: "src/daemon/remembered.ts",
        from: "    this.forget(key);\n    const writing =",
        to: "    const writing =",
      },
    ],
    test: "src/daemon/remembered.test.ts",
  },
  {
    name: "what is in a folder is collected for whoever had it before",
    edits: [
      {
        file: "src/daemon/workspaces/guard-workspaces.ts",
        from: "if (known !== undefined && known.task !== order.task) throw",
        to: "if (known === undefined && order.task === known) throw",
      },
    ],
    test: "src/daemon/workspaces/guard-workspaces.test.ts",
  },
  {
    name: "an agent that was about to take a ticket when the daemon died is left so",
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
    name: "a workspace is cleaned ahead of time that a task has got meanwhile",
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
    name: "whoever was to be started by what was dropped counts as alive",
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
    name: "a merge that waits is looked at by a clock that was set back",
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
    name: "what a person wanted merged before the task moved on is merged after a crash",
    edits: [
      {
        file: "src/daemon/merging/merging.ts",
        from: "const isWanted = isSameStay(merge, stored.task);",
        to: "const isWanted = isSameStay !== undefined;",
      },
    ],
    test: "test/daemon/merging.test.ts",
  },
  {
    name: "a task settles with what it has come to owe since somebody looked",
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
    name: "what is cut short because the daemon stops counts as failed",
    edits: [
      {
        file: "src/daemon/perform.ts",
        from: "    if (isStopped()) return;\n    return noteFailure",
        to: "    void isStopped;\n    return noteFailure",
      },
    ],
    test: "test/daemon/perform-tries.test.ts",
  },
  {
    name: "what is published is noted when it is there",
    edits: [
      {
        file: "src/daemon/merging/land.ts",
        from: "  await round.planned(merged);\n  const result = await publishCommit(round, own, project, target, tips, top);\n",
        to: "  const result = await publishCommit(round, own, project, target, tips, top);\n  await round.planned(merged);\n",
      },
    ],
    test: "src/daemon/merging/land.test.ts",
  },
  {
    name: "a merge is pushed although the user's checkout cannot follow",
    edits: [
      {
        file: "src/daemon/merging/publish-commit.ts",
        from: "const waits = commit === user || follows ?",
        to: "const waits = commit === user || remote !== undefined ?",
      },
    ],
    test: "src/daemon/merging/publish-commit.test.ts",
  },
  {
    name: "in another task's workspace a person is believed to be one",
    edits: [
      {
        file: "src/daemon/requests/standing.ts",
        from: "if (own === undefined) return undefined;",
        to: "if (own !== task.id) return undefined;",
      },
    ],
    test: "test/api/who-asks.test.ts",
  },
  {
    name: "what was salvaged may lose its name with the power",
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
    name: "a workspace is given back that another task has got since",
    edits: [
      {
        file: "src/daemon/workspaces/bind-workspace.ts",
        from: "if (now?.task === workspace.task) await",
        to: "if (now !== undefined) await",
      },
    ],
    test: "src/daemon/workspaces/bind-workspace.test.ts",
  },
  {
    name: "what is read in a folder counts for the task that has given it back meanwhile",
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
    name: "after a start an agent is what it was before somebody gave it a ticket",
    edits: [
      {
        file: "src/daemon/crew/crew-runner.ts",
        from: "for (const { id } of await core().store.agents.list({})) {",
        to: "for (const old of await core().store.agents.list({})) {\n        const { id } = old;",
      },
      {
        file: "src/daemon/crew/crew-runner.ts",
        from: "async (found) => found && settleAgent(core(), found)",
        to: "async () => settleAgent(core(), old)",
      },
    ],
    test: "test/daemon/crew.test.ts",
  },
  {
    name: "what had arrived when a crash came is merged and told once more",
    edits: [
      {
        file: "src/daemon/merging/merging.ts",
        from: 'return before.endedAt === undefined || (before.state === "merged" && before.entry === now.entry);',
        to: "return before.endedAt === undefined;",
      },
    ],
    test: "test/daemon/merging.test.ts",
  },
  {
    name: "nobody is roused after a start",
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
    name: "a run that ends while it waits for a seat gets one all the same",
    edits: [
      {
        file: "src/daemon/agents/dispatch.ts",
        from: "refuse((seat) => seat.run === run, superseded());",
        to: "",
      },
    ],
    test: "src/daemon/agents/dispatch.test.ts",
  },
];
