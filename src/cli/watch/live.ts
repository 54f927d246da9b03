import type { RunView, UsageRow } from "../../api/agents.ts";
import type { Call } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import type { TaskView } from "../../api/tasks.ts";
import { createOnlooker, followStream } from "../connect.ts";
import type { Context } from "../context.ts";
import { createLiveScreen, pause, watchKeys } from "../screen.ts";
import { writeJson, writeTime } from "../text.ts";
import { type Frame, watchLines } from "./rows.ts";

/** The current state of what is watched. */
export interface Board {
  /** The open tasks, and those that have ended since the watch began. */
  readonly tasks: readonly TaskView[];
  readonly runs: readonly RunView[];
  /** By task. */
  readonly usage: ReadonlyMap<string, UsageRow>;
  readonly needs: ReadonlyMap<string, Need>;
  /** Which projects are paused, or all. */
  readonly paused: { readonly all: boolean; readonly projects: readonly string[] };
}

/** What a task needs of a person. */
export interface Need {
  readonly reason: string;
  /** Empty if there is no command. */
  readonly command: string;
}

/** Which tasks are watched. */
interface TaskQuery {
  readonly project?: string;
  readonly status?: string;
  readonly parent?: string;
  readonly open?: "true" | "false";
  readonly needs?: "true";
  readonly limit: string;
}

/** Returns a function that reads everything that is watched. */
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

/** The last state of a task that is no longer listed; undefined if it has not ended, or was deleted. */
async function lastOf(call: Call, { id }: TaskView): Promise<TaskView | undefined> {
  return call(routes.getTask, { params: { task: id } }).then(
    ({ task }) => (task.outcome === null ? undefined : task),
    () => undefined,
  );
}

function needOf({ brief, command }: TaskView["needs"][number]): Need {
  return { reason: brief, command };
}

/** Something that is shown live. */
interface Watched<Board> {
  /** Watch only this project; undefined for all. */
  readonly project: string | undefined;
  /** Reads the whole state. */
  look(call: Call): Promise<Board>;
  /** Updates one run, without reading the whole state. */
  withRun(board: Board, run: RunView): Board;
  /** One screen: never more lines than rows, never wider than the terminal. */
  lines(board: Board, frame: Frame): readonly string[];
  document(board: Board): unknown;
  /** A line for each watched item, by its name, for output without a terminal. */
  texts(board: Board): ReadonlyMap<string, string>;
  /** The person has pressed a key that does not end the watch. */
  onKey?(key: string): void;
  /** Whether the watch ends by itself; without this, only the person ends it. */
  isEnough?(board: Board): boolean;
}

/** Events come in bursts: the state is read once, this many milliseconds after the first. */
const burstDelay = 120;
/** How often the state is read without events, for changes that have no event. */
const refreshInterval = 30_000;

/**
 * Shows a live view until the person leaves, or until it is enough. It is updated from the event feed. Returns the last
 * state; undefined if the person left.
 */
export async function watchLive<Board>(
  context: Context,
  watched: Watched<Board>,
  json: boolean,
): Promise<Board | undefined> {
  const { project } = watched;
  const ending = new AbortController();
  // The event stream reports a missing daemon.
  const call = createOnlooker({ ...context, say: () => {} }, ending.signal);
  const look = () => watched.look(call);
  const end = () => ending.abort();
  // Read once before the terminal is taken over, so that errors appear on the ordinary screen.
  let board: Board = await look();
  let trouble = "";
  let isEnough = false;
  const isScreen = context.isTerminal && !json;
  if (isScreen && watched.isEnough?.(board)) return board;
  const onKey = (key: string) => {
    watched.onKey?.(key);
    draw();
  };
  const shown = isScreen ? onScreen(context, watched, end, onKey) : inLines(context, watched, json, end);
  const draw = () => {
    shown.draw(board, trouble);
    if (trouble !== "" || !watched.isEnough?.(board)) return;
    isEnough = true;
    end();
  };
  draw();

  let isDirty = false;
  let isLooking = false;
  const lookAgain = async () => {
    while (isDirty && !ending.signal.aborted) {
      await pause(burstDelay, ending.signal);
      isDirty = false;
      board = await look().catch(() => board);
      if (!ending.signal.aborted) draw();
    }
    isLooking = false;
  };
  const refresh = () => {
    isDirty = true;
    if (isLooking) return;
    isLooking = true;
    void lookAgain();
  };
  const onLive = (run: RunView) => {
    board = watched.withRun(board, run);
    draw();
    // A run that begins or stops asking changes the needs.
    refresh();
  };
  const clock = setInterval(draw, 1_000);
  const safety = setInterval(refresh, refreshInterval);
  const connection = {
    onLive,
    onConnected() {
      trouble = "";
      refresh();
    },
    onLost() {
      trouble = "The daemon does not answer (signalbox up starts it). This is the last known state.";
      draw();
    },
  };
  const stream = { live: "true", ...(project === undefined ? {} : { project }) };
  try {
    await followStream(context, stream, refresh, ending.signal, connection);
  } finally {
    clearInterval(clock);
    clearInterval(safety);
    end();
    shown.end();
  }
  return isEnough ? board : undefined;
}

/** The runs, with one of them updated. */
export function withRun(runs: readonly RunView[], run: RunView): readonly RunView[] {
  const isNew = !runs.some(({ id }) => id === run.id);
  return isNew ? [...runs, run] : runs.map((each) => (each.id === run.id ? run : each));
}

interface Shown<Board> {
  draw(board: Board, trouble: string): void;
  end(): void;
}

function onScreen<Board>(
  context: Context,
  { project, lines }: Watched<Board>,
  end: () => void,
  onOther: (key: string) => void,
): Shown<Board> {
  const { stdout } = process;
  const screen = createLiveScreen(stdout);
  let last: readonly [Board, string] | undefined;
  const draw = (board: Board, trouble: string) => {
    last = [board, trouble];
    const { columns: width = 80, rows = 24 } = stdout;
    // One column less: erasing to the end of a full line would erase its last character.
    const columns = width - 1;
    const title = project ?? "";
    screen.draw(lines(board, { columns, rows, paint: context.paint, now: Date.now(), title, trouble }));
  };
  const giveBack = watchKeys(screen, () => last && draw(...last), end, onOther);
  return { draw, end: giveBack };
}

/** Without a terminal: a line for each changed item or, as JSON, a document for each change. */
function inLines<Board>(
  { print, say }: Context,
  { document, texts }: Watched<Board>,
  json: boolean,
  end: () => void,
): Shown<Board> {
  process.once("SIGINT", end);
  process.once("SIGTERM", end);
  let before: ReadonlyMap<string, string> = new Map();
  let lastTrouble = "";
  let lastDocument = "";
  return {
    draw(board, trouble) {
      if (trouble !== lastTrouble && trouble !== "") say(trouble);
      lastTrouble = trouble;
      if (json) {
        const now = writeJson(document(board), 0);
        if (now !== lastDocument) print(now);
        lastDocument = now;
        return;
      }
      const now = texts(board);
      for (const [name, line] of now)
        if (before.get(name) !== line) print(`${writeTime(new Date().toISOString())}  ${line}`);
      before = new Map([...before, ...now]);
    },
    end() {
      process.off("SIGINT", end);
      process.off("SIGTERM", end);
    },
  };
}

/** Shows a live view of tasks and their agents, until the person leaves. */
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
