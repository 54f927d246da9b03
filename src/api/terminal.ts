import { route } from "./client.ts";
import { any, boolean, integer, list, nullable, problemsOf, record, shortText, type TypeOf } from "./wire.ts";

const name = shortText(100);

export const terminalRoutes = {
  watchTerminal: route({
    name: "watchTerminal",
    method: "GET",
    path: "/v1/tasks/:task/terminal",
    summary:
      "Watch a run's terminal, and type into it after taking control: a WebSocket, see docs/terminal-protocol.md",
    access: "person",
    /** `run`: a run or a role; without it the live run, else the last. */
    query: record({}, { project: name, run: name }),
    answer: any,
    answerType: "websocket",
  }),
} as const;

/** How much can be pasted at once, in characters. */
export const maxPaste = 64 * 1024;
/** How many lines a page of the scrollback has at most. */
export const maxAbove = 500;
/** The largest message that a watcher may send, in bytes: each character of a paste can take six. */
export const maxWatcherMessage = 6 * maxPaste + 1_024;

const watcherWire = record(
  {},
  {
    /** Take control, or release it. `force`: take it over from another watcher. `as`: the name that the others see. */
    take: boolean,
    force: boolean,
    as: shortText(40),
    /** Names of keys, such as `Enter` and `C-c`, and single characters. */
    keys: list(shortText(20)),
    paste: shortText(maxPaste),
    /** The size of the window, or nothing to return it to what it was. */
    size: nullable(record({ columns: integer(20, 500), rows: integer(5, 200) })),
    /** Up to `count` lines that end `skip` lines above the screen. */
    scrollback: record({ skip: integer(0, 1_000_000), count: integer(1, maxAbove) }),
    /** Watch another run of the task: a run or a role. */
    watch: name,
  },
);

/** What a watcher sends: exactly one of `take`, `keys`, `paste`, `size`, `scrollback` and `watch`. */
export type WatcherMessage = TypeOf<typeof watcherWire>;

const requests = ["take", "keys", "paste", "size", "scrollback", "watch"] as const;
type WatcherRequest = (typeof requests)[number];

/** Checks a message of a watcher. Returns its request, or what is wrong with it. */
export function readWatcherMessage(
  value: unknown,
): { readonly request: WatcherRequest; readonly message: WatcherMessage } | { readonly problem: string } {
  const [problem] = problemsOf(watcherWire, value, "The message");
  if (problem !== undefined) return { problem };
  const message = value as WatcherMessage;
  const [request, ...more] = requests.filter((each) => message[each] !== undefined);
  if (request === undefined || more.length > 0)
    return { problem: `The message must have one of ${requests.join(", ")}.` };
  if (request !== "take" && (message.force !== undefined || message.as !== undefined))
    return { problem: `"force" and "as" belong to "take".` };
  return { request, message };
}

export interface Cursor {
  readonly x: number;
  readonly y: number;
}

/** The cells of a terminal. */
export interface ScreenView {
  readonly columns: number;
  /** A text for each row with SGR sequences, and no other control character. Each row begins in the default style. */
  readonly lines: readonly string[];
  /** Null while it is hidden. */
  readonly cursor: Cursor | null;
  readonly title: string;
  /** How many lines are above the screen. */
  readonly above: number;
}

/** Who has control. */
export interface HolderView {
  readonly as: string;
  readonly since: string;
}

/** What the daemon sends. */
export type TerminalMessage =
  /** First, and after `watch`. What follows is about this run. */
  | {
      readonly type: "run";
      readonly run: string;
      readonly role: string;
      readonly harness: string;
      readonly source: "screen" | "output";
    }
  | ({ readonly type: "screen" } & ScreenView)
  /** `rows`: the changed rows by number. What is missing has not changed. */
  | ({ readonly type: "change"; readonly rows: Readonly<Record<string, string>> } & Partial<
      Omit<ScreenView, "lines" | "columns">
    >)
  /** The run has no window now, such as one that is asleep. The screen comes back with it. */
  | { readonly type: "gone" }
  /** Of a run without a terminal: text that follows what came before. `isCut`: something between was left out. */
  | { readonly type: "output"; readonly text: string; readonly isCut: boolean }
  | { readonly type: "scrollback"; readonly skip: number; readonly lines: readonly string[] }
  | { readonly type: "control"; readonly holder: HolderView | null; readonly isYours: boolean }
  /** `word`: how the run ended, as its workflow counted it. */
  | { readonly type: "end"; readonly run: string; readonly word: string; readonly why: string; readonly at: string }
  /** The task has another live run: `watch` it. */
  | { readonly type: "next"; readonly run: string; readonly role: string }
  /** A request was refused; nothing was typed. */
  | {
      readonly type: "refused";
      readonly request: string;
      readonly code: string;
      readonly message: string;
      readonly hint: string;
    };

/** Why the daemon closes the connection. */
export const closeCodes = {
  /** The daemon stops. */
  stopping: 1001,
  /** A message is not JSON, or not one of ours. */
  malformed: 1007,
  /** The credential is no longer valid. */
  denied: 1008,
  tooLarge: 1009,
  /** A run of the daemon's own failed. */
  failed: 1011,
  /** Too many watchers, or too many messages. */
  busy: 1013,
} as const;

/** The part of a WebSocket that is used: that of browsers, of Node, and of the package ws. */
interface Socket {
  send(text: string): void;
  close(): void;
  onmessage: Hears<{ data: unknown }> | null;
  onclose: Hears<{ code: number; reason: string }> | null;
}

/** Each kind of WebSocket has a class of its own for events: as a method, a listener may take only a part of it. */
type Hears<Event> = { hear(event: Event): void }["hear"];

export interface TerminalListener {
  /** The whole screen, after each change; undefined while the run has no window. */
  onScreen?(screen: ScreenView | undefined): void;
  /** Any other message. */
  onMessage?(message: Exclude<TerminalMessage, { type: "screen" | "change" | "gone" }>): void;
  onClose?(code: number, reason: string): void;
}

/** Follows a terminal over a WebSocket to the route `watchTerminal`, which may still be connecting. */
export function followTerminal(socket: Socket, { onScreen, onMessage, onClose }: TerminalListener) {
  let screen: ScreenView | undefined;
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(String(data)) as TerminalMessage;
    const isScreen = message.type === "screen" || message.type === "change" || message.type === "gone";
    if (!isScreen) return onMessage?.(message);
    screen = applyTo(screen, message);
    onScreen?.(screen);
  };
  socket.onclose = ({ code, reason }) => onClose?.(code, reason);
  const send = (message: WatcherMessage) => socket.send(JSON.stringify(message));
  return {
    send,
    /** Presses keys by name; characters are their own names. */
    press: (...keys: readonly string[]) => send({ keys }),
    /** Types a text, character by character. */
    type: (text: string) => send({ keys: [...text].map((character) => keyNames[character] ?? character) }),
    close: () => socket.close(),
  };
}

const keyNames: Readonly<Record<string, string>> = { " ": "Space", "\n": "Enter", "\r": "Enter", "\t": "Tab" };

function applyTo(
  screen: ScreenView | undefined,
  message: Extract<TerminalMessage, { type: "screen" | "change" | "gone" }>,
): ScreenView | undefined {
  if (message.type === "gone") return undefined;
  const { type, ...rest } = message;
  if (type === "screen") return rest as ScreenView;
  if (screen === undefined) return undefined;
  const { rows, ...changed } = rest as Extract<TerminalMessage, { type: "change" }>;
  const lines = [...screen.lines];
  for (const [at, text] of Object.entries(rows)) lines[Number(at)] = text;
  return { ...screen, ...changed, lines };
}
