import type { FanOut, State, Workflow } from "./workflow.ts";

/** A mistake in the workflow of a fan-out's children. */
export interface ChildProblem {
  /** The state with the fan-out. */
  readonly state: string;
  readonly message: string;
  readonly fix: string;
}

/** Finds a workflow by the name that a fan-out gives; undefined where there is none, or where it does not load. */
export type WorkflowNamed = (name: string) => Workflow | undefined;

/**
 * Why the fan-outs of a workflow could never be carried out: the children's workflow is missing, the engine could not end
 * its tasks, or it leads back to the workflow itself.
 */
export function childProblems(workflow: Workflow, name: string, workflowNamed: WorkflowNamed): readonly ChildProblem[] {
  return fanOuts(workflow).flatMap(({ state, wait }): readonly ChildProblem[] => {
    const child = workflowNamed(wait.workflow);
    if (child === undefined) {
      const message = `The workflow "${wait.workflow}", which the children of "${state}" follow, is missing or has errors.`;
      return [{ state, message, fix: `Check it: signalbox workflow validate ${wait.workflow}` }];
    }
    const round = roundTrip(name, wait.workflow, workflowNamed);
    if (round !== undefined) {
      const message = `The children of "${state}" would have children of their own without end: ${round.join(" → ")}.`;
      return [{ state, message, fix: "Give the children a workflow that leads to no further children of this one." }];
    }
    const problem = endProblem(child, wait.workflow);
    return problem === undefined ? [] : [{ state, ...problem }];
  });
}

/** A child must be endable: its parent may be cancelled, or may have to stop it, in whatever state it is. */
export function endProblem(child: Workflow, name: string): Pick<ChildProblem, "message" | "fix"> | undefined {
  const stuck = Object.values(child.states).filter(
    (state) => !state.terminal && engineEnd(child, state.name) === undefined,
  );
  const [first] = stuck;
  if (first === undefined) return undefined;
  const others = stuck.length > 1 ? ` and ${stuck.length - 1} more` : "";
  const ends = Object.values(child.states).filter(({ outcome }) => outcome === "cancelled");
  const to = ends[0]?.name ?? "dropped";
  return {
    message: `The engine cannot end a child in "${first.name}"${others} of the workflow "${name}": there is no way by engine, without conditions, to a terminal state with the outcome cancelled.`,
    fix: `Add to it: - { from: any, to: ${to}, by: [engine, human], hooks: [kill_session, release_workspace] }`,
  };
}

/** The terminal state with the outcome cancelled that the engine can move a task to from this state. */
export function engineEnd(workflow: Workflow, status: string): string | undefined {
  const out = workflow.states[status]?.out ?? {};
  return Object.keys(out).find(
    (to) =>
      workflow.states[to]?.outcome === "cancelled" &&
      out[to]?.some(
        ({ by, when, gates, implied }) =>
          (by === undefined || by.includes("engine")) && when.length + gates.length === 0 && implied !== "escalation",
      ),
  );
}

/** Whether only the parts of a plan can follow the workflow to its end: it merges their work into the parent's branch. */
export function isForParts({ states, ways }: Workflow): boolean {
  const all = [...Object.values(states).flatMap((state) => state.do), ...ways.flatMap(({ hooks }) => hooks)];
  return all.some(({ name, params }) => name === "merge" && params.into === "parent");
}

function fanOuts({ states }: Workflow): readonly { readonly state: string; readonly wait: FanOut }[] {
  return Object.values(states).flatMap(({ name, wait }: State) =>
    wait.kind === "fan_out" ? [{ state: name, wait }] : [],
  );
}

/** The names from a workflow back to itself, or to a cycle further down; undefined where there is none. */
function roundTrip(name: string, child: string, workflowNamed: WorkflowNamed): readonly string[] | undefined {
  const walk = (path: readonly string[]): readonly string[] | undefined => {
    const at = path.at(-1) ?? "";
    if (path.slice(0, -1).includes(at)) return path;
    const workflow = workflowNamed(at);
    for (const { wait } of workflow === undefined ? [] : fanOuts(workflow)) {
      const found = walk([...path, wait.workflow]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return walk([name, child]);
}
