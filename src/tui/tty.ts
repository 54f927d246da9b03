import { createKeyReader, type Input } from "./key-reader.ts";
import { createScreen, type Screen } from "./screen.ts";

/** The person's terminal: its keys, its size, and the signals that end or suspend us. */
export interface Tty {
  readonly screen: Screen;
  size(): { readonly columns: number; readonly rows: number };
  /** Gives the terminal to `run` as it was before, and takes it again afterwards. */
  handOver<T>(run: () => Promise<T>): Promise<T>;
  suspend(): void;
  /** Resolves at the next key, while the terminal is given away. */
  nextKey(): Promise<void>;
  /** Restores the terminal. Idempotent. */
  close(): void;
  isClosed(): boolean;
}

interface TtyListener {
  onInput(input: Input): void;
  onResize(): void;
  /** The terminal was taken again after a pause: everything must be drawn. */
  onTaken(): void;
  onEnd(signal: NodeJS.Signals): void;
  onError(error: unknown): void;
}

/** How long the rest of a sequence may take. */
const sequenceTimeout = 40;
const endings = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export function openTty(
  { stdin, stdout }: Pick<NodeJS.Process, "stdin" | "stdout">,
  hasMouse: boolean,
  listener: TtyListener,
): Tty {
  const screen = createScreen(stdout, hasMouse);
  let reader = createKeyReader();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let isGiven = false;

  const pass = (inputs: readonly Input[]) => {
    for (const input of inputs) if (!isClosed && !isGiven) listener.onInput(input);
  };
  const onData = (bytes: Buffer) => {
    clearTimeout(timer);
    pass(reader.feed(bytes));
    if (reader.isWaiting()) timer = setTimeout(() => pass(reader.flush()), sequenceTimeout);
  };
  const take = () => {
    reader = createKeyReader();
    stdin.setRawMode(true);
    stdin.on("data", onData).resume();
    screen.enter();
  };
  const give = () => {
    clearTimeout(timer);
    screen.leave();
    stdin.off("data", onData).pause();
    // A terminal that is gone has no modes.
    if (!stdin.destroyed)
      try {
        stdin.setRawMode(false);
      } catch {}
  };
  const onSignal = (signal: NodeJS.Signals) => {
    // While another program has the terminal, Ctrl-C is for that one.
    if (!isGiven || signal !== "SIGINT") listener.onEnd(signal);
  };
  const onContinue = () => {
    if (isClosed || isGiven) return;
    // The shell has set the modes of the terminal anew.
    stdin.setRawMode(false);
    take();
    listener.onTaken();
  };
  const onError = (error: unknown) => listener.onError(error);
  for (const signal of endings) process.on(signal, onSignal);
  process.on("SIGCONT", onContinue);
  process.on("uncaughtException", onError);
  process.on("unhandledRejection", onError);
  process.on("exit", give);
  stdout.on("resize", listener.onResize);
  // The terminal can go before the signal says so.
  const onGone = () => listener.onEnd("SIGHUP");
  stdin.on("end", onGone);
  stdin.on("error", onGone);
  stdout.on("error", onGone);
  take();
  return {
    screen,
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    async handOver(run) {
      isGiven = true;
      give();
      try {
        return await run();
      } finally {
        isGiven = false;
        if (!isClosed) take();
      }
    },
    suspend() {
      give();
      process.kill(process.pid, "SIGTSTP");
      // In an orphaned process group the system does not suspend us, and nothing continues us.
      setTimeout(() => !isClosed && !isGiven && onContinue(), 100);
    },
    nextKey() {
      stdin.setRawMode(true);
      return new Promise((resolve) => {
        stdin.once("data", () => {
          stdin.pause();
          stdin.setRawMode(false);
          resolve();
        });
        stdin.resume();
      });
    },
    isClosed: () => isClosed,
    close() {
      if (isClosed) return;
      isClosed = true;
      give();
      for (const signal of endings) process.off(signal, onSignal);
      process.off("SIGCONT", onContinue);
      process.off("uncaughtException", onError);
      process.off("unhandledRejection", onError);
      process.off("exit", give);
      stdout.off("resize", listener.onResize);
      stdin.off("end", onGone).off("error", onGone);
    },
  };
}
