import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Child, type FanOutOptions, type Item, nextChildren, readItems } from "./fan-out.ts";

/** `plan("a", "b:a", "c:a,b")`: b needs a, c needs both. */
function plan(...lines: readonly string[]): readonly Item[] {
  return lines.map((line) => {
    const [id = "", needs] = line.split(":");
    return { id, title: id, description: "", needs: needs?.split(",") ?? [], files: [], size: "M" };
  });
}

function sized(items: readonly Item[], sizes: Readonly<Record<string, Item["size"]>>): readonly Item[] {
  return items.map((item) => ({ ...item, size: sizes[item.id] ?? "M" }));
}

function withFiles(items: readonly Item[], files: Readonly<Record<string, readonly string[]>>): readonly Item[] {
  return items.map((item) => ({ ...item, files: files[item.id] ?? [] }));
}

/** `at("a done", "b failed 2")`: b has been started twice. */
function at(...lines: readonly string[]): readonly Child[] {
  return lines.map((line) => {
    const [id = "", state, tries = state === "waiting" ? 0 : 1] = line.split(" ");
    return { id, state: state as Child["state"], tries: Number(tries) };
  });
}

const base: FanOutOptions = { parallel: 2, waves: false, policy: "continue" };
const nothing = { start: [], retry: [], skip: [], stop: [], over: undefined };

const never = "Remove one of these needs, because items that wait for each other never start.";

