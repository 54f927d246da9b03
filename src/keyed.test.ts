import { expect, test } from "vitest";
import { createMemo, createTurns, sharing } from "./keyed.ts";

/** An asynchronous function that answers, when allowed, with the value from its start. */
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

test("callers that ask during a running request share the next answer", async () => {
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

test("a failed answer fails for the callers that share it, but not for later callers", async () => {
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

test("work with the same key runs in order, concurrently with work of other keys", async () => {
  const inTurn = createTurns();
  const told: string[] = [];
  const gates = new Map<string, () => void>();
  const work = (name: string) => async () => {
    told.push(`${name} begins`);
    await new Promise<void>((resolve) => gates.set(name, resolve));
    told.push(`${name} ends`);
    return name;
  };
  const all = [inTurn("a", work("a1")), inTurn("a", work("a2")), inTurn("b", work("b1"))];
  expect(told).toEqual(["a1 begins", "b1 begins"]);
  gates.get("b1")?.();
  gates.get("a1")?.();
  await Promise.all([all[0], all[2]]);
  await new Promise<void>((resolve) => setImmediate(resolve));
  gates.get("a2")?.();
  expect(await Promise.all(all)).toEqual(["a1", "a2", "b1"]);
  expect(told.filter((each) => each.startsWith("a"))).toEqual(["a1 begins", "a1 ends", "a2 begins", "a2 ends"]);
});

test("failing work is an error for its own caller only, even if it throws synchronously", async () => {
  const inTurn = createTurns();
  const thrown = inTurn("a", () => {
    throw new Error("at once");
  });
  const rejected = inTurn("a", async () => {
    throw new Error("later");
  });
  const fine = inTurn("a", async () => "fine");
  await expect(thrown).rejects.toThrow("at once");
  await expect(rejected).rejects.toThrow("later");
  expect(await fine).toBe("fine");
});

function counted<Answer>(answers: readonly (() => Answer)[]) {
  let asked = 0;
  return {
    asked: () => asked,
    ask: async () => {
      const answer = answers[Math.min(asked++, answers.length - 1)];
      if (answer === undefined) throw new Error("no answer");
      return answer();
    },
  };
}

test("a memo asks once per key, also for concurrent callers", async () => {
  const memo = createMemo<string>();
  const { ask, asked } = counted([() => "one", () => "two"]);
  expect(await Promise.all([memo.get("a", ask), memo.get("a", ask)])).toEqual(["one", "one"]);
  expect(await memo.get("a", ask)).toBe("one");
  expect(await memo.get("b", ask)).toBe("two");
  memo.forget("a");
  await memo.get("a", ask);
  expect(asked()).toBe(3);
});

test("a memo caches neither failed answers nor those that `keeps` rejects", async () => {
  const memo = createMemo<string>({ keeps: (answer) => answer !== "none" });
  const fail = () => {
    throw new Error("failed");
  };
  const { ask } = counted([fail, () => "none", () => "some"]);
  await expect(memo.get("a", ask)).rejects.toThrow("failed");
  expect(await memo.get("a", ask)).toBe("none");
  expect(await memo.get("a", ask)).toBe("some");
  await expect(memo.get("b", fail as never)).rejects.toThrow("failed");
});

test("an old answer that fails does not evict a newer one", async () => {
  const memo = createMemo<string>();
  let fail = () => {};
  const old = memo.get("a", () => new Promise((_, reject) => (fail = () => reject(new Error("late")))));
  memo.forget("a");
  await memo.get("a", async () => "new");
  fail();
  await expect(old).rejects.toThrow("late");
  expect(await memo.get("a", async () => "newer")).toBe("new");
});

test("a memo drops all answers at its limit, and each answer at its maximum age, even if the clock is set back", async () => {
  const small = createMemo<string>({ max: 2 });
  for (const key of ["a", "b", "c"]) await small.get(key, async () => key);
  expect(await small.get("a", async () => "again")).toBe("again");
  let now = 1_000;
  const aged = createMemo<string>({ maxAge: { clock: { now: () => now }, ms: 10 } });
  await aged.get("a", async () => "old");
  now += 10;
  expect(await aged.get("a", async () => "new")).toBe("old");
  now -= 21;
  expect(await aged.get("a", async () => "new")).toBe("new");
});
