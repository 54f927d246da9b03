import type { Outcome, RunSpec, State, Workflow } from "./workflow.ts";

/** Names with a default meaning where the workflow does not define it. No other source file names a state. */
export const defaultNames = {
  /** Where a task without a summary starts. */
  unclear: "clarification",
  /** A terminal state with one of these names ended that way; any other ended `done`. */
  outcomes: ["done", "failed", "cancelled"] satisfies readonly Outcome[],
  /** The role of a `spawn_agent` without `role`, by its harness. */
  roles: { task: "worker", review: "reviewer" },
  /** The line that ends a stepped run. */
  marker: "DONE",
} as const;

/** The defaults for a run of a role. */
export function plainRun(role: string): RunSpec {
  return {
    role,
    mode: "session",
    harness: "task",
    prompt: undefined,
    model: undefined,
    permissions: "full",
    tools: undefined,
    result: undefined,
    window: undefined,
    keep: false,
    stepPrompt: undefined,
    marker: defaultNames.marker,
    until: undefined,
    confirm: false,
    limits: {},
  };
}

/** The spec of a role's run in a state: the state's, else the role's, else that of a hook that starts the role. */
export function specOf(workflow: Workflow, state: State, name: string): RunSpec {
  const { wait } = state;
  if ((wait.kind === "agent" || wait.kind === "human") && wait.run?.role === name) return wait.run;
  const role = name.split("/")[0] ?? name;
  if (wait.kind === "panel" && role === wait.judge.role) return wait.judge;
  if (wait.kind === "panel" && role === wait.member.role) return wait.member;
  if (state.respawn?.role === role) return state.respawn;
  const started = [...workflow.ways.flatMap((way) => way.hooks), ...state.do];
  return workflow.roles[role] ?? started.find((action) => action.run?.role === role)?.run ?? plainRun(role);
}

/**
 * Every run that a workflow can start, with the state that its task is in then. A role counts where a run is made from it,
 * with the settings of that place.
 */
export function placedRuns({ states, ways }: Pick<Workflow, "states" | "ways">): readonly PlacedRun[] {
  const inStates = Object.values(states).map((state) => ({ status: state.name, runs: runsIn(state) }));
  const inHooks = ways.map(({ to, hooks }) => ({ status: to, runs: hooks.map(({ run }) => run) }));
  return [...inStates, ...inHooks].flatMap(({ status, runs }) =>
    runs.flatMap((spec) => (spec === undefined ? [] : [{ status, spec }])),
  );
}

interface PlacedRun {
  readonly spec: RunSpec;
  readonly status: string;
}

function runsIn({ wait, respawn, do: work }: State): readonly (RunSpec | undefined)[] {
  const waiting =
    wait.kind === "panel"
      ? [wait.member, wait.judge]
      : wait.kind === "agent" || wait.kind === "human"
        ? [wait.run]
        : [];
  return [...waiting, respawn, ...work.map(({ run }) => run)];
}
