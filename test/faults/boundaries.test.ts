import { expect, test } from "vitest";
import { createRandom } from "../../src/engine/simulate/live.ts";
import { endsTheSame, undisturbed } from "./die-everywhere.ts";

const sides = ["before", "after"] as const;
const seed = Number(process.env.SIGNALBOX_SEED ?? 7);

test("wherever a process dies, the next process on the same file reaches the same end", async () => {
  const { end, calls } = await undisturbed();
  expect(calls).toBeGreaterThan(30);
  let points = 0;
  for (const when of sides) {
    for (let at = 1; await endsTheSame([{ at, when }], end); at++) points++;
  }
  expect(points).toBeGreaterThan(2 * 30);
});

test(`a third process reaches the same end if the second dies while it recovers (seed ${seed})`, async () => {
  const { end, calls } = await undisturbed();
  const random = createRandom(seed);
  const draw = (below: number) => ({
    at: 1 + Math.floor(random.next() * below),
    when: sides[random.next() < 0.5 ? 0 : 1] ?? "before",
  });
  let died = 0;
  for (let i = 0; i < 60; i++) if (await endsTheSame([draw(calls), draw(20)], end)) died++;
  expect(died).toBeGreaterThan(30);
});
