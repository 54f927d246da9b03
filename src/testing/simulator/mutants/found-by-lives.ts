import type { Mutant } from "./mutant.ts";

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
    name: "raising a limit wakes nobody",
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
    name: "an idle agent is told something without a seat",
    isCrowded: true,
    edits: [
      {
        file: "src/daemon/agents/deliver.ts",
        from: "if (!(await ports.takeSeat(watch)) || !(await isReady(ports, watch))) return false;",
        to: "",
      },
    ],
  },
  {
    name: "an agent that is waited for goes to sleep",
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
    name: "an agent that cannot be reached is called lost while it lives",
    edits: [
      {
        file: "src/daemon/agents/heal-run.ts",
        from: "return await sweepRun(ports, watch.run);",
        to: "return false;",
      },
    ],
  },
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
        from: "inTurn(id, () => submit(id, request, document, urgency));",
        to: "(void inTurn, submit(id, request, document, urgency));",
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
    name: "what is left in a workspace is not saved",
    edits: [
      {
        file: "src/daemon/workspaces/release-workspaces.ts",
        from: "const salvage = await saveWorkspace(ports, await ports.workspacesOf(project), workspace.path, task);",
        to: "const salvage = undefined;",
      },
      {
        file: "src/daemon/effects/acquire-workspace.ts",
        from: "const left = isLeft ? await save() : { salvaged: false };",
        to: "const left = { salvaged: isLeft };",
      },
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
        from: "return store.failEffect(owed.id, failure);",
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
    name: "a ticket whose task is over is given out again",
    edits: [
      {
        file: "src/daemon/crew/crew-runner.ts",
        from: 'status === "open" && !tasks.has(id)',
        to: 'status === "open" && tasks.get(id)?.open === undefined',
      },
    ],
  },
];
