/** Runs programs. Arguments go as they are: there is no shell in between. */
export interface Commands {
  run(command: Command): Promise<CommandResult>;
}

export interface Command {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Milliseconds; then the program and its children are killed. */
  readonly timeout: number;
  /** When it fires they are killed at once, and `run` fails with `command.stopped`. */
  readonly signal?: AbortSignal;
  /** Told everything that is printed on both channels, as it comes; the result has only the end. */
  onOutput?(chunk: Uint8Array): void;
}

export interface CommandResult {
  /** Undefined where a signal ended it. */
  readonly code: number | undefined;
  readonly timedOut: boolean;
  /** The end of what it printed on both channels. */
  readonly output: string;
}