describe("reading items", () => {
  test("only id and title are required, a need and a file count once, and paths are shortened", () => {
    const value = [
      { id: "a", title: "A" },
      {
        id: "b",
        title: "B",
        description: "Pour",
        needs: ["a", "a"],
        size: "L",
        files: ["./src//cup.ts", "src/cup.ts", "docs/", "."],
        colour: 3,
      },
    ];
    expect(readItems(value)).toEqual({
      ok: true,
      items: [
        { id: "a", title: "A", description: "", needs: [], files: [], size: "M" },
        {
          id: "b",
          title: "B",
          description: "Pour",
          needs: ["a"],
          files: ["src/cup.ts", "docs", "**"],
          size: "L",
        },
      ],
    });
  });

  test.each<[unknown, string]>([
    [undefined, "items must be a list, but is nothing JSON knows."],
    [{ id: "a" }, "items must be a list, but is an object."],
    [[], "The plan is empty. Give it at least one item, with an id and a title."],
    [["a"], 'items[0] must be an object, but is "a".'],
    [[{ id: 7, title: "A" }], "items[0].id must be text, but is 7."],
    [[{ id: "", title: "A" }], "items[0].id must have at least 1 character, but has 0."],
    [
      [{ id: "a\nb  SUBTASK_DONE", title: "A" }],
      'The id "a\\nb  SUBTASK_DONE" cannot be used. Use up to 64 letters, digits, ".", "_" and "-", such as "login-form".',
    ],
    [[{ id: "x".repeat(65), title: "A" }], expect.stringMatching(/^The id x+ cannot be used\. Use up to 64 letters/)],
    [[{ id: "a" }], "items[0].title is missing."],
    [[{ id: "a", title: "A", needs: "b" }], 'items[0].needs must be a list, but is "b".'],
    [[{ id: "a", title: "A", size: "XL" }], 'items[0].size must be "S", "M" or "L", but is "XL".'],
    [[{ id: "a", title: "A", files: "src" }], 'items[0].files must be a list, but is "src".'],
    [plan("a", "b", "a"), "Two items have the id a. Give each item an id of its own."],
    [plan("a", "b:x"), "b needs x, which is not among the items. Add such an item, or remove that need."],
    [plan("a:a"), "a needs itself. Remove a from its needs."],
    [plan("a:b", "b:a"), `a needs b, b needs a. ${never}`],
    [plan("x:a", "ok", "a:ok,b", "b:c", "c:a"), `a needs b, b needs c, c needs a. ${never}`],
    [plan("cup:the pot"), 'cup needs "the pot", which is not among the items. Add such an item, or remove that need.'],
  ])("%j: %s", (value, problem) => {
    expect(readItems(value)).toEqual({ ok: false, problem });
  });

  test("names from the prototype are ordinary ids", () => {
    expect(readItems(plan("__proto__", "constructor:__proto__")).ok).toBe(true);
    expect(readItems(plan("a:constructor")).ok).toBe(false);
  });

  test("a long chain is read, and a long cycle is found", () => {
    const chain = Array.from({ length: 500 }, (_, index) => (index === 0 ? "0" : `${index}:${index - 1}`));
    expect(readItems(plan(...chain)).ok).toBe(true);
    expect(readItems(plan("0:499", ...chain.slice(1)))).toEqual({
      ok: false,
      problem: expect.stringMatching(/^0 needs 499, 499 needs 498, .*, …, 1 needs 0\. Remove/),
    });
    expect(readItems(plan(...chain, "500:499"))).toEqual({
      ok: false,
      problem: "The plan has 501 items, but may have at most 500. Join small ones.",
    });
  });

  test.each<[string, string]>([
    ["", "which is empty. Name a file or a glob of the repository"],
    ["  ", "which is empty. Name a file or a glob of the repository"],
    ["/etc/passwd", "which is absolute. Name it relative to the repository"],
    ["//host/share", "which is absolute. Name it relative to the repository"],
    ["~/.ssh/id", "which is absolute. Name it relative to the repository"],
    ["C:/Windows", "which is absolute. Name it relative to the repository"],
    ["file:///etc", "which is absolute. Name it relative to the repository"],
    ["..", "which leads out of the repository. Name a file in it"],
    ["src/../../other", "which leads out of the repository. Name a file in it"],
    ["src/{..,app}/x", "which leads out of the repository. Name a file in it"],
    ["src\\..\\..\\x", 'which contains "\\". Write "/" between folders'],
    ["\\\\host", 'which contains "\\". Write "/" between folders'],
    [".git/config", "which belongs to git itself. Name a file of the repository"],
    ["sub/.GIT/hooks", "which belongs to git itself. Name a file of the repository"],
    ["a\u0000b", "which contains a control character. Name a file of the repository"],
  ])("the file %j is refused", (file, why) => {
    const value = [{ id: "a", title: "A", files: ["src/app.ts", file] }];
    expect(readItems(value)).toEqual({
      ok: false,
      problem: `a names the file ${JSON.stringify(file)}, ${why}, such as src/app.ts or docs/**.`,
    });
  });

  test.each([".gitignore", ".github/workflows/ci.yml", "src/a..b.ts", "docs/**/*.md", "src/{a,b}.ts", "C.txt"])(
    "the file %j is one of the repository",
    (file) => expect(readItems([{ id: "a", title: "A", files: [file] }]).ok).toBe(true),
  );

  test("problems name the list as the plan calls it", () => {
    expect(readItems([{ id: "a" }], "subtasks")).toEqual({ ok: false, problem: "subtasks[0].title is missing." });
  });

  test("reading items never throws", () => {
    fc.assert(fc.property(fc.anything(), (value) => typeof readItems(value).ok === "boolean"));
  });
});

