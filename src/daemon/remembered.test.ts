import fc from "fast-check";
import { expect, test } from "vitest";
import { Remembered } from "./remembered.ts";

/** A store of one number that only grows. Whoever asks it waits twice: until it is done, and until the answer is there. */
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
    /** Lets one of those who wait go on. */
    async goOn(which: number) {
      waiting.splice(which % Math.max(1, waiting.length), 1)[0]?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
    stored: () => stored,
  };
}

const kinds = ["read", "write", "write, not told", "write, and it fails", "write all"] as const;
type Kind = (typeof kinds)[number];

/** Who asks for what, and which of those who wait goes on after each of them; what is known must always be what is stored. */
async function play(steps: readonly (Kind | number)[]): Promise<string | undefined> {
  const number = slowNumber();
  const remembered = new Remembered<number>();
  const told = (written: number) => written;
  const start = {
    read: () => remembered.read("n", number.read),
    write: () => remembered.write("n", () => number.write("told"), told),
    "write, not told": () => remembered.write("n", () => number.write("told")),
    "write, and it fails": () => remembered.write("n", () => number.write("failed"), told),
    "write all": () => remembered.writeAll(() => number.write("told")),
  };
  for (const step of [...steps, ...Array<number>(2 * steps.length).fill(0)]) {
    if (typeof step === "number") await number.goOn(step);
    else start[step]().catch(() => {});
    const known = remembered.get("n");
    if (known !== undefined && known !== number.stored()) return `${known} is known, ${number.stored()} is stored`;
  }
  return undefined;
}

test("what is known is what is stored, whoever reads and writes beside whom", async () => {
  const step = fc.oneof(fc.constantFrom(...kinds), { arbitrary: fc.nat(3), weight: 2 });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      expect(await play(steps)).toBeUndefined();
    }),
    { numRuns: 3000 },
  );
});

test("a value is read once, and again after it was written", async () => {
  const remembered = new Remembered<string>();
  const loads: string[] = [];
  const read = (key: string) =>
    remembered.read(key, async () => {
      loads.push(key);
      return key;
    });
  await read("a");
  await read("a");
  expect(loads).toEqual(["a"]);
  await remembered.write("a", async () => {});
  await read("a");
  expect(loads).toEqual(["a", "a"]);
  await remembered.write(
    "a",
    async () => "written",
    (written) => written,
  );
  expect(await read("a")).toBe("written");
});

test("what was not found is looked for again", async () => {
  const remembered = new Remembered<string>();
  expect(await remembered.read("a", async () => undefined)).toBeUndefined();
  expect(await remembered.read("a", async () => "here now")).toBe("here now");
});

test("the oldest is forgotten when there are too many", async () => {
  const remembered = new Remembered<string>(2);
  for (const key of ["a", "b", "c"]) await remembered.read(key, async () => key);
  expect(["a", "b", "c"].map((key) => remembered.get(key))).toEqual([undefined, "b", "c"]);
});
