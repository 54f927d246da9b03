/** Bugs that break a promise in simulated lives. */
export const foundByLives: readonly Mutant[] = [
  {
    name: "an idle agent keeps its seat",
    isCrowded: true,
    edits: [
      {
        file: "src/daemon/agents/agents.ts",
        from: 'else if (activity !== "unknown" && !mail.isTelling(watch)) dispatch.rests(watch.run.id);',
        to: "",
      },
    ],
  },
  {
    name: "raising a limit wakes no waiting run",
    isCrowded: true,
    edits: [
      {
        file: "src/daemon/agents/agents.ts",
        from: "    configured() {\n      dispatch.wake();",
        to: "    configured() {",
      },
    ],
  },
  {
    name: "an idle agent receives a message without a seat",
    isCrowded: true,
    edits: [
      {
        file: "src/daemon/agents/messages.ts",
        from: "if (!(await ports.takeSeat(watch)) || !(await isReady(ports, watch))) return false;",
        to: "",
      },
    ],
  },
  {
    name: "an agent that its state waits for goes to sleep",
    isCrowded: true,
    edits: [
      {
        file: "src/daemon/agents/sleepers.ts",
        from: "|| (await isWaitedFor(watch.run))) return;",
        to: ") return;",
      },
      {
        file: "src/daemon/agents/sleepers.ts",
        from: "if ((await mail.untold(run)).length > 0 || (await isWaitedFor(run))) rouse(run.id);",
        to: "if ((await mail.untold(run)).length > 0) rouse(run.id);",
      },
    ],
  },
  {
    name: "an unreachable agent counts as lost while it lives",
    edits: [
      {
        file: "src/daemon/agents/heal-run.ts",
        from: "const hasSwept = await sweepRun(ports, watch.run);",
        to: "const hasSwept = false;",
      },
    ],
  },
  {
    name: "an effect is marked done before it is performed",
    edits: [
      {
        file: "src/daemon/perform.ts",
        from: "if (!unnoted.has(key)) await perform(",
        to: "await store.finishEffect(owed.id, clock.now());\n    if (!unnoted.has(key)) await perform(",
      },
    ],
  },
  {
    name: "the last effect is performed first",
    edits: [
      {
        file: "src/daemon/perform.ts",
        from: "const [first] = await ports.store.openEffects(task);",
        to: "const first = (await ports.store.openEffects(task)).at(-1);",
      },
    ],
  },
  {
    name: "after a start the owed effects are not performed",
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
    name: "no compare-and-set, and no mutex for requests",
    edits: [
      {
        file: "test/memory-store/memory-store.ts",
        from: "if (row.revision !== revision) throw conflict(task.id, revision, row.revision);",
        to: "void conflict;",
      },
      {
        file: "src/daemon/submit.ts",
        from: ": inTurn(id, async () => {",
        to: ": ((_: string, run: () => Promise<Answer>) => run())(id, async () => {",
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
    name: "a verdict counts for every commit",
    edits: [
      {
        file: "src/engine/gate.ts",
        from: 'if (gate.verdict !== "PASS" || artifact.commit === "" || head === "" || artifact.commit === head) return undefined;',
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
    name: "a live run is started again",
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
    name: "a run that must be killed is only removed from the task",
    edits: [{ file: "src/daemon/agents/brake.ts", from: "await kill?.(run);", to: "void kill;" }],
  },
  {
    name: "the end of a run is never reported",
    edits: [
      {
        file: "src/engine/reconcile.ts",
        from: 'if (sight.process === "ended") return { kind: "judge" };',
        to: 'if (sight.process === "ended") return { kind: "none" };',
      },
    ],
  },
  {
    name: "a failed merge counts as merged",
    edits: [
      {
        file: "src/daemon/merging/merge-effect.ts",
        from: 'if (merge.state !== "merged") throw new Fault(wordOf(merge), await reasonOf(ports, task, merge));',
        to: 'if (merge.state !== "merged") return void [wordOf, reasonOf];',
      },
    ],
  },
  {
    name: "the daemon does not check that the branch contains the work",
    edits: [
      {
        file: "src/daemon/landing-place.ts",
        from: 'if (result.kind === "moved") return { kind: "moved" };',
        to: 'if (result.kind === "moved") return { kind: "published" };',
      },
    ],
  },
  {
    name: "uncommitted files of a workspace are not salvaged",
    edits: [
      {
        file: "src/daemon/workspaces/pool.ts",
        from: "let salvage = await save();",
        to: "let salvage: Salvage | undefined = { saved: undefined, ignored: [], repositories: [], refused: [] };",
      },
      {
        file: "src/daemon/effects/workspace.ts",
        from: "const left = isUnsaved ? await save() : { salvaged: false };",
        to: "const left = { salvaged: isUnsaved };",
      },
    ],
  },
  {
    name: "two tasks get the same workspace",
    edits: [
      {
        file: "src/daemon/workspaces/pool.ts",
        from: "const free = unbound.find(({ readyFor }) => readyFor === task.id) ?? unbound[0];",
        to: "const free = unbound[0] ?? pool[0];",
      },
    ],
  },
  {
    name: "a failed effect counts as done",
    edits: [
      {
        file: "src/daemon/perform.ts",
        from: "return store.failEffect(owed.id, failure);",
        to: "return store.finishEffect(owed.id, clock.now());",
      },
    ],
  },
  {
    name: "the end of a run is recorded before it is reported to the engine",
    edits: [
      {
        file: "src/daemon/agents/run-record.ts",
        from: "  await callers.revoke(task, run);\n",
        to: `  await callers.revoke(task, run);
  const early = await store.runs.get(runRecordId(task, run));
  if (early !== undefined) await store.runs.put({ ...early, endedAt: clock.now(), word });\n`,
      },
    ],
  },
  {
    name: "a verdict is not read",
    edits: [
      {
        file: "src/engine/gate.ts",
        from: "return stale ?? fieldReason(gate, section.body) ?? verdictReason(gate, section.body);",
        to: "void verdictReason;\n  return stale ?? fieldReason(gate, section.body);",
      },
    ],
  },
  {
    name: "a verdict counts again after the task has returned to the state",
    edits: [
      {
        file: "src/engine/gate.ts",
        from: "if (spent.sections.includes(section.fingerprint) && (",
        to: "if (spent.sections.length < 0 && (",
      },
    ],
  },
  {
    name: "a message that may have been typed is typed again",
    edits: [
      {
        file: "src/daemon/agents/messages.ts",
        from: "const isInDoubt = message.triedAt !== undefined;",
        to: "const isInDoubt = message.triedAt === -1;",
      },
    ],
  },
  {
    name: "a ticket whose task has ended is given out again",
    edits: [
      {
        file: "src/daemon/crew/crew.ts",
        from: 'status === "open" && !tasks.has(id)',
        to: 'status === "open" && tasks.get(id)?.open === undefined',
      },
    ],
  },
];

/** A plausible bug, as edits of the source. Each text to be replaced occurs in its file exactly once. */
export interface Mutant {
  readonly name: string;
  /** The test file that must find it, where the simulator cannot: what it is about is not simulated, or happens too seldom. */
  readonly test?: string;
  /** It is found in lives with more tasks than seats. */
  readonly isCrowded?: true;
  /** It is found in lives of this workflow; missing: of any. */
  readonly workflow?: string;
  readonly edits: readonly { readonly file: string; readonly from: string; readonly to: string }[];
}
