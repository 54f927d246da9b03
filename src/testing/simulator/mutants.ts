/** A bug that somebody could make, as changes of the source. Each text to be replaced stands in its file exactly once. */
export interface Mutant {
  readonly name: string;
  /** The test file that must find it, where the simulator cannot: what it is about is not simulated. */
  readonly test?: string;
  readonly edits: readonly { readonly file: string; readonly from: string; readonly to: string }[];
}

/** What the simulator, or a test, must be able to find. */
export const mutants: readonly Mutant[] = [
  {
    name: "an effect is ticked off before it is carried out",
    edits: [
      {
        file: "src/daemon/perform.ts",
        from: "if (!unnoted.has(key)) await perform(",
        to: "await store.finishEffect(owed.id, clock.now());\n    if (!unnoted.has(key)) await perform(",
      },
    ],
  },
  {
    name: "the last effect is carried out first",
    edits: [
      {
        file: "src/daemon/perform.ts",
        from: "const [first] = await ports.store.openEffects(task);",
        to: "const first = (await ports.store.openEffects(task)).at(-1);",
      },
    ],
  },
  {
    name: "after a start nobody carries out what is owed",
    edits: [
      {
        file: "src/daemon/perform.ts",
        from: 'for (const { task } of page) if (task.phase !== "waiting" || (await hasFailed(store, task))) wake(task.id);',
        to: "",
      },
      { file: "src/daemon/perform.ts", from: "await wakeOwing(Number.MAX_SAFE_INTEGER);", to: "" },
      { file: "src/daemon/perform.ts", from: "wakeOwing(clock.now()).catch", to: "Promise.resolve().catch" },
    ],
  },
  {
    name: "no compare-and-set, and requests are not taken in turn",
    edits: [
      {
        file: "src/adapters/store/memory/tasks.ts",
        from: "if (row.revision !== revision) throw conflict(task.id, revision, row.revision);",
        to: "void conflict;",
      },
      {
        file: "src/daemon/submit.ts",
        from: "inTurn(id, () => submit(id, request, document));",
        to: "(void inTurn, submit(id, request, document));",
      },
    ],
  },
  {
    name: "an event is not saved with its decision",
    edits: [
      {
        file: "src/daemon/submit.ts",
        from: "events: [...changes, ...events],",
        to: "events: [...changes, ...events.slice(0, 1)],",
      },
    ],
  },
  {
    name: "a section counts whoever wrote it",
    edits: [
      {
        file: "src/daemon/write-document.ts",
        from: "const own = headings.filter((heading) => isPerson || ownsSection(workflow, role, heading));",
        to: "const own = headings.filter(() => isPerson || ownsSection !== undefined);",
      },
      {
        file: "src/engine/gate.ts",
        from: 'if (artifact.role !== "human" && !ownsSection(',
        to: 'if (artifact.role === "nobody" && !ownsSection(',
      },
    ],
  },
  {
    name: "a verdict counts for every commit",
    edits: [
      {
        file: "src/engine/gate.ts",
        from: 'if (gate.verdict === undefined || artifact.commit === "" || head === "" || artifact.commit === head) return undefined;',
        to: "if (head !== null) return undefined;",
      },
    ],
  },
  {
    name: "gates are not read",
    edits: [
      {
        file: "src/engine/gate.ts",
        from: "if (way.gates.length === 0) return reasons;",
        to: "if (way.gates.length >= 0) return reasons;",
      },
    ],
  },
  {
    name: "a run is started again although it lives",
    edits: [
      {
        file: "src/daemon/agents/start-run.ts",
        from: "const name = runName(task.id, order.run);",
        to: 'const name = [runName(task.id, order.run), key.replace(/\\W/g, "-"), clock.now()].join("-");',
      },
      {
        file: "src/daemon/agents/start-run.ts",
        from: "if (known?.started !== undefined && (await isThere(ports, known.started)))",
        to: "if (known?.started !== undefined && isThere === undefined)",
      },
    ],
  },
  {
    name: "who is to be killed is only crossed off",
    edits: [{ file: "src/daemon/effects/end-agents.ts", from: "await kill?.(run);", to: "void kill;" }],
  },
  {
    name: "the end of a run is never told",
    edits: [
      {
        file: "src/engine/reconcile.ts",
        from: 'if (sight.process === "ended") return { kind: "judge" };',
        to: 'if (sight.process === "ended") return { kind: "none" };',
      },
    ],
  },
  {
    name: "what could not be merged counts as merged",
    edits: [
      {
        file: "src/daemon/effects/merge.ts",
        from: 'if (merge.state !== "merged") throw new Fault(wordOf(merge), merge.reason);',
        to: "void [Fault, wordOf, merge];",
      },
    ],
  },
  {
    name: "nobody looks whether the work has arrived in the branch",
    edits: [
      {
        file: "src/daemon/merging/publish-commit.ts",
        from: 'if (result.kind === "moved") return { kind: "moved" };',
        to: 'if (result.kind === "moved") return { kind: "published" };',
      },
    ],
  },
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
    name: "what is left in a workspace is not saved",
    edits: [
      {
        file: "src/daemon/workspaces/release-workspaces.ts",
        from: "await saveWorkspace(ports, await ports.workspacesOf(project), workspace.path, task);",
        to: "void saveWorkspace;",
      },
      { file: "src/daemon/effects/acquire-workspace.ts", from: "if (isLeft) await save();", to: "" },
    ],
  },
  {
    name: "two tasks get the same workspace",
    edits: [
      {
        file: "src/daemon/workspaces/bind-workspace.ts",
        from: "const free = unbound.find(({ readyFor }) => readyFor === task.id) ?? unbound[0];",
        to: "const free = unbound[0] ?? pool[0];",
      },
    ],
  },
  {
    name: "an effect that has failed counts as carried out",
    edits: [
      {
        file: "src/daemon/perform.ts",
        from: "return store.failEffect(owed.id, { word, reason });",
        to: "return store.finishEffect(owed.id, clock.now());",
      },
    ],
  },
  {
    name: "the end of a run is noted before the engine is told",
    edits: [
      {
        file: "src/daemon/agents/report-end.ts",
        from: "  await callers.revoke(task, run);\n",
        to: `  await callers.revoke(task, run);
  const early = await store.runs.get(runRecordId(task, run));
  if (early !== undefined) await store.runs.put({ ...early, endedAt: clock.now(), word });\n`,
      },
    ],
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
    name: "a verdict is not read",
    edits: [
      {
        file: "src/engine/gate.ts",
        from: "return fieldReason(gate, section.body) ?? verdictReason(gate, section.body);",
        to: "void verdictReason;\n  return fieldReason(gate, section.body);",
      },
    ],
  },
  {
    name: "a verdict counts again after the task has come back",
    edits: [
      {
        file: "src/engine/gate.ts",
        from: "if (spent.sections.includes(section.fingerprint) && (",
        to: "if (spent.sections.length < 0 && (",
      },
    ],
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
    name: "a message that may have been typed is typed again",
    edits: [
      {
        file: "src/daemon/agents/deliver.ts",
        from: "const isInDoubt = message.triedAt !== undefined;",
        to: "const isInDoubt = message.triedAt === -1;",
      },
    ],
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
        from: "if (known?.entry === task.entry) return known.at;",
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
        file: "src/daemon/remember-tasks.ts",
        from: "    known.delete(task);\n    changing.set(",
        to: "    void known;\n    changing.set(",
      },
    ],
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
    name: "a ticket whose task is over is given out again",
    edits: [
      {
        file: "src/daemon/crew/crew-runner.ts",
        from: 'status === "open" && !tasks.has(id)',
        to: 'status === "open" && tasks.get(id)?.open === undefined',
      },
    ],
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
];