describe("what comes next", () => {
  test("a child starts as soon as its own needs are done", () => {
    const items = plan("a", "b", "c:a", "d:b");
    expect(nextChildren(items, [], base)).toEqual({ ...nothing, start: ["a", "b"] });
    expect(nextChildren(items, at("a done", "b running"), base)).toEqual({ ...nothing, start: ["c"] });
  });

  test("with waves, a child starts when the wave before it has ended", () => {
    const items = plan("a", "b", "c:a", "d:b");
    const waves = { ...base, waves: true };
    expect(nextChildren(items, at("a done", "b running"), waves)).toEqual(nothing);
    expect(nextChildren(items, at("a done", "b done"), waves)).toEqual({ ...nothing, start: ["c", "d"] });
    expect(nextChildren(items, at("a done", "b failed"), waves)).toEqual({ ...nothing, start: ["c"], skip: ["d"] });
  });

  test("a wave has not ended while one of its children will be retried", () => {
    const options: FanOutOptions = { ...base, waves: true, policy: "retry" };
    const next = nextChildren(plan("a", "b", "c:a"), at("a done", "b failed"), options);
    expect(next).toEqual({ ...nothing, retry: ["b"] });
  });

  test("the longest remaining path goes first, and of equals the first in the file", () => {
    const items = plan("short", "also", "long", "middle:long", "end:middle");
    expect(nextChildren(items, [], base).start).toEqual(["long", "short"]);
    expect(nextChildren(items, [], { ...base, parallel: 3 }).start).toEqual(["long", "short", "also"]);
  });

  test("sizes count in the remaining path", () => {
    const items = sized(plan("two", "after:two", "large"), { two: "S", after: "S", large: "L" });
    expect(nextChildren(items, [], base).start).toEqual(["large", "two"]);
    expect(nextChildren(sized(items, {}), [], base).start).toEqual(["two", "large"]);
  });

  test("a path does not count items that can no longer run", () => {
    const items = plan("lost", "a", "b", "c:b,lost", "d:c");
    expect(nextChildren(items, [], base).start).toEqual(["lost", "b"]);
    expect(nextChildren(items, at("lost failed"), { ...base, parallel: 1 })).toMatchObject({ start: ["a"] });
  });

  test("a child that shares a file with a running one lets others go first, but no slot stays free", () => {
    const items = withFiles(plan("a", "b", "c:b", "d"), { a: ["src/cup.ts"], b: ["src/**"], d: ["docs"] });
    expect(nextChildren(items, at("a running"), base).start).toEqual(["d"]);
    expect(nextChildren(items, at("a running"), { ...base, parallel: 3 }).start).toEqual(["d", "b"]);
    expect(nextChildren(items, at("a running", "d done"), base).start).toEqual(["b"]);
  });

  test("two children that share a file do not start together if another can", () => {
    const items = withFiles(plan("a", "b", "c"), { a: ["x.ts"], b: ["x.ts"], c: ["y.ts"] });
    expect(nextChildren(items, [], base).start).toEqual(["a", "c"]);
  });

  test("of independent items, those with crowded files start first", () => {
    const items = withFiles(plan("a", "b", "c"), { a: ["own.ts"], b: ["all.ts"], c: ["all.ts"] });
    expect(nextChildren(items, [], { ...base, parallel: 1 }).start).toEqual(["b"]);
  });

  test("running children occupy slots", () => {
    expect(nextChildren(plan("a", "b", "c"), at("a running"), base).start).toEqual(["b"]);
    expect(nextChildren(plan("a", "b", "c"), at("a running", "b running"), base)).toEqual(nothing);
    expect(nextChildren(plan("a", "b", "c"), at("a running", "b running"), { ...base, parallel: 1 })).toEqual(nothing);
  });

  test("an invalid number of slots means one slot", () => {
    for (const parallel of [0, -3, 1.9, Number.NaN]) {
      expect(nextChildren(plan("a", "b"), [], { ...base, parallel }).start).toEqual(["a"]);
    }
  });

  test("a fan-out is over when all children are done", () => {
    expect(nextChildren(plan("a", "b:a"), at("a done", "b done"), base).over).toEqual({
      word: "ok",
      done: 2,
      failed: 0,
      reason: "2 of 2 done.",
    });
  });

  test("with `continue`, the fan-out continues without the failed child and everything that needs it", () => {
    const items = plan("a", "b:a", "c:b", "d", "e:d");
    const first = nextChildren(items, at("a failed", "d done"), base);
    expect(first).toEqual({ ...nothing, start: ["e"], skip: ["b", "c"] });
    const last = nextChildren(items, at("a failed", "b skipped", "c skipped", "d done", "e done"), base);
    expect(last.over).toEqual({ word: "ok", done: 2, failed: 3, reason: "2 of 5 done. Failed: a. Skipped: b, c." });
  });

  test("a child that will be skipped counts as failed immediately", () => {
    const next = nextChildren(plan("a", "b:a"), at("a failed"), base);
    expect(next).toEqual({
      ...nothing,
      skip: ["b"],
      over: { word: "ok", done: 0, failed: 2, reason: "0 of 2 done. Failed: a. Skipped: b." },
    });
  });

  test("with `retry`, a failed child is tried once more, then skipped", () => {
    const options: FanOutOptions = { ...base, policy: "retry" };
    const items = plan("a", "b:a");
    expect(nextChildren(items, at("a failed 1"), options)).toEqual({ ...nothing, retry: ["a"] });
    expect(nextChildren(items, at("a running 2"), options)).toEqual(nothing);
    expect(nextChildren(items, at("a failed 2"), options)).toMatchObject({
      retry: [],
      skip: ["b"],
      over: { word: "ok" },
    });
  });

  test("a retry waits for a slot, and gets the first one if its path is longest", () => {
    const options: FanOutOptions = { parallel: 1, waves: false, policy: "retry" };
    expect(nextChildren(plan("a", "b", "c:b"), at("a running", "b failed"), options)).toEqual(nothing);
    expect(nextChildren(plan("a", "b", "c:b"), at("b failed"), options)).toEqual({ ...nothing, retry: ["b"] });
  });

  test("with `stop`, running children are stopped, the rest is skipped, and the fan-out ends with an error", () => {
    const options: FanOutOptions = { ...base, policy: "stop" };
    const items = plan("a", "b", "c", "d");
    expect(nextChildren(items, at("a failed", "b running", "c done"), options)).toEqual({
      ...nothing,
      skip: ["d"],
      stop: ["b"],
    });
    expect(nextChildren(items, at("a failed", "b skipped", "c done", "d skipped"), options).over).toEqual({
      word: "error",
      done: 1,
      failed: 3,
      reason: "1 of 4 done. Failed: a. Skipped: b, d.",
    });
  });
});

