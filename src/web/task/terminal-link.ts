import { pathOf } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import {
  closeCodes,
  followTerminal,
  type HolderView,
  maxAbove,
  type ScreenView,
  type TerminalMessage,
  type WatcherMessage,
} from "../../api/terminal.ts";
import { Fault } from "../../fault.ts";
import { call, type Problem, problemsOf } from "../data/client.ts";
import { daemonState, setDaemonState } from "../data/daemon-state.ts";
import { socketAddress } from "../data/page-key.ts";

type Told<Type extends TerminalMessage["type"]> = Omit<Extract<TerminalMessage, { type: Type }>, "type">;

/** What is known of a terminal that is watched. */
export interface TerminalState {
  /** lost: the connection broke, and is tried again. ended: trying again would not help; `problems` say why. */
  readonly connection: "connecting" | "open" | "lost" | "ended";
  readonly problems: readonly Problem[];
  readonly run: Told<"run"> | undefined;
  /** Undefined while the run has no window, and for a run without a terminal. */
  readonly screen: ScreenView | undefined;
  /** Lines above the screen, as far as they were asked for, and how many there were above the screen then. */
  readonly earlier: { readonly lines: readonly string[]; readonly above: number };
  /** Of a run without a terminal: what it has printed. `isCut`: something before or within it was left out. */
  readonly output: { readonly text: string; readonly isCut: boolean };
  readonly holder: HolderView | null;
  readonly isYours: boolean;
  readonly end: Told<"end"> | undefined;
  readonly next: Told<"next"> | undefined;
  readonly refused: Told<"refused"> | undefined;
}

const atFirst: TerminalState = {
  connection: "connecting",
  problems: [],
  run: undefined,
  screen: undefined,
  earlier: { lines: [], above: 0 },
  output: { text: "", isCut: false },
  holder: null,
  isYours: false,
  end: undefined,
  next: undefined,
  refused: undefined,
};

const firstDelay = 250;
const maxDelay = 3_000;
/** Of a run without a terminal the last part of its output is kept, in characters. */
const maxOutput = 200_000;

export type TerminalLink = ReturnType<typeof createTerminalLink>;

/** Watches a run's terminal until it is closed, and connects again after the connection broke, such as when the daemon restarts. */
export function createTerminalLink(task: string, run: string | undefined) {
  let state = atFirst;
  let socket: WebSocket | undefined;
  let terminal: ReturnType<typeof followTerminal> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let delay = firstDelay;
  let isClosed = false;
  const listeners = new Set<() => void>();
  const change = (next: Partial<TerminalState>) => {
    state = { ...state, ...next };
    for (const each of listeners) each();
  };
  const send = (message: WatcherMessage) => {
    if (socket?.readyState === WebSocket.OPEN) terminal?.send(message);
  };
  const hear = (message: Parameters<NonNullable<Parameters<typeof followTerminal>[1]["onMessage"]>>[0]) => {
    switch (message.type) {
      case "run":
        // After a restart everything comes again. Until then the screen stays, so that it keeps the focus.
        return change({ ...atFirst, connection: "open", run: message, screen: state.screen });
      case "output":
        return change({ output: withOutput(state.output, message) });
      case "scrollback":
        return change({ earlier: withScrollback(state, message) });
      case "control":
        return change({ holder: message.holder, isYours: message.isYours, refused: undefined });
      case "end":
        return change({ end: message });
      case "next":
        return change({ next: message });
      case "refused":
        return change({ refused: message });
    }
  };
  const connect = () => {
    let wasOpen = false;
    const path = pathOf(routes.watchTerminal, { params: { task }, query: run === undefined ? {} : { run } });
    socket = new WebSocket(socketAddress(path));
    socket.onopen = () => {
      wasOpen = true;
      delay = firstDelay;
    };
    // It reads only what every kind of WebSocket has; the types of browsers' events say more.
    terminal = followTerminal(socket as unknown as Parameters<typeof followTerminal>[0], {
      onScreen: (screen) => change({ screen }),
      onMessage: hear,
      onClose: (code, reason) => void lose(code, reason, wasOpen),
    });
  };
  const lose = async (code: number, reason: string, wasOpen: boolean) => {
    if (isClosed) return;
    if (code === closeCodes.denied) return setDaemonState({ isSignedOut: true });
    const isBusy = code === closeCodes.busy;
    const busy = { code: "terminal.busy", text: reason, fix: "It is tried again in a moment." };
    // The screen stays, as what was seen last.
    change({ connection: "lost", holder: null, isYours: false, problems: isBusy ? [busy] : [] });
    if (!wasOpen && daemonState().connection === "live") {
      // Browsers do not tell a page why a WebSocket was refused. The same question as a request does.
      const problem = await refusalOf(task, run);
      if (isClosed) return;
      if (problem !== undefined) return change({ connection: "ended", problems: problemsOf(problem) });
    }
    timer = setTimeout(connect, isBusy ? maxDelay : delay);
    delay = Math.min(2 * delay, maxDelay);
  };
  connect();
  return {
    state: () => state,
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    send,
    /** Asks for the lines before those that are known, or for those that have left the screen since. */
    askEarlier(which: "older" | "newer") {
      const gap = gapOf(state);
      const known = state.earlier.lines.length;
      const isFresh = which === "newer" || known === 0;
      send({ scrollback: isFresh ? { skip: 0, count: maxAbove } : { skip: known + gap, count: maxAbove } });
    },
    forgetRefusal: () => change({ refused: undefined }),
    close() {
      isClosed = true;
      clearTimeout(timer);
      socket?.close();
    },
  };
}

/** How many lines have left the screen since lines above it were asked for. */
export function gapOf({ earlier, screen }: Pick<TerminalState, "earlier" | "screen">): number {
  return earlier.lines.length === 0 ? 0 : Math.max(0, (screen?.above ?? earlier.above) - earlier.above);
}

/** Lines above the screen with those that came: older ones in front; the newest ones replace what they overlap. */
export function withScrollback(
  { earlier, screen }: Pick<TerminalState, "earlier" | "screen">,
  { skip, lines }: { skip: number; lines: readonly string[] },
): TerminalState["earlier"] {
  const above = screen?.above ?? 0;
  if (skip > 0) return { lines: [...lines, ...earlier.lines], above: earlier.above };
  const gap = gapOf({ earlier, screen });
  // More lines have come than one page has: what is before them is asked for again.
  if (earlier.lines.length === 0 || gap > lines.length) return { lines, above };
  return { lines: [...earlier.lines, ...lines.slice(lines.length - gap)], above };
}

function withOutput(before: TerminalState["output"], { text, isCut }: Told<"output">): TerminalState["output"] {
  const whole = isCut ? `${before.text}\n…\n${text}` : before.text + text;
  if (whole.length <= maxOutput) return { text: whole, isCut: before.isCut };
  const from = whole.length - maxOutput;
  return { text: whole.slice(whole.indexOf("\n", from) + 1), isCut: true };
}

async function refusalOf(task: string, run: string | undefined): Promise<Fault | undefined> {
  try {
    await call(routes.getScreen, { params: { task }, query: run === undefined ? {} : { run } });
    return undefined;
  } catch (error) {
    return error instanceof Fault && error.code !== "daemon.gone" && error.retry !== "later" ? error : undefined;
  }
}
