import { followTerminal } from "../api/terminal.ts";
import type { Ports } from "./ports.ts";
import type { Live } from "./state.ts";

/** How many lines of an agent without a terminal are kept. */
const maxLines = 2_000;
const pageSize = 200;
const retryDelay = 1_000;

/** Watches a task's terminal, and never sizes it. */
export interface TerminalWatch {
  readonly task: string;
  /** Reads lines above those that are known. */
  more(): void;
  close(): void;
}

export function watchTerminal(
  ports: Pick<Ports, "openTerminal">,
  task: string,
  tell: (live: Live) => void,
): TerminalWatch {
  let live: Live = { run: "", lines: [], above: [], has: 0, note: "" };
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let terminal: ReturnType<typeof followTerminal> | undefined;
  const set = (change: Partial<Live>) => {
    live = { ...live, ...change };
    if (!isClosed) tell(live);
  };
  const open = () => {
    terminal = followTerminal(ports.openTerminal(task), {
      onScreen: (screen) =>
        screen === undefined
          ? set({ lines: [], note: "Its window is closed for now." })
          : set({ lines: screen.lines, has: screen.above, above: aboveOf(live, screen.above), note: "" }),
      onMessage(message) {
        if (message.type === "run") set({ run: message.run, lines: [], above: [], has: 0, note: "" });
        if (message.type === "output") set({ lines: [...live.lines, ...message.text.split("\n")].slice(-maxLines) });
        if (message.type === "scrollback" && message.skip === live.above.length)
          set({ above: [...message.lines, ...live.above] });
        if (message.type === "end") set({ note: `It has ended (${message.word}). ${message.why}`.trim() });
        if (message.type === "next") terminal?.send({ watch: message.run });
        if (message.type === "refused") set({ note: message.message });
      },
      onClose(_, reason) {
        if (isClosed) return;
        set({ note: reason === "" ? "The connection to the terminal was lost." : reason });
        timer = setTimeout(open, retryDelay);
      },
    });
  };
  open();
  return {
    task,
    more() {
      if (live.has > live.above.length) terminal?.send({ scrollback: { skip: live.above.length, count: pageSize } });
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
      terminal?.close();
    },
  };
}

/** Lines that have left the screen at its top follow those that were read. */
function aboveOf({ above, has, lines }: Live, now: number): readonly string[] {
  const gone = now - has;
  if (above.length === 0 || gone === 0) return above;
  return gone > 0 && gone <= lines.length ? [...above, ...lines.slice(0, gone)].slice(-maxLines) : [];
}
