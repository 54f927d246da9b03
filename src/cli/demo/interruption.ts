/** Fires when the demo is to end early. What it has started must not outlive it, so nothing else may end the process. */
export function watchForInterruption({ stdout }: NodeJS.Process): { signal: AbortSignal; stop(): void } {
  const ending = new AbortController();
  const end = () => ending.abort();
  // Also where nobody reads any more (`| head`), or the terminal was closed.
  const others = stdout.listeners("error") as ((error: Error) => void)[];
  stdout.removeAllListeners("error").on("error", end);
  for (const signal of signals) process.on(signal, end);
  return {
    signal: ending.signal,
    stop() {
      for (const signal of signals) process.off(signal, end);
      if (ending.signal.aborted) return;
      stdout.off("error", end);
      for (const each of others) stdout.on("error", each);
    },
  };
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
