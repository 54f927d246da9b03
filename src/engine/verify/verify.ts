import { type ChildProblem, childProblems, type WorkflowNamed } from "../child-workflows.ts";
import { configurationsOf, type Variant } from "../explore/configurations.ts";
import { explore, type Graph } from "../explore/graph.ts";
import type { Problem } from "../language/problem.ts";
import type { AuthorsPromise, SettingValue, Workflow } from "../workflow.ts";
import { checkExplored, checkLeaks, heldNotes, unreachedStates, unusedRules } from "./check-coverage.ts";
import { checkCycles, checkEnds, checkWaits } from "./check-ends.ts";
import { checkBypasses, checkChoices, checkProducers, checkSelfReview } from "./check-gates.ts";
import { type Broken, checkPromises, isTooLarge, type PromiseResult, shortestBreaks } from "./check-promises.ts";
import type { Finding } from "./finding.ts";
import { candidatesFor, type Suggestion, suggestionsFrom } from "./suggest-promises.ts";

export interface Verification {
  readonly findings: readonly Finding[];
  /** Positions and steps explored, over all variants. */
  readonly positions: number;
  readonly steps: number;
  readonly variants: number;
  /** The settings that decisions depend on, with the values that were tried. */
  readonly settings: Readonly<Record<string, readonly SettingValue[]>>;
  /** The parts of the workflow that were not explored. They are also among `findings`. */
  readonly unexplored: readonly Finding[];
  /** What was found about each promise of the workflow. */
  readonly promises: readonly PromiseResult[];
  /** For each end of done tasks that no promise names: the promises about it that hold today. */
  readonly suggested: readonly Suggestion[];
  /** No error among the findings, and everything was explored. */
  readonly proved: boolean;
}

/** How far the exploration is. */
export interface Progress {
  readonly positions: number;
  /** The variant that is being explored, from 1. */
  readonly variant: number;
  readonly variants: number;
}

interface Verifying {
  readonly name?: string;
  readonly workflowNamed?: WorkflowNamed;
  /** Called every thousand positions. */
  readonly progress?: (progress: Progress) => void;
}

/**
 * Explores everything that a workflow can do, under every preset and switch, and reports findings. With `workflowNamed`, the
 * workflows of its children are checked too; `name` is the name under which it is found itself.
 */
export function verify(
  workflow: Workflow,
  problems: readonly Problem[] = [],
  { name = workflow.name, workflowNamed, progress }: Verifying = {},
): Verification {
  const configurations = configurationsOf(workflow);
  // Promises that the file does not state yet are followed too, for the hint which of them hold.
  const candidates = candidatesFor(workflow);
  const wider = candidates.length === 0 ? workflow : { ...workflow, promises: [...workflow.promises, ...candidates] };
  const explored = exploreAll(wider, configurations.tried, progress);
  const loading = problems.filter((problem) => problem.level === "warning").map(loadingFinding);
  const left = [
    ...checkExplored(workflow, configurations),
    ...(explored.length < configurations.tried.length ? [notAll(explored.length, configurations.tried.length)] : []),
  ];
  const isUnproved = (promise: AuthorsPromise) => explored.some(({ positions }) => isTooLarge(positions, promise));
  const children = workflowNamed === undefined ? [] : childProblems(workflow, name, workflowNamed).map(childFinding);
  const breaks = explored.flatMap((each) => each.breaks);
  const isBroken = ({ written }: AuthorsPromise) => breaks.some(({ promise }) => promise.written === written);
  const isExplored = left.length === 0 && explored.every(({ isComplete }) => isComplete);
  const tooLarge = workflow.promises.filter((promise) => !isBroken(promise) && isUnproved(promise));
  const unexplored = [...left, ...tooLarge.map(unprovedPromise)];
  const all = [
    ...loading,
    ...children,
    ...unexplored,
    ...shortestBreaks(breaks, workflow),
    ...explored.flatMap((each) => each.findings),
    ...coverageFindings(workflow, explored),
  ];
  const findings = inOrder(workflow, distinct(all));
  const sum = (count: (each: Explored) => number) => explored.reduce((total, each) => total + count(each), 0);
  return {
    findings,
    positions: sum(({ positions }) => positions),
    steps: sum(({ steps }) => steps),
    variants: explored.length,
    settings: configurations.values,
    unexplored,
    promises: workflow.promises.map((promise): PromiseResult => {
      const isChecked = isExplored && !isUnproved(promise);
      const result = isBroken(promise) ? "broken" : isChecked ? "proved" : "unproved";
      return { promise: promise.written, result };
    }),
    suggested: isExplored ? suggestionsFrom(candidates, (promise) => !isBroken(promise)) : [],
    proved: unexplored.length === 0 && !findings.some((finding) => finding.level === "error"),
  };
}