/** Items that need only earlier items, in a shuffled order. */
const plans = fc
  .array(fc.array(fc.nat(), { maxLength: 3 }), { minLength: 1, maxLength: 14 })
  .map((all) =>
    all.map((needs, index): Item => {
      const earlier = index === 0 ? [] : needs.map((need) => `i${need % index}`);
      const files = needs.map((need) => `src/${need % 4}.ts`);
      const size = (["S", "M", "L"] as const)[(needs[0] ?? 0) % 3] ?? "M";
      return { id: `i${index}`, title: "", description: "", needs: [...new Set(earlier)], files, size };
    }),
  )
  .chain((items) => fc.shuffledSubarray(items, { minLength: items.length }));

const anyOptions: fc.Arbitrary<FanOutOptions> = fc.record({
  parallel: fc.integer({ min: 1, max: 5 }),
  waves: fc.boolean(),
  policy: fc.constantFrom("retry", "continue", "stop"),
});

/** Runs a fan-out to its end. Each tick carries out `nextChildren`, then ends the children that `endsNow` returns. */
function play(
  items: readonly Item[],
  options: FanOutOptions,
  endsNow: (child: Child) => "done" | "failed" | undefined,
  look: (children: readonly Child[]) => void = () => undefined,
) {
  const children = new Map<string, Child>(items.map(({ id }) => [id, { id, state: "waiting", tries: 0 }]));
  const set = (id: string, change: Partial<Child>) => children.set(id, { ...(children.get(id) as Child), ...change });
  const together: string[][] = [];
  for (let tick = 0; ; tick++) {
    expect(tick).toBeLessThan(items.length * 20 + 20);
    const now = [...children.values()];
    const next = nextChildren(items, now, options);
    expect(nextChildren(items, now.toReversed(), options)).toEqual(next);
    for (const id of [...next.start, ...next.retry]) {
      const needs = items.find((item) => item.id === id)?.needs ?? [];
      expect(needs.map((need) => children.get(need)?.state)).toEqual(needs.map(() => "done"));
      set(id, { state: "running", tries: (children.get(id)?.tries ?? 0) + 1 });
    }
    for (const id of [...next.skip, ...next.stop]) set(id, { state: "skipped" });
    const running = [...children.values()].filter(({ state }) => state === "running");
    expect(running.length).toBeLessThanOrEqual(options.parallel);
    if (next.over !== undefined) {
      expect(running).toEqual([]);
      return { children: [...children.values()], over: next.over, ticks: tick, together };
    }
    together.push(running.map(({ id }) => id));
    look([...children.values()]);
    for (const child of running) {
      const state = endsNow(child);
      if (state !== undefined) set(child.id, { state });
    }
  }
}

/** How long each try of a child takes, and whether it fails. */
const fates = fc.array(fc.record({ ticks: fc.integer({ min: 1, max: 4 }), fails: fc.boolean() }), {
  minLength: 40,
  maxLength: 40,
});
type Fates = readonly { readonly ticks: number; readonly fails: boolean }[];

