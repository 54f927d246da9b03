import type { RunView } from "../api/agent-wires.ts";
import { createCall, followStream } from "./connect.ts";
import type { Context } from "./context.ts";
import { createLiveScreen } from "./live-screen.ts";
import { pause } from "./pause.ts";
import { visible } from "./visible.ts";
import { type Board, createBoard, type TaskQuery } from "./watch-board.ts";
import { watchKeys } from "./watch-keys.ts";
import { watchLines } from "./watch-table.ts";
import { writeJson } from "./write-json.ts";
import { writeTime } from "./write-time.ts";

/** Things happen in bursts: what has changed is asked for once a burst has had its moment. */
const moment = 120;
/** Nothing is missed by the stream; this is for what nobody tells. */
const net = 30_000;

/** Shows tasks and their agents as they are, until the person has seen enough. Drawn from the stream of events. */
export async function watchWork(context: Context, query: TaskQuery, json: boolean): Promise<void> {
  const look = createBoard(createCall(context), query);
  const ending = new AbortController();
  const end = () => ending.abort();
  // Before anything of the terminal is touched: whoever asks for nonsense is told so on an ordinary screen.
  let board = await look();
  let trouble = "";
  const shown = context.isTerminal && !json ? onScreen(context, query, end) : inLines(context, json, end);
  const draw = () => shown.draw(board, trouble);
  draw();

  let isDirty = false;
  let isLooking = false;
  const lookAgain = async () => {
    while (isDirty && !ending.signal.aborted) {
      await pause(moment, ending.signal);
      isDirty = false;
      // Where the daemon is gone, the stream says so.
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
    const isNew = !board.runs.some(({ id }) => id === run.id);
    const others = board.runs.map((each) => (each.id === run.id ? run : each));
    board = { ...board, runs: isNew ? [...board.runs, run] : others };
    draw();
    // Who begins or stops to ask changes what is needed of a person.
    refresh();
  };
  const clock = setInterval(draw, 1_000);
  const safety = setInterval(refresh, net);
  const connection = {
    onLive,
    onConnected() {
      trouble = "";
      refresh();
    },
    onLost() {
      trouble = "The daemon does not answer (signalbox up starts it). This is how it was.";
      draw();
    },
  };
  const stream = { live: "true", ...(query.project === undefined ? {} : { project: query.project }) };
  try {
    await followStream(context, stream, refresh, ending.signal, connection);
  } finally {
    clearInterval(clock);
    clearInterval(safety);
    end();
    shown.end();
  }
}

interface Shown {
  draw(board: Board, trouble: string): void;
  end(): void;
}

function onScreen(context: Context, query: TaskQuery, end: () => void): Shown {
  const { stdout } = process;
  const screen = createLiveScreen(stdout);
  let last: readonly [Board, string] | undefined;
  const draw = (board: Board, trouble: string) => {
    last = [board, trouble];
    const { columns: width = 80, rows = 24 } = stdout;
    // What is erased behind a line that fills the last column would be its last character.
    const columns = width - 1;
    const title = query.project ?? "";
    screen.draw(watchLines(board, { columns, rows, paint: context.paint, now: Date.now(), title, trouble }));
  };
  const giveBack = watchKeys(screen, () => last && draw(...last), end);
  return { draw, end: giveBack };
}

/** Where nobody sees a screen: a line for each task that is different from before, or a document for each change. */
function inLines({ print, say }: Context, json: boolean, end: () => void): Shown {
  process.once("SIGINT", end);
  process.once("SIGTERM", end);
  const before = new Map<string, string>();
  let lastTrouble = "";
  let lastDocument = "";
  return {
    draw(board, trouble) {
      if (trouble !== lastTrouble && trouble !== "") say(trouble);
      lastTrouble = trouble;
      if (json) {
        const { tasks, runs, needs } = board;
        const document = { tasks, runs, needs: [...needs].map(([task, need]) => ({ task, ...need })) };
        const now = JSON.stringify(document);
        if (now !== lastDocument) print(writeJson(document, 0));
        lastDocument = now;
        return;
      }
      for (const task of board.tasks) {
        const runs = board.runs.filter((run) => run.task === task.id);
        const need = board.needs.get(task.id);
        const line = [
          `${task.id}  ${task.project}#${task.number}  ${task.status}`,
          ...runs.map(({ key, activity }) => `${key} ${activity}`),
          ...(need === undefined ? [] : [`needs you: ${[need.reason, need.command].filter(Boolean).join(" → ")}`]),
        ].join("  ");
        if (before.get(task.id) !== line) print(visible(`${writeTime(new Date().toISOString())}  ${line}`));
        before.set(task.id, line);
      }
    },
    end() {
      process.off("SIGINT", end);
      process.off("SIGTERM", end);
    },
  };
}
