/** Programs that go on without us: each below a supervisor of its own, which notes how it ended. */
export interface Processes {
  /**
   * Starts a program, and returns once it is recorded who it is. Called again for the same id it starts nothing: whatever
   * died in between, there are never two.
   */
  start(order: ProcessOrder): Promise<void>;
  look(id: string): Promise<ProcessState>;
  /**
   * Ends the program and everything of its process group, gently first; also what left the group, where the system can
   * tell. Returns when nothing of it lives any more. Where it has ended only what it left behind is.
   */
  kill(id: string): Promise<void>;
  /**
   * Ends a program by who it is, and everybody who was started with this entry, `NAME=value`, in the environment, whatever has
   * become of records and windows. Says whether anybody lived; returns when nobody does any more.
   */
  sweep(head: ProcessIdentity | undefined, entry: string): Promise<boolean>;
  /** Calls whenever something about a program may have changed: it printed, or it ended. Returns what stops the calls. */
  watch(listener: (id: string) => void): () => void;
  /** What a program has printed on a channel, from a position on; at most `limit` bytes. Bytes: they may be anything. */
  read(id: string, channel: "output" | "errors", from: number, limit: number): Promise<Uint8Array>;
}

export interface ProcessOrder {
  /** `[a-z0-9-]+`, unique for ever. */
  readonly id: string;
  /** Goes to the system as it is: there is no shell in between. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** What it reads; empty for nothing at all. */
  readonly input: string;
  /** Milliseconds until it is killed. The supervisor sees to it, whether or not we live. */
  readonly timeLimit: number;
  /** Bytes that it may print on both channels together before it is killed. */
  readonly outputLimit: number;
}

export type ProcessState =
  /** Nothing was ever started under that id, or its start died before the program was. It may be started. */
  | { readonly kind: "absent" }
  /** Also while its end is being noted. */
  | { readonly kind: "running"; readonly identity: ProcessIdentity; readonly startedAt: number }
  | ProcessEnd
  /**
   * It lives no more, and nobody noted how it ended: the machine went down, or the supervisor was killed too. Or nobody
   * knows whether it ever lived. It is not started again under that id.
   */
  | { readonly kind: "lost" };

export interface ProcessEnd {
  readonly kind: "ended";
  /** Undefined where a signal ended it. */
  readonly code: number | undefined;
  /** `SIGKILL`, …; empty where it ended by itself. */
  readonly signal: string;
  /** Why it was ended; `exit` where nobody of ours did. `start`: the program could not be run at all. */
  readonly cause: "exit" | "time" | "output" | "killed" | "start";
  /** A sentence for people where the cause is `start`; else empty. */
  readonly reason: string;
  readonly at: number;
}

/** Who a process is. A pid alone may be somebody else's tomorrow. */
export interface ProcessIdentity {
  /** The machine's present life. */
  readonly boot: string;
  readonly pid: number;
  /** When it began, as the system counts it. */
  readonly start: string;
}

/** Tells about the processes of this machine. One adapter for each system. */
export interface ProcessTable {
  /** Undefined where there is no such process, or it is dead and only not buried. */
  identify(pid: number): Promise<ProcessIdentity | undefined>;
  isAlive(identity: ProcessIdentity): Promise<boolean>;
  /** Everybody who descends from a process or belongs to its group, itself included. */
  familyOf(pid: number): Promise<readonly ProcessIdentity[]>;
  /** Everybody who was started with this entry, `NAME=value`, in the environment, as far as the system tells. */
  bearersOf(entry: string): Promise<readonly ProcessIdentity[]>;
  /** Milliseconds of processor time that a process and its descendants have used up. */
  cpuTime(pid: number): Promise<number>;
}