function fated(list: Fates) {
  const age = new Map<string, number>();
  return (child: Child) => {
    const key = `${child.id}/${child.tries}`;
    const fate = list[(Number(child.id.slice(1)) * 2 + child.tries) % list.length];
    age.set(key, (age.get(key) ?? 0) + 1);
    if ((age.get(key) ?? 0) < (fate?.ticks ?? 1)) return undefined;
    return fate?.fails ? "failed" : "done";
  };
}

describe("any plan", () => {
  test("ends with every child done, failed or skipped, within the slots, needs first", () => {
    fc.assert(
      fc.property(plans, anyOptions, fates, (items, options, list) => {
        const { children, over } = play(items, options, fated(list));
        const done = children.filter(({ state }) => state === "done").length;
        expect(children.filter(({ state }) => state === "waiting" || state === "running")).toEqual([]);
        expect(over).toMatchObject({ done, failed: items.length - done });
        const wasStopped = options.policy === "stop" && done < items.length;
        expect(over.word).toBe(wasStopped ? "error" : "ok");
        for (const { tries } of children) expect(tries).toBeLessThanOrEqual(options.policy === "retry" ? 2 : 1);
      }),
    );
  });

  test("leaves no slot free while an item could start", () => {
    fc.assert(
      fc.property(plans, fc.integer({ min: 1, max: 5 }), fates, (items, parallel, list) => {
        const finished = new Set<string>();
        play(items, { parallel, waves: false, policy: "continue" }, fated(list), (children) => {
          for (const { id, state } of children) if (state === "done") finished.add(id);
          const ready = items.filter(({ id, needs }) => {
            const { state } = children.find((child) => child.id === id) ?? { state: "waiting" };
            return state === "waiting" && needs.every((need) => finished.has(need));
          });
          const running = children.filter(({ state }) => state === "running");
          expect(ready.length === 0 || running.length === parallel).toBe(true);
        });
      }),
    );
  });

  test("is deterministic", () => {
    fc.assert(
      fc.property(plans, anyOptions, fates, (items, options, list) => {
        expect(play(items, options, fated(list))).toEqual(play(items, options, fated(list)));
      }),
    );
  });

  test("skips only items that need a failed one, directly or indirectly", () => {
    fc.assert(
      fc.property(plans, fc.integer({ min: 1, max: 5 }), fates, (items, parallel, list) => {
        const { children } = play(items, { parallel, waves: false, policy: "continue" }, fated(list));
        const stateOf = new Map(children.map(({ id, state }) => [id, state]));
        for (const { id, needs } of items) {
          const isBlocked = needs.some((need) => stateOf.get(need) !== "done");
          expect(stateOf.get(id) === "skipped").toBe(isBlocked);
        }
      }),
    );
  });

  test("takes at most twice as long as the best plan could", () => {
    fc.assert(
      fc.property(plans, fc.integer({ min: 1, max: 5 }), (items, parallel) => {
        const { ticks } = play(items, { parallel, waves: false, policy: "continue" }, () => "done");
        const least = Math.max(longestPath(items), Math.ceil(items.length / parallel));
        expect(ticks).toBeGreaterThanOrEqual(least);
        expect(ticks).toBeLessThanOrEqual(2 * least);
      }),
    );
  });

  test("with waves, nothing starts before everything of a lower level has ended", () => {
    fc.assert(
      fc.property(plans, fc.integer({ min: 1, max: 5 }), fates, (items, parallel, list) => {
        const { together } = play(items, { parallel, waves: true, policy: "continue" }, fated(list));
        const levels = together.map((ids) => new Set(ids.map((id) => longestPath(items, id))));
        for (const level of levels) expect(level.size).toBe(1);
        const inTime = levels.flatMap((level) => [...level]);
        expect(inTime).toEqual(inTime.toSorted((a, b) => a - b));
      }),
    );
  });
});

/** The length of the longest chain of needs that ends in an item, or in any item. */
function longestPath(items: readonly Item[], id?: string): number {
  const ends = items.filter((item) => id === undefined || item.id === id);
  return Math.max(...ends.map(({ needs }) => 1 + Math.max(0, ...needs.map((need) => longestPath(items, need)))));
}
