/**
 * Windows in which people can watch agents and talk to them. They outlive the daemon. A pane is addressed by the id of
 * its run; its title is only for people.
 */
export interface Terminal {
  /**
   * Opens a window that runs a program. Idempotent: called again for the same run it returns the existing pane, even a
   * dead one, so that a run never has two programs.
   */
  open(order: WindowOrder): Promise<Pane>;
  /** A snapshot of all of Signalbox's panes. Empty if there is no server. */
  list(): Promise<readonly Pane[]>;
  /** Pastes text into the program's input. That does not prove that the program has accepted it. */
  paste(run: string, text: string): Promise<void>;
  /** Presses keys by name: `Enter`, `Escape`, `C-u`, … */
  press(run: string, keys: readonly string[]): Promise<void>;
  /** The screen as plain text, with up to `scrollback` lines from above it. */
  capture(run: string, scrollback?: number): Promise<string>;
  /** The same with colours, for people's terminals. */
  captureStyled(run: string, scrollback?: number): Promise<string>;
  /** Ends the program with everything that it has started, and closes the window. Does nothing if there is none. */
  close(run: string): Promise<void>;
  /**
   * Ends what is left of a program that has ended, such as processes in sessions of their own. Its window stays. Returns
   * whether any was alive.
   */
  sweep(run: string): Promise<boolean>;
  /** The entry, `NAME=value`, that every process of a run's window inherits; undefined if there is none. */
  markOf?(run: string): string | undefined;
  /** Closes all windows of a session. */
  closeSession(session: string): Promise<void>;
  /** Sets the session's title for people; any text. */
  setTitle(session: string, title: string): Promise<void>;
  /** The command that attaches a person's terminal to a run or a whole session; `env` is that terminal's. */
  attachCommand(at: { readonly session: string; readonly run?: string }, env: NodeJS.ProcessEnv): AttachCommand;
  /**
   * Watches a run's screen: `tell` gets it at once and after each change, at most `maxScreens` times a second; undefined while
   * the run has no window. All watches of a run share one reader, and never count as people. Missing where screens cannot be
   * watched.
   */
  watchScreen?(run: string, tell: (screen: Screen | undefined) => void): ScreenWatch;
  /** Calls the listener as soon as a pane dies; poll `list` for missed calls. Returns a function that stops it. */
  watch(listener: () => void): () => void;
}

/** How often a second a screen is told at most. */
export const maxScreens = 20;

/** The cells of a pane. */
export interface Screen {
  readonly columns: number;
  /** One text for each row: its cells and sequences for colours and styles, nothing else. No row depends on another. */
  readonly lines: readonly string[];
  /** Undefined while it is hidden. Counted from 0. */
  readonly cursor: { readonly x: number; readonly y: number } | undefined;
  /** One line of plain text. */
  readonly title: string;
  /** How many lines are above the screen. */
  readonly above: number;
}

export interface ScreenWatch {
  /** Up to `count` lines that end `skip` lines above the screen. */
  readAbove(skip: number, count: number): Promise<readonly string[]>;
  /** Sizes the window, unless a person is attached; without a size, returns it to what it was. */
  resize(size: { readonly columns: number; readonly rows: number } | undefined): Promise<void>;
  close(): void;
}

export interface WindowOrder {
  /** `[a-z0-9-]+`, unique for ever. */
  readonly run: string;
  /** The same form. The session is created if it does not exist. */
  readonly session: string;
  /** The session's title for people. */
  readonly title: string;
  /** The window's name, for people: `worker`, `review-1`. */
  readonly window: string;
  /** The run's own folder. The program's identity is recorded there, which also proves that it was started. */
  readonly folder: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment; nothing is inherited except what the terminal itself must set. */
  readonly env: Readonly<Record<string, string>>;
}

export interface Pane {
  readonly run: string;
  readonly session: string;
  readonly window: string;
  /** The program's pid. 0 while unknown. */
  readonly pid: number;
  /** The window title that the program sets: many agents show there whether they are busy. */
  readonly title: string;
  /**
   * How it ended; undefined while it is alive. `signal` is empty if it exited. Both are unset if the end was not
   * observed.
   */
  readonly dead: { readonly code: number | undefined; readonly signal: string } | undefined;
  /** When it last wrote to the screen; milliseconds since 1970. */
  readonly activeAt: number;
  /** How many clients are attached to it. */
  readonly watchers: number;
  /** The server that has the pane; undefined if the server is gone. */
  readonly server: TerminalServer | undefined;
}

export interface TerminalServer {
  /** Differs from that of any server before and after. */
  readonly id: string;
  /** Milliseconds since 1970, to the second. */
  readonly startedAt: number;
}

export interface AttachCommand {
  readonly argv: readonly string[];
  /** The variables to set or, if undefined, to unset in the person's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How to detach, in a sentence. */
  readonly hint: string;
}
