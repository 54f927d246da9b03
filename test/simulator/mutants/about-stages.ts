import type { Mutant } from "./found-by-lives.ts";

const workflow = "pipeline";
const comment = "src/daemon/effects/comment.ts";
const forge = "src/daemon/effects/forge.ts";
const handOver = "src/engine/hand-over.ts";
const handed = "src/engine/handed.ts";
const ofHandOver = "test/engine/hand-over.test.ts";

/** Bugs in stages: hand-overs, evidence, findings, comments, tests, the merge gate, models, retries and issues. */
export const aboutStages: readonly Mutant[] = [
  {
    name: "a comment about a round is posted again by the next daemon",
    workflow,
    edits: [
      {
        file: comment,
        from: "ledger.round}` : given.key,",
        to: "ledger.round + ports.clock.now()}` : given.key,",
      },
    ],
  },
  {
    name: "the history has a comment again that was posted before a crash",
    workflow,
    edits: [
      {
        file: comment,
        from: "if (known === undefined || !(await isRecorded(store, task.id, event)))",
        to: "if ((await isRecorded(store, task.id, event)) || true)",
      },
    ],
  },
  {
    name: "a round with nothing new gets no comment",
    workflow,
    edits: [
      {
        file: comment,
        from: "if (Object.hasOwn(found.told, isPosted)) return;",
        to: 'if (Object.hasOwn(found.told, isPosted) || comment.text === "The review found nothing.") return;',
      },
    ],
  },
  {
    name: "every pull request is opened anew in the history",
    workflow,
    edits: [
      {
        file: "src/daemon/forge/pull-request.ts",
        from: "if (!isSame(before, record)) await",
        to: "if (!isSame(before, record) || before !== undefined) await",
      },
    ],
  },
  {
    name: "tests name the commit that the branch has after them",
    edits: [
      {
        file: "src/daemon/merging/protected-tests.ts",
        from: 'if (commit === undefined) return;\n      await submit(id, { kind: "edit", actor: { role: "engine" }, set: { tested: { commit, word } } });',
        to: 'if (commit === undefined) return;\n      const now = (await commitOf(ports, context.task)) ?? commit;\n      await submit(id, { kind: "edit", actor: { role: "engine" }, set: { tested: { commit: now, word } } });',
      },
    ],
    workflow,
  },
  {
    name: "tests of an earlier commit count for the merge",
    edits: [
      {
        file: "src/daemon/merging/protected-tests.ts",
        from: "tested?.commit === commit && tested.word",
        to: "tested?.commit !== undefined && tested.word",
      },
    ],
    test: "test/scenarios/pipeline-merge.test.ts",
  },
  {
    name: "commits since the verdict are merged",
    workflow,
    edits: [
      {
        file: forge,
        from: "if (commit !== undefined) await mustBeReviewed(ports, own, project, asked, commit);",
        to: "void mustBeReviewed;",
      },
      {
        file: "src/daemon/requests/move-task.ts",
        from: '...(commit === "" ? {} : { approves: commit }), warnings',
        to: "warnings",
      },
    ],
  },
  {
    name: "auto_merge counts as a person's word",
    workflow,
    edits: [{ file: forge, from: "if (!task.wait.skipped) return true;", to: "return true;" }],
  },
  {
    name: "documents that are handed over are not kept",
    workflow,
    edits: [{ file: handOver, from: "...(handed.length === 0 ? {} : { documents }),", to: "" }],
  },
  {
    name: "a run completes its work twice with different outcomes",
    workflow,
    edits: [
      {
        file: handOver,
        from: "if (run.report !== undefined && run.report.outcome !== outcome) {",
        to: 'if (run.report !== undefined && outcome === "") {',
      },
    ],
  },
  {
    name: "a report does not count if its run crashes",
    workflow,
    edits: [
      {
        file: handed,
        from: "if (report === undefined || !countsAsAnswer(workflow, spec)) return end;",
        to: 'if (report === undefined || !countsAsAnswer(workflow, spec) || end.word !== "ok") return end;',
      },
    ],
  },
  {
    name: "a repeated message is sent twice",
    workflow,
    edits: [
      {
        file: handOver,
        from: "message.to === to && message.priority === priority && message.text === text))",
        to: 'message.to === to && message.priority === priority && message.text === ""))',
      },
    ],
  },
  {
    name: "documents of an earlier stay are evidence",
    edits: [{ file: handed, from: "document.entry === entry", to: "document.entry <= entry" }],
    test: ofHandOver,
  },
  {
    name: "a person goes on without deciding about findings",
    edits: [
      {
        file: "src/engine/reviewing.ts",
        from: 'filter(({ state }) => state === "open");\n  const [first] = open;',
        to: 'filter(({ state }) => state === "noted");\n  const [first] = open;',
      },
    ],
    test: "test/engine/other-lives.test.ts",
  },
  {
    name: "a finding that a person dismissed is approved after all",
    edits: [
      {
        file: "src/engine/person-findings.ts",
        from: 'if (finding.state === "dismissed" || finding.state === "fixed") {',
        to: 'if (finding.state === "fixed") {',
      },
    ],
    test: "src/engine/findings.test.ts",
  },
  {
    name: "a panel tries again after a refusal",
    edits: [
      {
        file: "src/engine/panel.ts",
        from: 'return isFinal === true || word === "login" || word === "cost";',
        to: 'return isFinal === true && word === "ok";',
      },
    ],
    test: "test/engine/panel.test.ts",
  },
  {
    name: "an agent tries again after a refusal",
    edits: [{ file: "src/engine/run-ended.ts", from: " && request.isFinal !== true)", to: ")" }],
    test: "test/engine/attempts-and-late-news.test.ts",
  },
  {
    name: "an alias of a tier is taken for a model",
    edits: [{ file: "src/engine/model-tiers.ts", from: "aliases.get(name) ?? name;", to: "name;" }],
    test: "src/engine/model-tiers.test.ts",
  },
  {
    name: "a branch gets any name that a model proposes",
    edits: [
      {
        file: "src/engine/branch-name.ts",
        from: "name.length <= maxNameLength && /^[a-z][a-z0-9]*(?:-[a-z0-9]+){1,3}$/.test(name)",
        to: 'name !== "" && maxNameLength > 0',
      },
    ],
    test: "src/engine/branch-name.test.ts",
  },
  {
    name: "a person who continues the task of a closed issue is asked again",
    edits: [
      {
        file: "src/daemon/forge/watch-issues.ts",
        from: "|| (await wasTold(store, id))) return;",
        to: ") return void wasTold;",
      },
    ],
    test: "test/daemon/issues.test.ts",
  },
];
