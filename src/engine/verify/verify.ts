import { type ChildProblem, childProblems, type WorkflowNamed } from "../child-workflows.ts";
import { explore, type Graph, largestBound, variantsOf } from "../explore/graph.ts";
import type { Problem } from "../language/problem.ts";
import type { Workflow } from "../workflow.ts";
import { checkExplored, checkLeaks, heldNotes, unreachedStates, unusedRules } from "./check-coverage.ts";
import { checkCycles, checkEnds, checkWaits } from "./check-ends.ts";
import { checkBypasses, checkChoices, checkProducers, checkSelfReview } from "./check-gates.ts";
import type { Finding } from "./finding.ts";

export interface Verification {
  readonly findings: readonly Finding[];
  /** Positions and steps explored, over all variants. */
  readonly positions: number;
  readonly steps: number;
  readonly variants: number;
  /** The parts of the workflow that were not explored. They are also among `findings`. */
  readonly unexplored: readonly Finding[];
  /** No error among the findings, and everything was explored. */
  readonly proved: boolean;
}

/**
 * Explores everything that a workflow can do, under every preset and switch, and reports findings. With `workflowNamed`, the
 * workflows of its children are checked too; `name` is the name under which it is found itself.
 */
export function verify(
  workflow: Workflow,
  problems: readonly Problem[] = [],
  { name = workflow.name, workflowNamed }: { readonly name?: string; readonly workflowNamed?: WorkflowNamed } = {},
): Verification {
  const graphs = variantsOf(workflow, largestBound).map(({ preset, settings }) => explore(workflow, preset, settings));
  const loading = problems.filter((problem) => problem.level === "warning").map(loadingFinding);
  const unexplored = checkExplored(workflow);
  const children = workflowNamed === undefined ? [] : childProblems(workflow, name, workflowNamed).map(childFinding);
  const all = [
    ...loading,
    ...children,
    ...unexplored,
    ...graphs.flatMap(checkGraph),
    ...coverageFindings(workflow, graphs),
  ];
  const findings = inOrder(workflow, distinct(all));
  const sum = (count: (graph: Graph) => number) => graphs.reduce((total, graph) => total + count(graph), 0);
  return {
    findings,
    positions: sum((graph) => graph.nodes.length),
    steps: sum((graph) => graph.edges.length),
    variants: graphs.length,
    unexplored,
    proved: unexplored.length === 0 && !findings.some((finding) => finding.level === "error"),
  };
}

function checkGraph(graph: Graph): readonly Finding[] {
  const incomplete: Finding[] = graph.complete
    ? []
    : [
        {
          level: "error",
          code: "incomplete",
          state: "",
          message: `The workflow has more than ${graph.nodes.length} positions, too many to be proved.`,
          fix: "Use fewer counters, or smaller numbers.",
          example: undefined,
        },
      ];
  return [
    ...incomplete,
    ...checkEnds(graph),
    ...checkWaits(graph),
    ...checkCycles(graph),
    ...checkProducers(graph),
    ...checkChoices(graph),
    ...checkBypasses(graph),
    ...checkSelfReview(graph),
    ...checkLeaks(graph),
    ...heldNotes(graph),
  ];
}

/** A state that no variant reaches is a mistake; a state that some variants do not reach is worth a note. */
function coverageFindings(workflow: Workflow, graphs: readonly Graph[]): readonly Finding[] {
  const unreached = graphs.map((graph) => new Set(unreachedStates(graph)));
  const unused = graphs.map(unusedRules);
  const findings: Finding[] = [];
  for (const name of Object.keys(workflow.states)) {
    const missing = unreached.filter((states) => states.has(name)).length;
    if (missing === graphs.length) {
      findings.push({
        level: "warning",
        code: "unreachable",
        state: name,
        message: `No task can ever reach "${name}".`,
        fix: "Add a way to it, or remove it.",
        example: undefined,
      });
    } else if (missing > 0) {
      const where = graphs.flatMap((graph, i) => (unreached[i]?.has(name) ? [nameOf(graph)] : []));
      findings.push({
        level: "note",
        code: "unreachable",
        state: name,
        message: `No task reaches "${name}" with ${where.join("; ")}.`,
        fix: "",
        example: undefined,
      });
    }
  }
  for (const state of Object.values(workflow.states)) {
    if (unreached.every((states) => states.has(state.name))) continue;
    for (const i of state.rules.keys()) {
      const does = state.rules[i]?.does;
      // A rule that only holds the task does no harm where it is never needed.
      if (does?.kind !== "then" || !unused.every((rules) => rules.has(`${state.name} ${i + 1}`))) continue;
      findings.push({
        level: "warning",
        code: "dead-rule",
        state: state.name,
        message: `Rule ${i + 1} of "${state.name}" (to "${does.to}") is never taken: its way is never open when its conditions hold.`,
        fix: "Give it a way without a gate (by: engine), or remove it.",
        example: undefined,
      });
    }
  }
  return findings;
}

function nameOf(graph: Graph): string {
  const settings = Object.entries(graph.settings).map(([name, value]) => `${name}: ${String(value)}`);
  return [...(graph.preset === "" ? [] : [`preset ${graph.preset}`]), ...settings].join(", ");
}

function childFinding({ state, message, fix }: ChildProblem): Finding {
  return { level: "error", code: "children", state, message, fix, example: undefined };
}

function loadingFinding(problem: Problem): Finding {
  return {
    level: "warning",
    code: "loading",
    state: "",
    message: `${problem.file}:${problem.line}:${problem.column} ${problem.message}`,
    fix: problem.fix,
    example: undefined,
  };
}

function distinct(findings: readonly Finding[]): readonly Finding[] {
  const seen = new Set<string>();
  return findings.filter((finding) => !seen.has(finding.message) && seen.add(finding.message));
}

function inOrder(workflow: Workflow, findings: readonly Finding[]): readonly Finding[] {
  const levels = ["error", "warning", "note"];
  const states = Object.keys(workflow.states);
  const rank = (finding: Finding) => levels.indexOf(finding.level) * 1_000 + states.indexOf(finding.state);
  return [...findings].sort((a, b) => rank(a) - rank(b));
}
