import type { TaskRow } from "../../src/api/task-lists.ts";
import { settled, withDetail } from "../../src/tui/place.ts";
import { initialState, type State } from "../../src/tui/state.ts";
import { createStyle, type Looks } from "../../src/tui/style.ts";

export const now = Date.parse("2026-11-19T08:00:00Z");
export const plainStyle = createStyle({ depth: 0, isLight: false, isAscii: false });
export const styleOf = (looks: Partial<Looks>) => createStyle({ depth: 256, isLight: false, isAscii: false, ...looks });

/** A task as the daemon lists it, with what a test needs of it. */
export function row(number: number, more: Partial<TaskRow> = {}): TaskRow {
  const at = new Date(now - number * 60_000).toISOString();
  return {
    ...{ id: `t${number}`, project: "coffee", number, branch: `branch-${number}`, summary: `Summary ${number}` },
    ...{ status: "building", group: "running", since: at, createdAt: at, updatedAt: at, revision: 1, outcome: null },
    ...{ needs: [], ask: null, doing: "", cost: { dollars: null, tokens: 0, unknown: 0 }, lines: null, checks: null },
    ...{ labels: [], held: null, session: "alive", paused: "", reason: "", workspace: "", prUrl: "", ...more },
  } as unknown as TaskRow;
}

export const asking = (number: number, text = "Merge") =>
  row(number, {
    group: "needs-me",
    ask: { reason: "approval", text, command: `signalbox task merge t${number}`, since: "" },
  });

export function stateWith(tasks: readonly TaskRow[], more: Partial<State> = {}): State {
  const counts = { "needs-me": 0, running: 0, queued: 0, over: 0 };
  for (const { group } of tasks) counts[group]++;
  return withDetail(settled({ ...initialState(100, 30, now, "coffee"), tasks, counts, isLoaded: true, ...more }));
}

/** As the feed does it. */
export function withTasks(state: State, tasks: readonly TaskRow[]): State {
  return withDetail(settled({ ...state, tasks }));
}

export function withoutStyles(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: SGR sequences.
  return line.replace(/\u001b\[[\d;:]*m/g, "");
}
