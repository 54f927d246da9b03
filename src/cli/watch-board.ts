import type { RunView, UsageRow } from "../api/agent-wires.ts";
import type { Call } from "../api/client.ts";
import { routes } from "../api/routes.ts";
import type { TaskView } from "../api/task-wires.ts";

/** What is watched, as it is known now. */
export interface Board {
  /** The open ones, and those that have ended since somebody watches. */
  readonly tasks: readonly TaskView[];
  readonly runs: readonly RunView[];
  /** By task. */
  readonly usage: ReadonlyMap<string, UsageRow>;
  readonly needs: ReadonlyMap<string, Need>;
  /** What is paused: everything, some projects, or nothing. */
  readonly paused: { readonly all: boolean; readonly projects: readonly string[] };
}

/** What a task wants of a person. */
export interface Need {
  readonly reason: string;
  /** Empty where nobody knows one. */
  readonly command: string;
}

/** Which tasks are watched. */
export interface TaskQuery {
  readonly project?: string;
  readonly status?: string;
  readonly parent?: string;
  readonly open?: "true" | "false";
  readonly needs?: "true";
  readonly limit: string;
}

/** Looks at everything that is watched. */
export function createBoard(query: TaskQuery) {
  let before: readonly TaskView[] = [];

  return async (call: Call): Promise<Board> => {
    const project = query.project === undefined ? {} : { project: query.project };
    const { tasks } = await call(routes.listTasks, { query: { ...query } });
    const { runs } = await call(routes.listRuns, { query: project });
    const { rows } = await call(routes.listUsage, { query: { by: "task", ...project } });
    const { paused } = await call(routes.status);
    const gone = before.filter(({ id }) => !tasks.some((task) => task.id === id));
    const ended = await Promise.all(gone.map((task) => (task.outcome === null ? lastOf(call, task) : task)));
    before = [...tasks, ...ended.filter((task) => task !== undefined)];
    return {
      tasks: before,
      runs,
      usage: new Map(rows.map((row) => [row.key, row])),
      needs: new Map(tasks.flatMap(({ id, needs: [first] }) => (first === undefined ? [] : [[id, needOf(first)]]))),
      paused,
    };
  };
}

/** How a task ended that is not among the others any more; undefined where it goes on elsewhere, or was deleted. */
async function lastOf(call: Call, { id }: TaskView): Promise<TaskView | undefined> {
  return call(routes.getTask, { params: { task: id } }).then(
    ({ task }) => (task.outcome === null ? undefined : task),
    () => undefined,
  );
}

function needOf({ brief, command }: TaskView["needs"][number]): Need {
  return { reason: brief, command };
}
