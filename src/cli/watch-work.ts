import type { Context } from "./context.ts";
import { type Board, createBoard, type TaskQuery } from "./watch-board.ts";
import { watchLive, withRun } from "./watch-live.ts";
import { watchLines } from "./watch-table.ts";

/** Shows tasks and their agents as they are, until the person has seen enough. */
export async function watchWork(context: Context, query: TaskQuery, json: boolean): Promise<void> {
  const watched = {
    project: query.project,
    look: createBoard(query),
    withRun: (board: Board, run: Board["runs"][number]) => ({ ...board, runs: withRun(board.runs, run) }),
    lines: watchLines,
    document: ({ tasks, runs, needs }: Board) => ({
      ...{ tasks, runs },
      needs: [...needs].map(([task, need]) => ({ task, ...need })),
    }),
    texts: taskLines,
  };
  await watchLive(context, watched, json);
}

function taskLines({ tasks, runs, needs }: Board): ReadonlyMap<string, string> {
  return new Map(
    tasks.map((task) => {
      const need = needs.get(task.id);
      const parts = [
        `${task.id}  ${task.project}#${task.number}  ${task.status}`,
        ...runs.filter((run) => run.task === task.id).map(({ key, activity }) => `${key} ${activity}`),
        ...(need === undefined ? [] : [`needs you: ${[need.reason, need.command].filter(Boolean).join(" → ")}`]),
      ];
      return [task.id, parts.join("  ")];
    }),
  );
}
