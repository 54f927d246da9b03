import type { RunView } from "../api/agent-wires.ts";
import type { Call } from "../api/client.ts";
import { createOnlooker, followStream } from "./connect.ts";
import type { Context } from "./context.ts";
import { createLiveScreen } from "./live-screen.ts";
import { pause } from "./pause.ts";
import { visible } from "./visible.ts";
import { watchKeys } from "./watch-keys.ts";
import type { Frame } from "./watch-rows.ts";
import { writeJson } from "./write-json.ts";
import { writeTime } from "./write-time.ts";

/** Something that is shown as it is, again and again. */
export interface Watched<Board> {
  /** Only what happens there; undefined for everything. */
  readonly project: string | undefined;
  /** Asks for everything. */
  look(call: Call): Promise<Board>;
  /** What a run does now is told at once. */
  withRun(board: Board, run: RunView): Board;
  /** One screen of it: never more lines than there are rows, never wider than the terminal. */
  lines(board: Board, frame: Frame): readonly string[];
  document(board: Board): unknown;
  /** A line for each thing that is watched, by its name, for where nobody sees a screen. */
  texts(board: Board): ReadonlyMap<string, string>;
}

/** Things happen in bursts: what has changed is asked for once a burst has had its moment. */
const moment = 120;
/** Nothing is missed by the stream; this is for what nobody tells. */
const net = 30_000;

/** Shows something as it is, until the person has seen enough. Drawn from the stream of events. */
export async function watchLive<Board>(context: Context, watched: Watched<Board>, json: boolean): Promise<void> {
  const { project } = watched;
  const ending = new AbortController();
  // Where the daemon is gone, the stream says so.
  const call = createOnlooker({ ...context, say: () => {} }, ending.signal);
  const look = () => watched.look(call);
  const end = () => ending.abort();
  // Before anything of the terminal is touched: whoever asks for nonsense is told so on an ordinary screen.
  let board: Board = await look();
  let trouble = "";
  const shown = context.isTerminal && !json ? onScreen(context, watched, end) : inLines(context, watched, json, end);
  const draw = () => shown.draw(board, trouble);
  draw();

  let isDirty = false;
  let isLooking = false;
  const lookAgain = async () => {
    while (isDirty && !ending.signal.aborted) {
      await pause(moment, ending.signal);
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
  const stream = { live: "true", ...(project === undefined ? {} : { project }) };
  try {
    await followStream(context, stream, refresh, ending.signal, connection);
  } finally {
    clearInterval(clock);
    clearInterval(safety);
    end();
    shown.end();
  }
}

/** Runs with one of them as it is now. */
export function withRun(runs: readonly RunView[], run: RunView): readonly RunView[] {
  const isNew = !runs.some(({ id }) => id === run.id);
  return isNew ? [...runs, run] : runs.map((each) => (each.id === run.id ? run : each));
}

interface Shown<Board> {
  draw(board: Board, trouble: string): void;
  end(): void;
}

function onScreen<Board>(context: Context, { project, lines }: Watched<Board>, end: () => void): Shown<Board> {
  const { stdout } = process;
  const screen = createLiveScreen(stdout);
  let last: readonly [Board, string] | undefined;
  const draw = (board: Board, trouble: string) => {
    last = [board, trouble];
    const { columns: width = 80, rows = 24 } = stdout;
    // What is erased behind a line that fills the last column would be its last character.
    const columns = width - 1;
    const title = project ?? "";
    screen.draw(lines(board, { columns, rows, paint: context.paint, now: Date.now(), title, trouble }));
  };
  const giveBack = watchKeys(screen, () => last && draw(...last), end);
  return { draw, end: giveBack };
}

/** Where nobody sees a screen: a line for each thing that is different from before, or a document for each change. */
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
        if (before.get(name) !== line) print(visible(`${writeTime(new Date().toISOString())}  ${line}`));
      before = new Map([...before, ...now]);
    },
    end() {
      process.off("SIGINT", end);
      process.off("SIGTERM", end);
    },
  };
}
