import { Fault } from "../../fault.ts";
import type { Screen, ScreenWatch } from "../../ports/terminal.ts";
import { maxScreens } from "../../ports/terminal.ts";
import { oneLine } from "../../text.ts";
import { type ControlClient, openControlClient, word } from "./control-client.ts";
import { type Row, rowsOf } from "./rows.ts";
import type { Ask } from "./run-tmux.ts";
import { sizeOption } from "./server.ts";
import type { TmuxPane } from "./windows.ts";

interface ScreensPorts {
  readonly program: string;
  readonly socket: string;
  readonly ask: Ask;
  /** The pane of a run; undefined where it has none. */
  find(run: string): Promise<TmuxPane | undefined>;
  /** Calls the listener when a pane may have died. Returns the function that unsubscribes. */
  onDeath(listener: () => void): () => void;
}

type Tell = (screen: Screen | undefined) => void;

const interval = 1_000 / maxScreens;
const retryInterval = 1_000;
/** Rows of a pane that a person can size. */
const maxLines = 1_000;

/** Reads the screens of runs for all who watch them. */
export function createScreens(ports: ScreensPorts): Required<{ watchScreen(run: string, tell: Tell): ScreenWatch }> {
  const clients = createClients(ports);
  const readers = new Map<string, Reader>();
  let stopDeaths = () => {};
  return {
    watchScreen(run, tell) {
      if (readers.size === 0)
        stopDeaths = ports.onDeath(() => {
          for (const reader of readers.values()) reader.changed();
        });
      const reader = readers.get(run) ?? createReader(ports, clients, run);
      readers.set(run, reader);
      const stop = reader.add(tell);
      return {
        readAbove: reader.readAbove,
        resize: reader.resize,
        close: () => {
          stop();
          if (!reader.isIdle() || readers.get(run) !== reader) return;
          readers.delete(run);
          reader.close();
          if (readers.size === 0) stopDeaths();
        },
      };
    },
  };
}

interface PaneListener {
  /** The pane's program has written something. `isPaused`: tmux tells no more of it until it is told to continue. */
  wrote(isPaused: boolean): void;
  resized(): void;
  lost(): void;
}

interface Connection {
  readonly client: ControlClient;
  leave(): void;
}

/** One control client for each session, however many of its panes are watched. */
function createClients({ program, socket }: ScreensPorts) {
  const sessions = new Map<string, { client: ControlClient; panes: Map<string, PaneListener> }>();
  const open = (session: string) => {
    const panes = new Map<string, PaneListener>();
    const client = openControlClient({
      ...{ program, socket, session },
      onNotice: (line) => {
        const [, pane] = /^%(?:extended-output|output|pause) (%\d+)/.exec(line) ?? [];
        if (pane !== undefined) {
          const listener = panes.get(pane);
          if (listener !== undefined) return listener.wrote(line.startsWith("%pause"));
          // Nobody watches it: tmux need not send what it writes.
          if (!line.startsWith("%pause")) void client.ask(`refresh-client -A ${word(`${pane}:pause`)}`).catch(() => {});
        } else if (line.startsWith("%layout-change")) for (const listener of panes.values()) listener.resized();
      },
      onEnd: () => {
        if (sessions.get(session) === made) sessions.delete(session);
        for (const listener of [...panes.values()]) listener.lost();
      },
    });
    const made = { client, panes };
    sessions.set(session, made);
    return made;
  };
  return {
    join(session: string, pane: string, listener: PaneListener): Connection {
      const { client, panes } = sessions.get(session) ?? open(session);
      panes.set(pane, listener);
      return {
        client,
        leave: () => {
          if (panes.get(pane) === listener) panes.delete(pane);
          if (panes.size === 0) client.close();
        },
      };
    },
  };
}

const fields = ["pane_width", "pane_height", "cursor_x", "cursor_y", "cursor_flag", "history_size", sizeOption];
const stateFormat = `${fields.map((field) => `#{${field}}`).join(":")}:#{pane_title}`;
const stateForm = /^(\d+):(\d+):(\d+):(\d+):([01]):(\d+):([0-9x]*):(.*)$/;

interface PaneState extends Omit<Screen, "lines"> {
  readonly rows: number;
  /** The size before a watcher sized the window; empty where none has. */
  readonly sized: string;
}

function readState([line = ""]: readonly string[]): PaneState | undefined {
  const [, columns, rows, x, y, isShown, above, sized = "", title = ""] = stateForm.exec(line) ?? [];
  if (columns === undefined) return undefined;
  return {
    ...{ columns: Number(columns), rows: Math.min(Number(rows), maxLines), above: Number(above), sized },
    cursor: isShown === "1" ? { x: Number(x), y: Number(y) } : undefined,
    title: oneLine(title, 200),
  };
}

type Reader = ReturnType<typeof createReader>;

