/** The time, so that tests and simulations can control it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls `run` once, after this many milliseconds. Returns a function that cancels it. */
  after(milliseconds: number, run: () => void): () => void;
}

/** Runs programs. Arguments are passed directly, without a shell. */
export interface Commands {
  run(command: Command): Promise<CommandResult>;
}

export interface Command {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Milliseconds until the program and its children are killed. */
  readonly timeout: number;
  /** Aborting it kills them immediately, and `run` fails with `command.stopped`. */
  readonly signal?: AbortSignal;
  /** Gets all output of both channels as it comes; the result has only the end of it. */
  onOutput?(chunk: Uint8Array): void;
}

export interface CommandResult {
  /** Undefined if a signal ended it. */
  readonly code: number | undefined;
  readonly timedOut: boolean;
  /** The end of its output on both channels. */
  readonly output: string;
}

/** Generates unique names. */
export interface Ids {
  /** A task's id: short, lower case, begins with a letter. */
  task(): string;
  /** An unguessable secret: hexadecimal, 48 characters. */
  secret(): string;
}

/** The log, for people who search for a problem. Logging never throws and never waits. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same log, with these fields in every line. */
  with(fields: LogFields): Log;
  /** Resolves when all messages so far are written. */
  close(): Promise<void>;
}

/** A log whose level can change while it is in use, for every log made from it as well. */
export interface LeveledLog extends Log {
  setLevel(level: LogLevel): void;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** From the least important to the most. */
export const logLevels = ["debug", "info", "warn", "error"] as const;

export type LogLevel = (typeof logLevels)[number];

/** Sends notifications to the person. */
export interface Notifier {
  /**
   * Resolves when the note was handed over; otherwise throws a Fault. `notifier.slow`: the note was handed over, but
   * the program that shows it does not end.
   */
  notify(note: Note): Promise<void>;
}

/** Notifiers by their names for people. */
export type Channels = ReadonlyMap<string, Notifier>;

export interface Note {
  /** One line. */
  readonly title: string;
  readonly text: string;
  /** The task's id; empty if the note is about several. */
  readonly task: string;
  /** Empty if the note is about tasks of several projects. */
  readonly project: string;
  /** The same for every retry of a note, so that the receiver can recognise duplicates. */
  readonly key: string;
  /** The tasks that need a person, if the note is a call; missing in a workflow's own notification. */
  readonly needs?: readonly NoteNeed[];
}

interface NoteNeed {
  readonly task: string;
  /** `coffee#12`. */
  readonly name: string;
  readonly summary: string;
  readonly reason: string;
  readonly text: string;
  readonly command: string;
}
