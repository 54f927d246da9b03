/**
 * Windows in which people can watch agents and talk to them. They outlive us. A pane is addressed by the id of its run;
 * what people call it is only shown.
 */
export interface Terminal {
  /**
   * Opens a window that runs a program. Called again for the same run it gives the pane that is there, also a dead one:
   * whatever died in between, there are never two programs for one run.
   */
  open(order: WindowOrder): Promise<Pane>;
  /** All panes of ours, in one look. Empty where there is no server. */
  list(): Promise<readonly Pane[]>;
  /** Puts text into the program's input as one paste. What it does with it is another matter. */
  paste(run: string, text: string): Promise<void>;
  /** Presses keys by name: `Enter`, `Escape`, `C-u`, … */
  press(run: string, keys: readonly string[]): Promise<void>;
  /** What the screen shows as plain text, with up to `scrollback` lines from above it. */
  capture(run: string, scrollback?: number): Promise<string>;
  /** The same with colours, for people's terminals. */
  captureStyled(run: string, scrollback?: number): Promise<string>;
  /** Ends the program with everything it started, and takes the window away. Nothing happens where there is none. */
  close(run: string): Promise<void>;
  /** The same for all windows of a session. */
  closeSession(session: string): Promise<void>;
  /** What a session is called for people; any text. */
  setTitle(session: string, title: string): Promise<void>;
  /** What a person's terminal runs to see a run, or a whole session; `env` is that terminal's. */
  attachCommand(at: { readonly session: string; readonly run?: string }, env: NodeJS.ProcessEnv): AttachCommand;
  /** Calls at once when a pane dies; for what is missed, `list` is asked from time to time. Returns what stops the calls. */
  watch(listener: () => void): () => void;
}

export interface WindowOrder {
  /** `[a-z0-9-]+`, unique for ever. */
  readonly run: string;
  /** The same form. It is made where there is none. */
  readonly session: string;
  /** What the session is called for people. */
  readonly title: string;
  /** The window's name, for people: `worker`, `review-1`. */
  readonly window: string;
  /** A folder of the run's own. It is noted there who the program is, and with that, that it was started. */
  readonly folder: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment; nothing is inherited but what the terminal itself must set. */
  readonly env: Readonly<Record<string, string>>;
}

export interface Pane {
  readonly run: string;
  readonly session: string;
  readonly window: string;
  /** The program itself. 0 while nobody knows. */
  readonly pid: number;
  /** What the program calls its window: many agents say there whether they are busy. */
  readonly title: string;
  /** How it ended; undefined while it lives. `signal` is empty where it ended by itself. Neither is there where nobody saw. */
  readonly dead: { readonly code: number | undefined; readonly signal: string } | undefined;
  /** When it last wrote to the screen; milliseconds since 1970. */
  readonly activeAt: number;
  /** How many people look at it. */
  readonly watchers: number;
}

export interface AttachCommand {
  readonly argv: readonly string[];
  /** What is to be set or, where undefined, unset in the person's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How to come back, in a sentence. */
  readonly hint: string;
}
