import type { RunSpec, State, Value } from "../workflow.ts";

/** What a state waits for, in a few words that follow its name. */
export function describeWait(state: State): string {
  if (state.terminal) return `the end: ${state.outcome ?? ""}`;
  const { wait } = state;
  switch (wait.kind) {
    case "none":
      return "passes on at once";
    case "open":
      return "stays until somebody asks, or the agent ends";
    case "agent":
      return `waits for the ${who(wait.run)}`;
    case "panel":
      return `waits for every ${who(wait.member)}, then for the ${who(wait.judge)}`;
    case "fan_out":
      return `waits for a ${wait.workflow} task for each of ${wait.from.result}.${wait.from.field}, ${valueText(wait.parallel)} at once`;
    case "human":
      return `waits for a person${state.ask === undefined ? "" : ` (${state.ask})`}`;
    case "slot":
      return "waits for a free slot";
    case "time":
      return `waits ${wait.seconds}s`;
  }
}

function who(run: RunSpec): string {
  return run.mode === "session" ? run.role : `${run.role} (${run.mode})`;
}

function valueText(value: Value<number>): string {
  return typeof value === "number" ? String(value) : `{${value.setting}}`;
}
