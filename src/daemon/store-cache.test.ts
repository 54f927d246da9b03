import fc from "fast-check";
import { expect, test } from "vitest";
import { StoreCache } from "./store-cache.ts";

/** A store of one number that only grows. Each call waits twice: until it is carried out, and until it returns. */
function slowNumber() {
  let stored = 0;
  const waiting: (() => void)[] = [];
  const wait = () => new Promise<void>((resolve) => waiting.push(resolve));
  return {
    async read() {
      await wait();
      const found = stored;
      await wait();
      return found;
    },
    async write(ending: "told" | "failed") {
      await wait();
      const written = ++stored;
      await wait();
      if (ending === "failed") throw new Error("the answer was lost");
      return written;
    },
    /** Lets one of the waiting calls continue. */
    async goOn(which: number) {
      waiting.splice(which % Math.max(1, waiting.length), 1)[0]?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
    stored: () => stored,
  };
}

const kinds = ["read", "write", "write, not told", "write, and it fails", "write all"] as const;
type Kind = (typeof kinds)[number];

/** Plays calls, and which waiting call continues after each; the cached number must always equal the stored one. */
async function play(steps: readonly (Kind | number)[]): Promise<string | undefined> {
  const number = slowNumber();
  const cache = new StoreCache<number>();
  const told = (written: number) => written;
  const start = {
    read: () => cache.read("n", number.read),
    write: () => cache.write("n", () => number.write("told"), told),
    "write, not told": () => cache.write("n", () => number.write("told")),
    "write, and it fails": () => cache.write("n", () => number.write("failed"), told),
    "write all": () => cache.writeAll(() => number.write("told")),
  };
  for (const step of [...steps, ...Array<number>(2 * steps.length).fill(0)]) {
    if (typeof step === "number") await number.goOn(step);
    else start[step]().catch(() => {});
    const known = cache.get("n");
    if (known !== undefined && known !== number.stored()) return `${known} is known, ${number.stored()} is stored`;
  }
  return undefined;
}

test("the cache equals the store, whatever reads and writes run concurrently", async () => {
  const step = fc.oneof(fc.constantFrom(...kinds), { arbitrary: fc.nat(3), weight: 2 });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      expect(await play(steps)).toBeUndefined();
    }),
    { numRuns: 3000 },
  );
});

test("a value is read once, and again after a write", async () => {
  const cache = new StoreCache<string>();
  const loads: string[] = [];
  const read = (key: string) =>
    cache.read(key, async () => {
      loads.push(key);
      return key;
    });
  await read("a");
  await read("a");
  expect(loads).toEqual(["a"]);
  await cache.write("a", async () => {});
  await read("a");
  expect(loads).toEqual(["a", "a"]);
  await cache.write(
    "a",
    async () => "written",
    (written) => written,
  );
  expect(await read("a")).toBe("written");
});

test("a missing value is looked up again", async () => {
  const cache = new StoreCache<string>();
  expect(await cache.read("a", async () => undefined)).toBeUndefined();
  expect(await cache.read("a", async () => "here now")).toBe("here now");
});

test("the oldest value is evicted when there are too many", async () => {
  const cache = new StoreCache<string>(2);
  for (const key of ["a", "b", "c"]) await cache.read(key, async () => key);
  expect(["a", "b", "c"].map((key) => cache.get(key))).toEqual([undefined, "b", "c"]);
});
