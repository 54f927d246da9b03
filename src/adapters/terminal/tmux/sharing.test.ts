import { expect, test } from "vitest";
import { sharing } from "./sharing.ts";

/** Answers with what was true when it was begun, once it is let. */
function createSlow() {
  const waiting: (() => void)[] = [];
  let fact = "first";
  let begun = 0;
  const ask = sharing(async () => {
    const found = fact;
    begun += 1;
    await new Promise<void>((resolve) => waiting.push(resolve));
    if (found === "broken") throw new Error(found);
    return found;
  });
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    ask,
    begun: () => begun,
    tell: (now: string) => {
      fact = now;
    },
    async letOne() {
      await settle();
      waiting.shift()?.();
      await settle();
    },
  };
}

test("who asks while another is answered gets a younger answer, and shares it", async () => {
  const { ask, begun, tell, letOne } = createSlow();
  const one = ask();
  tell("second");
  const [two, three] = [ask(), ask()];
  await letOne();
  expect(await one).toBe("first");
  tell("third");
  const four = ask();
  await letOne();
  expect(await Promise.all([two, three])).toEqual(["second", "second"]);
  await letOne();
  expect([await four, begun()]).toEqual(["third", 3]);
});

test("what fails fails for those who wait for it, and not for the next", async () => {
  const { ask, tell, letOne } = createSlow();
  tell("broken");
  const one = ask().catch(String);
  const two = ask().catch(String);
  await letOne();
  tell("well");
  await letOne();
  expect(await Promise.all([one, two])).toEqual(["Error: broken", "Error: broken"]);
  const three = ask();
  await letOne();
  expect(await three).toBe("well");
});
