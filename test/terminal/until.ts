import { setTimeout as wait } from "node:timers/promises";

const limit = 60_000;

/** Asks again and again until the answer will do. Machines are slow; only what never comes is an error. */
export async function until<T>(ask: () => Promise<T>, will: (answer: T) => boolean): Promise<T> {
  const end = performance.now() + limit;
  for (;;) {
    const answer = await ask();
    if (will(answer)) return answer;
    if (performance.now() > end)
      throw new Error(`It never came; the last was ${JSON.stringify(answer)?.slice(0, 2000)}`);
    await wait(25);
  }
}
