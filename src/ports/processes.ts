/** Programs that outlive the daemon. Each runs below its own supervisor, which records how it ended. */
export interface Processes {
  /**
   * Starts a program, and resolves once its identity is recorded. Idempotent: called again for the same id it starts
   * nothing, so that there are never two, even after a crash.
   */
  start(order: ProcessOrder): Promise<void>;
  look(id: string): Promise<ProcessState>;
  /**
   * Ends the program and its process group, with SIGTERM first; also descendants that left the group, if the system
   * shows them. Resolves when none of them is alive. If the program has ended, ends only the processes that it left
   * behind.
   */
  kill(id: string): Promise<void>;
  /**
   * Ends a program by its identity, and every process that was started with one of these entries, `NAME=value`, in its
   * environment, even if records and windows are gone. Resolves when none is alive; true if any was.
   */
  sweep(head: ProcessIdentity | undefined, ...entries: readonly string[]): Promise<boolean>;
  /** Ends the processes in a folder that no mark identifies and that no person has started. */
  sweepFolder(folder: string): Promise<void>;
  /** Calls the listener whenever a program may have changed: it printed or ended. Returns a function that stops it. */
  watch(listener: (id: string) => void): () => void;
  /** A program's output on a channel, from a position on; at most `limit` bytes. It need not be text. */
  read(id: string, channel: "output" | "errors", from: number, limit: number): Promise<Uint8Array>;
}

export interface ProcessOrder {
  /** `[a-z0-9-]+`, unique for ever. */
  readonly id: string;
  /** Passed to the system directly, without a shell. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Its standard input; empty for none. */
  readonly input: string;
  /** Milliseconds until the supervisor kills it, even if the daemon is not running. */
  readonly timeLimit: number;
  /** Bytes that it may print on both channels together before the supervisor kills it. */
  readonly outputLimit: number;
}

export type ProcessState =
  /** No program was ever started under that id, or starting it failed early. It may be started. */
  | { readonly kind: "absent" }
  /** Also while its end is being recorded. */
  | { readonly kind: "running"; readonly identity: ProcessIdentity; readonly startedAt: number }
  | ProcessEnd
  /**
   * It is not running, and its end was not recorded: the machine went down, or the supervisor was killed too. It may
   * never have been started. It is not started again under that id.
   */
  | { readonly kind: "lost" };

export interface ProcessEnd {
  readonly kind: "ended";
  /** Undefined if a signal ended it. */
  readonly code: number | undefined;
  /** `SIGKILL`, …; empty if it exited. */
  readonly signal: string;
  /** Why it was ended; `exit` if Signalbox did not end it. `start`: the program could not be started. */
  readonly cause: "exit" | "time" | "output" | "killed" | "start";
  /** A sentence for people if the cause is `start`; else empty. */
  readonly reason: string;
  readonly at: number;
}

/** Identifies a process. A pid alone may belong to another process later. */
export interface ProcessIdentity {
  /** The id of the machine's present boot. */
  readonly boot: string;
  readonly pid: number;
  /** Its start time, in the system's own unit. */
  readonly start: string;
}

/** Reads the process table of this machine. One adapter for each operating system. */
export interface ProcessTable {
  /** Undefined if there is no such process, or it is a zombie. */
  identify(pid: number): Promise<ProcessIdentity | undefined>;
  isAlive(identity: ProcessIdentity): Promise<boolean>;
  /** The process itself, its descendants and the members of its group. */
  familyOf(pid: number): Promise<readonly ProcessIdentity[]>;
  /**
   * The processes that were started with this entry, `NAME=value`, in the environment, as far as the system shows it.
   */
  bearersOf(entry: string): Promise<readonly ProcessIdentity[]>;
  /** Milliseconds of processor time that a process and its descendants have used. */
  cpuTime(pid: number): Promise<number>;
}
