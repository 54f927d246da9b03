/** Says what happens, for people who look for what went wrong. Saying something never throws and never waits. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same log, with these fields in every line. */
  with(fields: LogFields): Log;
  /** Resolves when everything said so far is written. */
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
