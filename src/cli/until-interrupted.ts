/** Fires when the person has seen enough and presses Ctrl-C, or somebody asks us to end. */
export function untilInterrupted(): AbortSignal {
  const ending = new AbortController();
  process.once("SIGINT", () => ending.abort());
  process.once("SIGTERM", () => ending.abort());
  return ending.signal;
}

/** What fails because the person has seen enough is no failure. */
export function unlessInterrupted(ending: AbortSignal): (error: unknown) => undefined {
  return (error) => {
    if (!ending.aborted) throw error;
    return undefined;
  };
}
