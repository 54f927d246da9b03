import type { Mutant } from "./found-by-lives.ts";

const naive = "test/language/naive/naive.test.ts";

/** Bugs in what verify explores. The naive explorer, or a neighbour of it, must find each. */
export const aboutProofs: readonly (Mutant & { readonly test: string })[] = [
  {
    name: "verify forgets whether a task has a workspace",
    edits: [{ file: "src/engine/explore/position.ts", from: '{world.workspace ? "w" : ""}', to: '{""}' }],
    test: naive,
  },
  {
    name: "verify forgets what a held task starts again",
    edits: [
      {
        file: "src/engine/explore/position.ts",
        from: "{task.held.again}",
        to: '{""}',
      },
    ],
    test: naive,
  },
  {
    name: "verify counts no further than 3",
    edits: [
      {
        file: "src/engine/explore/position.ts",
        from: 'const cap = guard.op === "<" || guard.op === ">=" ? value : value + 1;',
        to: "const cap = Math.min(3, value);",
      },
    ],
    test: naive,
  },
  {
    name: "verify forgets the answers that work still has to read",
    edits: [{ file: "src/engine/explore/position.ts", from: "    found[name] = task.results[name];", to: "" }],
    test: naive,
  },
  {
    name: "verify forgets whether a run may have changed what is protected",
    edits: [
      {
        file: "src/engine/explore/position.ts",
        from: 'reads("merged", "commits", "new_commits", "protected")',
        to: 'reads("merged", "commits", "new_commits")',
      },
    ],
    test: naive,
  },
  {
    name: "verify never reaches a limit of a whole task",
    edits: [
      {
        file: "src/engine/explore/stimuli.ts",
        from: '  steps.push({ what: "task-limit", by: "engine", word: "time" });',
        to: "",
      },
    ],
    test: naive,
  },
  {
    name: "verify never lets a hook fail",
    edits: [
      {
        file: "src/engine/explore/stimuli.ts",
        from: "if (past.owes && held === undefined)",
        to: "if (past.owes === undefined)",
      },
    ],
    test: naive,
  },
  {
    name: "verify lets nobody start an agent again",
    edits: [
      {
        file: "src/engine/explore/stimuli.ts",
        from: '    steps.push({ what: "respawn", by: "human" });',
        to: "    return steps;",
      },
    ],
    test: naive,
  },
  {
    name: "verify forgets which agents of a panel have answered",
    edits: [
      {
        file: "src/engine/explore/position.ts",
        from: ".map(({ state, tries }) =>",
        to: '.map(({ tries }) => ({ state: "running", tries })).map(({ state, tries }) =>',
      },
    ],
    test: naive,
  },
  {
    name: "verify tries a fact on one side of each number only",
    edits: [
      {
        file: "src/engine/explore/possible-facts.ts",
        from: "[value - 1, value, value + 1]);\n  const found",
        to: "[value - 1, value]);\n  const found",
      },
    ],
    test: naive,
  },
  {
    name: "verify tries only the values of settings that the file has",
    edits: [
      {
        file: "src/engine/explore/configurations.ts",
        from: "note(value.setting, 0, 1, ...others);",
        to: "note(value.setting);",
      },
      { file: "src/engine/explore/configurations.ts", from: "[3])].sort(", to: "[])].sort(" },
    ],
    test: naive,
  },
  {
    name: "verify forgets how often a state was visited",
    edits: [
      {
        file: "src/engine/explore/position.ts",
        from: "({ name }) => (caps.visits.has(name) ? [name] : []),",
        to: "() => [],",
      },
    ],
    test: "test/language/soundness.test.ts",
  },
  {
    name: "verify lets nothing end while hooks are performed",
    edits: [
      {
        file: "src/engine/explore/stimuli.ts",
        from: "const ends = distinctRuns(task).flatMap(",
        to: 'const ends = (phase === "entering" ? [] : distinctRuns(task)).flatMap(',
      },
    ],
    test: naive,
  },
  {
    name: "verify takes a held task for one that has ended",
    edits: [
      {
        file: "src/engine/verify/check-ends.ts",
        from: "(node) => stateAt(graph, node)?.terminal === true);",
        to: "(node) => stateAt(graph, node)?.terminal === true || graph.nodes[node]?.world.task.held !== undefined);",
      },
    ],
    test: "test/language/soundness.test.ts",
  },
];