/** What remains of the graph of one configuration: graphs are large, so only one is kept at a time. */
interface Explored {
  /** The preset and the settings. */
  readonly name: string;
  readonly positions: number;
  readonly steps: number;
  readonly isComplete: boolean;
  readonly findings: readonly Finding[];
  readonly breaks: readonly Broken[];
  readonly never: ReadonlySet<string>;
  readonly only: ReadonlySet<string>;
  readonly unused: ReadonlySet<string>;
}

// With more positions in all configurations together, the rest of the configurations is left out.
const maxPositions = 600_000;

function exploreAll(
  workflow: Workflow,
  tried: readonly Variant[],
  progress: Verifying["progress"],
): readonly Explored[] {
  const explored: Explored[] = [];
  let left = maxPositions;
  for (const [i, { preset, settings }] of tried.entries()) {
    if (left <= 0) break;
    const before = maxPositions - left;
    const graph = explore(workflow, preset, settings, {
      progress: (positions) => progress?.({ positions: before + positions, variant: i + 1, variants: tried.length }),
    });
    const { never, only } = unreachedStates(graph);
    const known = <T>(found: Iterable<T>): ReadonlySet<T> => new Set(graph.complete ? found : []);
    explored.push({
      name: nameOf(graph),
      positions: graph.nodes.length,
      steps: graph.edges.length,
      isComplete: graph.complete,
      findings: checkGraph(graph),
      breaks: checkPromises(graph),
      never: known(never),
      only: known(only),
      unused: known(unusedRules(graph)),
    });
    left -= graph.nodes.length;
  }
  return explored;
}

/** The count with the most different values, which makes a workflow large. */
function whyLarge(graph: Graph): string {
  const values = new Map<string, Set<number>>();
  for (const { world } of graph.nodes) {
    const { counters, visits } = world.task;
    const named = [
      ...Object.entries(counters),
      ...Object.entries(visits).map(([s, n]) => [`visits of ${s}`, n] as const),
    ];
    for (const [name, value] of named) values.set(name, (values.get(name) ?? new Set()).add(value));
  }
  const [largest] = [...values].sort(([, a], [, b]) => b.size - a.size);
  return largest === undefined ? "" : `Its largest count is ${largest[0]}, with ${largest[1].size + 1} values.`;
}

function checkGraph(graph: Graph): readonly Finding[] {
  const incomplete: Finding[] = graph.complete
    ? []
    : [
        {
          level: "error",
          code: "incomplete",
          state: "",
          message: `The workflow is not proved: it was explored up to ${graph.nodes.length} positions, and has more. ${whyLarge(graph)}`,
          fix: "Use fewer counters, or compare them with smaller numbers.",
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
function coverageFindings(workflow: Workflow, explored: readonly Explored[]): readonly Finding[] {
  const findings: Finding[] = [];
  const tell = (level: Finding["level"], state: string, message: string, fix: string) =>
    findings.push({ level, code: "unreachable", state, message, fix, example: undefined });
  for (const name of Object.keys(workflow.states)) {
    const missing = explored.filter(({ never, only }) => never.has(name) || (!workflow.listsInitial && only.has(name)));
    const isNever = explored.every(({ never }) => never.has(name));
    if (isNever) tell("warning", name, `No task can ever reach "${name}".`, "Add a way to it, or remove it.");
    else if (missing.length === explored.length)
      tell(
        "warning",
        name,
        `No way leads to "${name}": a task is there only if it is created there.`,
        "Add a way to it, remove it, or name it in initial.",
      );
    else if (missing.length > 0) {
      tell("note", name, `No task reaches "${name}" with ${missing.map((each) => each.name).join("; ")}.`, "");
    }
  }
  for (const state of Object.values(workflow.states)) {
    if (explored.every(({ never }) => never.has(state.name))) continue;
    for (const i of state.rules.keys()) {
      const does = state.rules[i]?.does;
      // A rule that only holds the task does no harm where it is never needed.
      if (does?.kind !== "then" || !explored.every(({ unused }) => unused.has(`${state.name} ${i + 1}`))) continue;
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

function unprovedPromise({ written }: AuthorsPromise): Finding {
  const message = `The promise ${written} is not proved: it counts too many visits for so many positions.`;
  const fix = "Promise a smaller number, or bound the way back with a smaller one.";
  return { level: "warning", code: "unexplored", state: "", message, fix, example: undefined };
}

function notAll(explored: number, tried: number): Finding {
  const message = `Of ${tried} configurations, ${tried - explored} are not explored: the first ${explored} have more than ${maxPositions} positions.`;
  const fix = "Compare fewer settings in conditions, or use fewer counters.";
  return { level: "warning", code: "unexplored", state: "", message, fix, example: undefined };
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
