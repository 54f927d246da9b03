import { checkId } from "../src/adapters/tmux/run-tmux.ts";
import { checkKeys, plainText, styledText, typedText } from "../src/adapters/tmux/typing.ts";
import { Fault } from "../src/fault.ts";
import type { Pane, Terminal, TerminalServer, WindowOrder } from "../src/ports/terminal.ts";

/** A terminal in memory, whose programs a test controls. */
export interface ScriptedTerminal extends Terminal {
  /** Every order that has started a program, the first one first. */
  readonly started: readonly WindowOrder[];
  /** The program writes below the existing text. It may contain colours. */
  print(run: string, text: string): void;
  /** The program clears its screen and writes. */
  show(run: string, text: string): void;
  /** The program gives its window a title. */
  call(run: string, title: string): void;
  end(run: string, how: { readonly code: number } | { readonly signal: string }): void;
  /** Sets the number of attached people. */
  look(run: string, watchers: number): void;
  /** The texts typed into the program, the first one first. */
  received(run: string): readonly Input[];
  /** Called when a text is typed, so that a test can let the program answer. */
  onInput(listener: (run: string, input: Input) => void): void;
  /** The server dies with all windows and all programs. */
  loseServer(): void;
}

export type Input =
  | { readonly kind: "paste"; readonly text: string }
  | { readonly kind: "press"; readonly keys: readonly string[] };

interface Window {
  readonly pane: Pane;
  readonly lines: readonly string[];
  readonly inputs: readonly Input[];
}

const height = 48;
const firstPid = 1_000_000;

export function createScriptedTerminal({ now }: { readonly now: () => number }): ScriptedTerminal {
  const windows = new Map<string, Window>();
  const started: WindowOrder[] = [];
  let server: TerminalServer | undefined;
  let servers = 0;
  const listeners = new Set<() => void>();
  const inputListeners: ((run: string, input: Input) => void)[] = [];

  const find = (run: string): Window => {
    const window = windows.get(checkId(run));
    if (window === undefined) throw new Fault("terminal.gone", `There is no window for the run "${run}".`);
    return window;
  };
  const findAlive = (run: string): Window => {
    const window = find(run);
    if (window.pane.dead !== undefined)
      throw new Fault("terminal.ended", `The program of the run "${run}" has ended, and reads no more input.`);
    return window;
  };
  const change = (run: string, window: Window, pane: Partial<Pane>, rest: Partial<Window> = {}) => {
    windows.set(run, { ...window, ...rest, pane: { ...window.pane, ...pane } });
  };
  const write = (run: string, lines: readonly string[]) => change(run, findAlive(run), { activeAt: now() }, { lines });
  const take = (run: string, input: Input) => {
    const window = findAlive(run);
    change(run, window, {}, { inputs: [...window.inputs, input] });
    for (const listener of inputListeners) listener(run, input);
  };
  const tell = () => {
    for (const listener of [...listeners]) listener();
  };
  const close = (runs: readonly string[]) => {
    const gone = runs.filter((run) => windows.delete(run));
    if (gone.length > 0) tell();
  };
  const shown = (run: string, scrollback: number) => {
    const { lines } = find(run);
    return lines.slice(Math.max(0, lines.length - height - Math.max(0, scrollback))).join("\n");
  };

  return {
    started,
    open: async (order) => {
      const { run, session, window } = order;
      checkId(run);
      checkId(session);
      const there = windows.get(run)?.pane;
      if (there !== undefined) return there;
      const about = { run, session, window, pid: 0, title: "" };
      const pane: Pane = { ...about, dead: undefined, activeAt: now(), watchers: 0, server: undefined };
      const before = started.findIndex((each) => each.run === run);
      // Its window is gone, so its end is unknown.
      if (before >= 0) return { ...pane, pid: firstPid + before, dead: { code: undefined, signal: "" }, activeAt: 0 };
      started.push(order);
      server ??= { id: String(servers++), startedAt: now() };
      const opened = { ...pane, server, pid: firstPid + started.length - 1 };
      windows.set(run, { pane: opened, lines: [], inputs: [] });
      return opened;
    },
    list: async () => [...windows.values()].map(({ pane }) => pane),
    paste: async (run, text) => {
      findAlive(run);
      const typed = typedText(text);
      if (typed !== "") take(run, { kind: "paste", text: typed });
    },
    press: async (run, keys) => take(run, { kind: "press", keys: checkKeys(keys) }),
    capture: async (run, scrollback = 0) => plainText(shown(run, scrollback)),
    captureStyled: async (run, scrollback = 0) => styledText(shown(run, scrollback)),
    close: async (run) => close([checkId(run)]),
    async sweep(run) {
      // Scripted programs leave no processes behind.
      checkId(run);
      return false;
    },
    closeSession: async (session) => {
      checkId(session);
      close([...windows.values()].flatMap(({ pane }) => (pane.session === session ? [pane.run] : [])));
    },
    setTitle: async (session) => void checkId(session),
    attachCommand: ({ session, run }) => ({
      argv: ["true", checkId(session), ...(run === undefined ? [] : [checkId(run)])],
      env: {},
      hint: "There is nothing to see.",
    }),
    watch: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    print: (run, text) => write(run, [...find(run).lines, ...text.split("\n")]),
    show: (run, text) => write(run, text.split("\n")),
    call: (run, title) => change(run, findAlive(run), { title, activeAt: now() }),
    end: (run, how) => {
      const code = "code" in how ? how.code : undefined;
      change(run, findAlive(run), {
        dead: { code, signal: "signal" in how ? how.signal : "" },
        title: find(run).pane.title,
      });
      tell();
    },
    look: (run, watchers) => change(run, find(run), { watchers }),
    received: (run) => find(run).inputs,
    onInput: (listener) => void inputListeners.push(listener),
    loseServer: () => {
      server = undefined;
      windows.clear();
      tell();
    },
  };
}