function createReader(ports: ScreensPorts, clients: ReturnType<typeof createClients>, run: string) {
  const listeners = new Set<Tell>();
  let screen: Screen | undefined;
  let isKnown = false;
  let rows: readonly Row[] = [];
  let connection: (Connection & { readonly pane: string }) | undefined;
  let timer: NodeJS.Timeout | undefined;
  let readAt = 0;
  let isReading = false;
  let isChanged = false;
  let isPaused = false;
  let isClosed = false;
  /** A watcher holds the size. */
  let isSized = false;

  const tellAll = (to: Screen | undefined) => {
    screen = to;
    isKnown = true;
    for (const tell of [...listeners]) tell(to);
  };
  const later = (wait: number, work: () => void) => {
    timer ??= setTimeout(() => {
      timer = undefined;
      work();
    }, wait).unref();
  };
  const lose = () => {
    const before = connection;
    connection = undefined;
    before?.leave();
    clearTimeout(timer);
    timer = undefined;
    isReading = false;
    if (isClosed) return;
    if (!isKnown || screen !== undefined) tellAll(undefined);
    later(retryInterval, connect);
  };
  const connect = () => {
    if (connection !== undefined || isClosed) return;
    findPane(ports, run)
      .then((found) => {
        if (isClosed || connection !== undefined) return;
        if (found === undefined) return lose();
        rows = [];
        isPaused = false;
        connection = {
          pane: found.pane,
          ...clients.join(found.session, found.pane, { wrote, resized: changed, lost: lose }),
        };
        read();
      })
      .catch(() => lose());
  };
  const changed = () => {
    isChanged = true;
    if (connection === undefined || isReading) return;
    later(Math.max(0, readAt + interval - performance.now()), read);
  };
  const wrote = (isNowPaused: boolean) => {
    isPaused ||= isNowPaused;
    // The second notice since the last screen: tmux drops the rest, until the next screen is read.
    if (isChanged && !isPaused && connection !== undefined) {
      isPaused = true;
      connection.client.ask(`refresh-client -A ${word(`${connection.pane}:pause`)}`).catch(() => {});
    }
    changed();
  };
  const read = () => {
    if (connection === undefined || isClosed) return;
    const { client, pane } = connection;
    isReading = true;
    readAt = performance.now();
    if (isPaused) client.ask(`refresh-client -A ${word(`${pane}:continue`)}`).catch(() => {});
    isPaused = false;
    let state: PaneState | undefined;
    const asked = client.ask(stateCommand(pane), {
      lines: () => {
        // What was written before this is on the screen that follows.
        isChanged = false;
        return 1;
      },
      take: (lines) => {
        state = readState(lines);
      },
    });
    asked.catch(() => {});
    const captured = client.ask(`capture-pane -p -e -N -t ${pane}`, { lines: () => state?.rows ?? 1 });
    captured.then(
      (lines) => {
        isReading = false;
        if (state === undefined || connection?.client !== client) return;
        rows = rowsOf(lines, rows);
        const { rows: _, sized, ...about } = state;
        // A daemon that has ended could not return the size.
        if (sized !== "" && !isSized) void resize(undefined).catch(() => {});
        tellAll({ ...about, lines: rows.map(({ text }) => text) });
        // A pause may have been carried out after the screen was captured: what was written since then was dropped.
        if (isChanged || isPaused) changed();
      },
      () => {
        isReading = false;
      },
    );
  };
  const resize: ScreenWatch["resize"] = async (size) => {
    if (size === undefined) isSized = false;
    else if (((await ports.find(run))?.watchers ?? 0) > 0) throw attached(run);
    else isSized = true;
    if (connection === undefined) return;
    const { client, pane } = connection;
    const state = readState(await client.ask(stateCommand(pane), { lines: () => 1 }));
    if (state === undefined || (size === undefined && state.sized === "")) return;
    const [columns, height] = size === undefined ? state.sized.split("x") : [size.columns, size.rows];
    const own = `${state.columns}x${state.rows}`;
    const mark = size !== undefined && state.sized === "" ? [`set-option -w -t ${pane} ${sizeOption} ${own}`] : [];
    const after =
      size === undefined ? [`set-option -wu -t ${pane} window-size`, `set-option -wu -t ${pane} ${sizeOption}`] : [];
    const sizing = `resize-window -t ${pane} -x ${Number(columns)} -y ${Number(height)}`;
    await Promise.all([...mark, sizing, ...after].map((command) => client.ask(command)));
  };
  connect();

  return {
    changed,
    resize,
    isIdle: () => listeners.size === 0,
    add(tell: Tell) {
      listeners.add(tell);
      if (isKnown) tell(screen);
      return () => void listeners.delete(tell);
    },
    async readAbove(skip: number, count: number) {
      if (connection === undefined) return [];
      const { client, pane } = connection;
      const state = readState(await client.ask(stateCommand(pane), { lines: () => 1 }));
      const there = Math.min(count, (state?.above ?? 0) - skip);
      if (there <= 0) return [];
      const range = `-S ${-(skip + there)} -E ${-(skip + 1)}`;
      const lines = await client.ask(`capture-pane -p -e -N ${range} -t ${pane}`, { lines: () => there });
      return rowsOf(lines).map(({ text }) => text);
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
      const before = connection;
      connection = undefined;
      before?.leave();
    },
  };
}

function attached(run: string): Fault {
  return new Fault("terminal.attached", `A person is attached to the window of the run "${run}", and has its size.`, {
    hint: "It can be sized once nobody is attached.",
  });
}

function stateCommand(pane: string): string {
  return `display-message -p -t ${pane} ${word(stateFormat)}`;
}

async function findPane({ find, ask }: ScreensPorts, run: string) {
  const pane = await find(run);
  if (pane === undefined) return undefined;
  const end = await ask(["display-message", "-p", "-t", pane.id, "#{session_id}"]);
  const session = end.stdout.trim();
  return end.code === 0 && /^\$\d+$/.test(session) ? { pane: pane.id, session } : undefined;
}
