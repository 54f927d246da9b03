import { createInterface, type Interface } from "node:readline";

/** Reads a person's messages from the terminal, one after the other. */
export interface Messages {
  /**
   * Shows a prompt, unless it is empty, and waits for a message; undefined once the person has left with Ctrl-C or
   * Ctrl-D, `gone` if the signal fires first. A line that was entered before does not count: it was about something else.
   */
  read(prompt: string, signal: AbortSignal): Promise<string | typeof gone | undefined>;
  /** Gives the terminal away until `run` has ended, such as to an editor. */
  without<T>(run: () => Promise<T>): Promise<T>;
  /** Fires when the person leaves. */
  readonly left: AbortSignal;
  close(): void;
}

export const gone = Symbol("gone");

/** Lines that arrive within this many milliseconds of each other are pasted: they are one message. */
const pasteGap = 60;

export function createMessages(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Messages {
  const leaving = new AbortController();
  let pasted: string[] = [];
  let flush: NodeJS.Timeout | undefined;
  let take: ((message: string) => void) | undefined;
  const onLine = (line: string) => {
    pasted.push(line);
    clearTimeout(flush);
    flush = setTimeout(() => {
      const message = pasted.join("\n");
      pasted = [];
      take?.(message);
    }, pasteGap);
  };
  const open = () => {
    const terminal = createInterface({ input, output });
    return terminal.on("line", onLine).on("close", () => terminal === current && leaving.abort());
  };
  let current: Interface | undefined;
  current = open();
  const leave = () => leaving.abort();
  const reopen = () => {
    const before = current;
    current = undefined;
    before?.close();
    clearTimeout(flush);
    pasted = [];
    current = open();
  };
  process.once("SIGTERM", leave);

  return {
    left: leaving.signal,
    async read(prompt, signal) {
      if (leaving.signal.aborted) return undefined;
      return new Promise((resolve) => {
        const end = (message: string | typeof gone | undefined) => {
          take = undefined;
          // What follows begins on a new line, and what was typed for this prompt is not for the next one.
          if (prompt !== "" && typeof message !== "string") output.write("\n");
          if (prompt !== "" && message === gone) reopen();
          signal.removeEventListener("abort", onGone);
          leaving.signal.removeEventListener("abort", onLeft);
          resolve(message);
        };
        const onGone = () => end(gone);
        const onLeft = () => end(undefined);
        if (signal.aborted) return end(gone);
        signal.addEventListener("abort", onGone);
        leaving.signal.addEventListener("abort", onLeft);
        take = end;
        if (prompt === "") return;
        current?.setPrompt(prompt);
        current?.prompt(true);
      });
    },
    async without(run) {
      const before = current;
      current = undefined;
      before?.close();
      try {
        return await run();
      } finally {
        current = open();
      }
    },
    close() {
      const last = current;
      current = undefined;
      last?.close();
      clearTimeout(flush);
      process.removeListener("SIGTERM", leave);
    },
  };
}
