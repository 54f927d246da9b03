import { setTimeout as wait } from "node:timers/promises";

const limit = 60_000;

/** Polls until the answer is accepted. The deadline is generous, because machines are slow. */
export async function until<T>(ask: () => Promise<T>, will: (answer: T) => boolean): Promise<T> {
  const end = performance.now() + limit;
  for (;;) {
    const answer = await ask();
    if (will(answer)) return answer;
    if (performance.now() > end)
      throw new Error(`The expected answer never came; the last was ${JSON.stringify(answer)?.slice(0, 2000)}`);
    await wait(25);
  }
}
