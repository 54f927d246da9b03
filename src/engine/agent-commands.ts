import type { AgentState } from "./agent-state.ts";

const any: readonly AgentState[] = ["idle", "ready", "working", "done", "stuck"];

/** From which states of an agent a command about it is meant; those about no single agent are always. */
export const validFrom = {
  assign: ["idle"],
  peek: any,
  logs: any,
  kill: ["working", "stuck"],
  cleanup: any,
  merge: ["done", "stuck"],
} as const satisfies Readonly<Record<string, readonly AgentState[]>>;

export type AgentCommand = keyof typeof validFrom;

/** Why a command is not for an agent that is so, and what to do instead; undefined where it is. */
export function whyNotFrom(
  command: AgentCommand,
  name: string,
  state: AgentState,
): { readonly text: string; readonly fix: string } | undefined {
  const states: readonly AgentState[] = validFrom[command];
  if (states.includes(state)) return undefined;
  return {
    text: `${name} is ${state}; "${command}" is for one that is ${states.join(" or ")}.`,
    fix: next(name)[state],
  };
}

function next(name: string): Readonly<Record<AgentState, string>> {
  return {
    idle: `Give it a ticket: signalbox crew assign ${name} TICKET`,
    ready: "It begins by itself when nothing is in the way. See what it waits for: signalbox crew ps",
    working: `See what it does: signalbox crew peek ${name}. To end that: signalbox crew kill ${name}`,
    done: `What it has done is tested and merged. See it: signalbox crew logs ${name}`,
    stuck: `Let its task begin again: signalbox crew kill ${name}. To take it away: signalbox crew cleanup ${name}`,
  };
}
