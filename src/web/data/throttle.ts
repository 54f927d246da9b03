/**
 * Calls `run` soon after it was asked to, but never twice within the interval, and never again while it still runs. The first
 * call comes after a twentieth of the interval, so that events of one decision are answered together.
 */
export function throttled(interval: number, run: () => Promise<unknown>): () => void {
  let isWanted = false;
  let isBusy = false;
  let readyAt = 0;
  const begin = async () => {
    isWanted = false;
    readyAt = performance.now() + interval;
    await run().catch(() => undefined); // Queries keep their own errors.
    const left = readyAt - performance.now();
    if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
    isBusy = false;
    if (isWanted) ask();
  };
  const ask = () => {
    isWanted = true;
    if (isBusy) return;
    isBusy = true;
    setTimeout(() => void begin(), interval / 20);
  };
  return ask;
}
