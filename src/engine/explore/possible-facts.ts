import { asksForFact } from "../asked-facts.ts";
import { asksForFindings } from "../findings.ts";
import { handOverTools } from "../handed.ts";
import type { FactName } from "../request.ts";
import { hasReviewers } from "../reviewing.ts";
import { specOf } from "../run-spec.ts";
import { settingOf } from "../when.ts";
import type { Gate, State, Workflow } from "../workflow.ts";
import { guardsOf } from "./position.ts";
import type { World } from "./world.ts";

/**
 * The values that a fact can have in a position: on both sides of every number that the file compares it with, but none that
 * cannot be there. `known` gives the facts that the same decision has read before.
 */
export function possibleNumbers(
  workflow: Workflow,
  { task, workspace, past }: World,
  name: FactName,
  known: (name: FactName) => number | undefined,
): readonly number[] {
  const state = workflow.states[task.status];
  const numbers = (can: boolean) => (can ? sampled(workflow, task, name) : nothing);
  const either = (can: boolean) => (can ? yesOrNo : nothing);
  // Without a workspace, the daemon looks at a branch only where the state asks whether it is merged.
  const isSeen = workspace || (past.ran && asksForFact(workflow, task.status, "merged"));
  switch (name) {
    case "workspace":
      return either(workspace);
    case "dirty":
      return either(workspace);
    case "merged":
      return either(isSeen);
    case "protected":
      // A person's merge finds protected changes, too, whatever the file does.
      return either(past.ran);
    case "commits":
    case "new_commits":
      return numbers(isSeen);
    case "children_done":
    case "children_failed": {
      if (!past.fanned) return nothing;
      // A fan-out has at least one child.
      const other = known(name === "children_done" ? "children_failed" : "children_done");
      return other === 0 ? numbers(true).filter((value) => value > 0) : numbers(true);
    }
    case "approved_findings":
      return numbers(hasReviewers(workflow));
    case "open_findings":
    case "noted_findings":
    case "quiet_rounds":
      return numbers(past.reviewed || (state !== undefined && reviews(workflow, state)));
    case "documents":
      return numbers(handsOver(workflow, task, state));
    case "exit_code":
      // The daemon reports none.
      return nothing;
  }
}

const nothing: readonly number[] = [0];
const yesOrNo: readonly number[] = [0, 1];

/** Zero, and the numbers around each that the file compares the fact with. */
function sampled(workflow: Workflow, task: World["task"], name: FactName): readonly number[] {
  const bySettings = cached(samples, workflow, () => new WeakMap<object, Map<string, readonly number[]>>());
  // The settings of a task are one object, whatever happens to it.
  const byName = bySettings.get(task.settings) ?? new Map<string, readonly number[]>();
  bySettings.set(task.settings, byName);
  const key = `${task.preset} ${name}`;
  const before = byName.get(key);
  if (before !== undefined) return before;
  const compared = guardsOf(workflow).flatMap(({ field, value }) =>
    field !== name ? [] : [typeof value === "number" ? value : Number(settingOf(workflow, task, value.setting) ?? 0)],
  );
  const around = compared.flatMap((value) => [value - 1, value, value + 1]);
  const found = [...new Set([0, 1, ...around])].filter((value) => value >= 0);
  byName.set(key, found);
  return found;
}

const samples = new WeakMap<Workflow, WeakMap<object, Map<string, readonly number[]>>>();

/** Whether a run of the state answers with findings: they count before the rules are tried. */
function reviews(workflow: Workflow, { wait }: State): boolean {
  const run = wait.kind === "agent" ? wait.run : wait.kind === "panel" ? wait.judge : undefined;
  return run !== undefined && asksForFindings(workflow, run);
}

/** Whether a run that may hand documents over works in the state. */
function handsOver(workflow: Workflow, { runs }: World["task"], state: State | undefined): boolean {
  if (state === undefined) return false;
  const { wait } = state;
  const own = wait.kind === "agent" ? [wait.run] : wait.kind === "panel" ? [wait.member, wait.judge] : [];
  const alive = Object.keys(runs).map((name) => specOf(workflow, state, name));
  return [...own, ...alive].some(({ tools }) => tools?.includes(handOverTools.complete));
}

/** The texts of a section that satisfy some gate of a state, or of a way out of it. */
export function possibleSections(workflow: Workflow, status: string, heading: string): readonly string[] {
  const texts = cached(written, workflow, () => new Map<string, readonly string[]>());
  const key = `${status}\n${heading}`;
  const before = texts.get(key);
  if (before !== undefined) return before;
  const state = workflow.states[status];
  const gates = [
    ...Object.values(state?.out ?? {}).flatMap((ways) => ways.map((way) => way.gates)),
    ...(state?.rules ?? []).flatMap(({ artifact }) =>
      artifact === undefined || artifact === "none" ? [] : [[artifact]],
    ),
  ];
  const found = gates.map((each) => each.filter((gate) => gate.section === heading)).filter(({ length }) => length > 0);
  const distinct = [...new Set(found.map(satisfying))];
  texts.set(key, distinct);
  return distinct;
}

const written = new WeakMap<Workflow, Map<string, readonly string[]>>();

/** A text that opens all of these gates, which ask for the same section. */
function satisfying(gates: readonly Gate[]): string {
  const verdicts = [...new Set(gates.flatMap(({ verdict }) => (verdict === undefined ? [] : [`Verdict: ${verdict}`])))];
  const fields = [
    ...new Set(gates.flatMap(({ fields: [field] }) => (field === undefined ? [] : [`${field}: written`]))),
  ];
  const lines = [...verdicts, ...fields];
  return lines.length > 0 ? lines.join("\n") : "written";
}

function cached<T>(cache: WeakMap<Workflow, T>, workflow: Workflow, make: () => T): T {
  const before = cache.get(workflow);
  if (before !== undefined) return before;
  const made = make();
  cache.set(workflow, made);
  return made;
}
