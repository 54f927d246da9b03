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
  readonly limit: string;
}

/** Looks at everything that is watched. What a task needs is asked for only where something about it has changed. */
export function createBoard(call: Call, query: TaskQuery) {
  const asked = new Map<string, { readonly at: string; readonly need: Need | undefined }>();
  let before: readonly TaskView[] = [];

  const needOf = async (task: TaskView, runs: readonly RunView[]): Promise<Need | undefined> => {
    const own = runs.filter((run) => run.task === task.id);
    const isCalling = own.some(({ activity, raised }) => activity === "asks" || raised !== "");
    if (task.outcome !== null || !(task.needsPerson || task.session === "dead" || isCalling)) return undefined;
    const at = JSON.stringify([task.revision, own.map(({ activity, raised, what }) => [activity, raised, what])]);
    const known = asked.get(task.id);
    if (known?.at === at) return known.need;
    const { blocked } = await call(routes.explainTask, { params: { task: task.id } });
    const need = blocked[0] && readNeed(blocked[0]);
    asked.set(task.id, { at, need });
    return need;
  };

  return async (): Promise<Board> => {
    const project = query.project === undefined ? {} : { project: query.project };
    const { tasks } = await call(routes.listTasks, { query: { ...query } });
    const { runs } = await call(routes.listRuns, { query: project });
    const { rows } = await call(routes.listUsage, { query: { by: "task", ...project } });
    const { paused } = await call(routes.status);
    const gone = before.filter(({ id }) => !tasks.some((task) => task.id === id));
    const ended = await Promise.all(gone.map((task) => (task.outcome === null ? lastOf(call, task) : task)));
    before = [...tasks, ...ended.filter((task) => task !== undefined)];
    const needs = await Promise.all(tasks.map(async (task) => [task.id, await needOf(task, runs)] as const));
    return {
      tasks: before,
      runs,
      usage: new Map(rows.map((row) => [row.key, row])),
      needs: new Map(needs.flatMap(([id, need]) => (need === undefined ? [] : [[id, need] as const]))),
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

/** The command stands at the end of what stands in the way, or of the first thing that can be done about it. */
export function readNeed({ reason, fix }: { readonly reason: string; readonly fix: string }): Need {
  const [, why = reason, own] = /^([\s\S]*?)(?:[^.:]*: ?)?(signalbox [^\n]+?)\.?$/.exec(reason) ?? [];
  const [command = ""] = /signalbox [^\n]+/.exec(own ?? fix) ?? [];
  return { reason: why.replace(/\s+/g, " ").trim(), command };
}
