import type { Mutant } from "./found-by-lives.ts";

const workflow = "team";
const children = "src/daemon/children/children.ts";
const fanOut = "src/engine/fan-out.ts";
const findings = "src/engine/review.ts";
const ofFanOut = "src/engine/fan-out.test.ts";
const ofChildren = "test/daemon/children.test.ts";
const ofFindings = "src/engine/findings.test.ts";

/** Bugs in plans, parts, findings, questions and chats. */
export const aboutPlans: readonly Mutant[] = [
  {
    name: "a parent does not wait for its parts to end",
    workflow,
    edits: [
      {
        file: children,
        from: "if ((await unended(core(), task.id)).length === 0) return;",
        to: "return void unended;",
      },
    ],
  },
  {
    name: "the parts of a cancelled parent are not ended",
    workflow,
    edits: [
      {
        file: children,
        from: "child.isOpen && child.task.part.stay !== stay && !isEnding(child)",
        to: "child.isOpen && child.task.part.stay === -1 && !isEnding(child) && stay !== 0",
      },
    ],
  },
  {
    name: "the end of a part does not wake its parent",
    workflow,
    edits: [{ file: children, from: "        wake(parent, task.project);\n", to: "" }],
  },
  {
    name: "after a start no parent is looked at",
    workflow,
    edits: [
      { file: children, from: "for (const [parent, project] of parents) wake(parent, project);", to: "void parents;" },
    ],
  },
  {
    name: "after a parent's step the waiting parts get no slot",
    workflow,
    edits: [
      {
        file: children,
        from: "if (!stopped && project !== undefined) core().scheduler.resumed(project);",
        to: "void project;",
      },
    ],
  },
  {
    name: "a skipped part does not say why",
    workflow,
    edits: [
      {
        file: children,
        from: "reason: whySkipped(items, children, child.task.part.item) })),",
        to: 'reason: whySkipped(items, children, child.task.part.item).slice(0, 0) || "" })),',
      },
    ],
  },
  {
    name: "the second try is not told why the first failed",
    workflow,
    edits: [
      {
        file: "src/daemon/children/make-child.ts",
        from: 'return reason === undefined || reason === "" ? part : { ...part, reason };',
        to: 'return reason === "-" ? { ...part, reason } : part;',
      },
    ],
  },
  {
    name: "a part is merged into the default branch",
    workflow,
    edits: [
      {
        file: "src/daemon/landing-place.ts",
        from: 'if (parent === "") return { target };',
        to: "if (parent !== null) return { target: project.defaultBranch };",
      },
    ],
  },
  {
    name: "the merge of a part counts as published where the parent's branch has moved",
    workflow,
    edits: [
      {
        file: "src/daemon/task-branch.ts",
        from: "await control.moveRef(ref, commit, now);\n",
        to: "void ref;\n",
      },
      {
        file: "src/daemon/task-branch.ts",
        from: 'return { kind: (await collected()) === commit ? "published" : "moved" };',
        to: 'return { kind: "published" };',
      },
    ],
  },
  {
    name: "a parent keeps its slot while its parts work",
    workflow,
    edits: [
      {
        file: "src/daemon/scheduler.ts",
        from: 'personsStart(workflow, task) !== undefined || workflow.states[task.status]?.wait.kind === "fan_out";',
        to: "personsStart(workflow, task) !== undefined;",
      },
    ],
  },
  {
    name: "a failed part is tried a third time",
    test: ofFanOut,
    edits: [{ file: fanOut, from: "const maxTries = 2;", to: "const maxTries = 3;" }],
  },
  {
    name: "a part starts before what it needs is done",
    test: ofFanOut,
    edits: [
      {
        file: fanOut,
        from: "if (plan.needs[place]?.some((need) => states[need] !== done)) continue;",
        to: "if (plan.needs[place]?.some((need) => states[need] === failed)) continue;",
      },
    ],
  },
  {
    name: "only the direct dependents of a failed part are skipped",
    test: ofFanOut,
    edits: [
      {
        file: fanOut,
        from: "for (const place of reached) for (const next",
        to: "for (const place of [...reached]) for (const next",
      },
    ],
  },
  {
    name: "with the policy stop a running part continues",
    test: ofFanOut,
    edits: [{ file: fanOut, from: "stop: idsIn(running), over };", to: "stop: [], over };" }],
  },
  {
    name: "a wave starts before the wave before it has ended",
    test: ofFanOut,
    edits: [
      {
        file: fanOut,
        from: "(place) => states[place] !== done && !hopeless.has(place))",
        to: "(place) => states[place] === waiting && !hopeless.has(place))",
      },
    ],
  },
  {
    name: "two parts that change the same file start together while others wait",
    test: ofFanOut,
    edits: [
      {
        file: fanOut,
        from: "if (plan.files[place]?.some((file) => taken[file] === 1)) {",
        to: "if (plan.files[place]?.some((file) => taken[file] === 2)) {",
      },
    ],
  },
  {
    name: "a plan with a cycle is accepted",
    test: "src/engine/plan-edit.test.ts",
    edits: [
      {
        file: fanOut,
        from: "doubled(written) ?? wrongNeed(written) ?? cycle(written) ?? wrongFile(written);",
        to: "doubled(written) ?? wrongNeed(written) ?? (cycle === undefined ? undefined : wrongFile(written));",
      },
    ],
  },
  {
    name: "a plan is changed after its children have started",
    test: "test/engine/other-lives.test.ts",
    edits: [
      {
        file: "src/engine/plan-edit.ts",
        from: "if (!isAhead(workflow, task.status, plan.state))",
        to: "if (plan.state === task.id)",
      },
      {
        file: "src/engine/plan-edit.ts",
        from: 'if (state.wait.kind === "human" && !task.wait.skipped && task.phase === "waiting") return undefined;',
        to: "if (state.terminal === false) return undefined;",
      },
    ],
  },
  {
    name: "a long chain of dependents does not make a part urgent",
    test: ofFanOut,
    edits: [
      {
        file: "src/engine/plan-order.ts",
        from: "paths[place] = after + weightOf(items[place]);",
        to: "paths[place] = after * 0 + weightOf(items[place]);",
      },
    ],
  },
  {
    name: "a file outside of the repository is accepted inside of braces",
    test: "src/engine/plan-edit.test.ts",
    edits: [{ file: "src/engine/plan-files.ts", from: "written.split(/[/{},]/)", to: 'written.split("/")' }],
  },
  {
    name: "a part that a person has cancelled is tried again",
    test: ofChildren,
    edits: [{ file: "src/engine/children.ts", from: 'cancelled: "skipped" };', to: 'cancelled: "failed" };' }],
  },
  {
    name: "two running parts have the same slot",
    test: ofChildren,
    edits: [
      {
        file: "src/engine/children.ts",
        from: "(isOpen ? [task.part.slot] : [])",
        to: "(isOpen && task.part.slot === 0 ? [task.part.slot] : [])",
      },
    ],
  },
  {
    name: "the parts of a younger parent go first",
    test: ofChildren,
    edits: [
      {
        file: "src/daemon/scheduler.ts",
        from: "ancestor = parent?.order ?? ancestor;",
        to: "ancestor = -(parent?.order ?? ancestor);",
      },
    ],
  },
  {
    name: "a reviewer may say nothing about an open finding",
    test: ofFindings,
    edits: [
      {
        file: findings,
        from: "  if (silent.length > 0) {",
        to: "  if (silent.length < 0) {",
      },
    ],
  },
  {
    name: "a reviewer brings back what a person has dismissed",
    test: ofFindings,
    edits: [{ file: findings, from: 'const isBarred = finding.by === "human" ||', to: "const isBarred =" }],
  },
  {
    name: "rounds in which nothing changes are not counted",
    test: ofFindings,
    edits: [
      {
        file: findings,
        from: "const quiet = hasMoved ? 0 : ledger.quiet + 1;",
        to: "const quiet = hasMoved ? 0 : ledger.quiet;",
      },
    ],
  },
  {
    name: "a question of a dialogue that begins again has an earlier question's id",
    test: "src/engine/questions.test.ts",
    edits: [
      {
        file: "src/engine/questions.ts",
        from: 'log.filter(({ from }) => from === "agent").length}`',
        to: 'log.filter(({ from }) => from === "agent").length * 0 + task.wait.round + 1}`',
      },
    ],
  },
  {
    name: "a second answer to the same question counts too",
    test: "src/engine/questions.test.ts",
    edits: [
      {
        file: "src/engine/questions.ts",
        from: "if (question === questionId(task)) return undefined;",
        to: "if (question !== task.id) return undefined;",
      },
    ],
  },
  {
    name: "a message answers one of several open questions",
    test: "src/daemon/chat/meaning.test.ts",
    edits: [
      {
        file: "src/daemon/chat/meaning.ts",
        from: "if (others.length === 0 && message.isPrivate) return",
        to: "if (others.length >= 0 && message.isPrivate) return",
      },
    ],
  },
  {
    name: "a foreign chat may answer",
    test: "test/daemon/chat.test.ts",
    edits: [
      {
        file: "src/daemon/chat/receiver.ts",
        from: "if (!allowed.includes(message.chat)) {",
        to: 'if (message.chat === "" && allowed.length === 0) {',
      },
    ],
  },
  {
    name: "the meaning of a message is not stored before it is acted on",
    test: "test/daemon/chat.test.ts",
    edits: [{ file: "src/daemon/chat/receiver.ts", from: "      save(message.next, pending);\n", to: "" }],
  },
];
