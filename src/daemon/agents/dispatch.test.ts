import fc from "fast-check";
import { expect, test } from "vitest";
import { createScriptedClock } from "../../../test/scripted-ports.ts";
import { Fault } from "../../fault.ts";
import { type Block, type Caps, createDispatch, type LimitChange, namedReset } from "./dispatch.ts";
import { inOrder, type Rank } from "./queue-order.ts";

function stage(caps: Partial<Caps> = {}) {
  const clock = createScriptedClock(1_000_000);
  const halted = new Set<string>();
  const limits = { most: 10, perProject: 0, perHarness: {}, ...caps };
  const ranks = new Map<string, Partial<Rank>>();
  const dispatch = createDispatch({
    clock,
    caps: () => limits,
    rankOf: async (task) => ({ ways: 1, priority: 0, order: 1, ...ranks.get(task) }),
    paused: (project) => (halted.has(project) ? `${project} is paused.` : undefined),
  });
  const started: string[] = [];
  const refused: string[] = [];
  const enter = async (run: string, project = "coffee", harness = "claude") => {
    dispatch.enter({ run, task: run, project, harness }).then(
      () => started.push(run),
      (error) => refused.push(error.code),
    );
    await settle();
  };
  return { clock, dispatch, started, refused, enter, halted, limits, ranks };
}
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("no more runs start than there are seats, and the next starts when one leaves", async () => {
  const { dispatch, started, enter } = stage({ most: 2 });
  await enter("a");
  await enter("b");
  await enter("c");
  expect(started).toEqual(["a", "b"]);
  expect(dispatch.whyWaiting("c")).toContain("agents.most");
  dispatch.left("a");
  await settle();
  expect(started).toEqual(["a", "b", "c"]);
});

test("an idle run of an earlier daemon that asks for a seat waits for one like all others", async () => {
  const { dispatch, started, enter } = stage({ most: 1 });
  const seat = (run: string) => ({ run, task: run, project: "coffee", harness: "claude" });
  for (const run of ["a", "b"]) dispatch.seated({ ...seat(run), isAssumed: true });
  await enter("a");
  expect([started, dispatch.atWork()]).toEqual([[], 1]);
  dispatch.left("b");
  await settle();
  expect(started).toEqual(["a"]);
  // A check has shown that it works: it keeps its seat.
  dispatch.seated(seat("a"));
  await enter("a");
  expect(started).toEqual(["a", "a"]);
});

test("a project or a harness that is full keeps no other from starting", async () => {
  const { started, enter } = stage({ perProject: 1, perHarness: { codex: 1 } });
  await enter("a", "coffee", "codex");
  await enter("b", "coffee", "claude");
  await enter("c", "tea", "codex");
  await enter("d", "tea", "claude");
  expect(started).toEqual(["a", "d"]);
});

test("a provider's limit holds up its own harness only, until it is over", async () => {
  const { clock, dispatch, started, enter } = stage();
  dispatch.limit("claude", clock.now() + 60_000, "Claude Code accepts no more.");
  await enter("a");
  await enter("b", "coffee", "codex");
  expect(started).toEqual(["b"]);
  expect(dispatch.whyWaiting("a")).toContain("accepts no more");
  expect(dispatch.limits()).toHaveLength(1);
  await clock.pass(60_000);
  await settle();
  expect(started).toEqual(["b", "a"]);
  expect(dispatch.limits()).toHaveLength(0);
});

test("of two limits of a provider the longer one applies", async () => {
  const { clock, dispatch, started, enter } = stage();
  dispatch.limit("claude", clock.now() + 60_000, "Enough for today.");
  dispatch.limit("claude", clock.now() + 1_000, "Slow down.");
  await enter("a");
  await clock.pass(59_999);
  await settle();
  expect(started).toEqual([]);
  await clock.pass(1);
  await settle();
  expect(started).toEqual(["a"]);
});

test("runs of a paused project start when it is resumed", async () => {
  const { dispatch, started, enter, halted } = stage();
  halted.add("coffee");
  await enter("a");
  expect(dispatch.whyWaiting("a")).toBe("coffee is paused.");
  halted.clear();
  dispatch.wake();
  await settle();
  expect(started).toEqual(["a"]);
});

test("a run that its task no longer wants stops waiting", async () => {
  const { dispatch, refused, enter, halted } = stage();
  halted.add("coffee");
  await enter("a");
  dispatch.recheck("a", () => false);
  await settle();
  expect(refused).toEqual(["agents.superseded"]);
  expect(dispatch.whyWaiting("a")).toBeUndefined();
});

test("a stopping daemon refuses every waiting run", async () => {
  const { dispatch, refused, enter, halted } = stage();
  halted.add("coffee");
  await enter("a");
  dispatch.stop();
  await settle();
  expect(refused).toEqual(["agents.stopping"]);
});

test("a provider's limit lasts no longer when the clock is set back", async () => {
  const { clock, dispatch, started, enter } = stage();
  dispatch.limit("claude", clock.now() + 60_000, "It accepts no more.");
  await enter("a");
  await clock.pass(-86_400_000);
  await clock.pass(30_000);
  expect(started).toEqual([]);
  dispatch.wake();
  await clock.pass(60_000);
  expect(started).toEqual(["a"]);
});

test("a run that rests gives its seat to the next, and takes one again before it continues", async () => {
  const { dispatch, started, enter } = stage({ most: 1 });
  await enter("worker");
  await enter("reviewer");
  expect(started).toEqual(["worker"]);
  dispatch.rests("worker");
  await settle();
  expect(started).toEqual(["worker", "reviewer"]);
  await enter("worker");
  expect(started).toEqual(["worker", "reviewer"]);
  dispatch.left("reviewer");
  await settle();
  expect(started).toEqual(["worker", "reviewer", "worker"]);
});

test("the task nearest to its end goes first, then the one with the higher priority, then the older one", async () => {
  const { dispatch, started, enter, ranks } = stage({ most: 1 });
  ranks.set("planner", { ways: 4, priority: 9, order: 1 });
  ranks.set("young", { ways: 3, priority: 0, order: 8 });
  ranks.set("old", { ways: 3, priority: 0, order: 2 });
  ranks.set("urgent", { ways: 3, priority: 5, order: 9 });
  ranks.set("reviewer", { ways: 2, priority: 0, order: 7 });
  await enter("first");
  for (const run of ["planner", "young", "old", "urgent", "reviewer"]) await enter(run);
  expect(dispatch.waiting().map(({ run }) => run)).toEqual(["reviewer", "urgent", "old", "young", "planner"]);
  expect(dispatch.whyWaiting("old")).toContain("number 3 of the 5");
  for (const run of ["first", "reviewer", "urgent", "old", "young"]) {
    dispatch.left(run);
    await settle();
  }
  expect(started).toEqual(["first", "reviewer", "urgent", "old", "young", "planner"]);
});

test("a task that moves changes its place in the queue", async () => {
  const { dispatch, started, enter, ranks } = stage({ most: 1 });
  await enter("first");
  await enter("a");
  ranks.set("b", { ways: 3 });
  await enter("b");
  ranks.set("b", { ways: 0 });
  dispatch.moved("b");
  await settle();
  dispatch.left("first");
  await settle();
  expect(started).toEqual(["first", "b"]);
});

test("raising a limit wakes the queue", async () => {
  const { dispatch, started, enter, limits } = stage({ most: 1 });
  await enter("a");
  await enter("b");
  limits.most = 2;
  dispatch.wake();
  expect(dispatch.waiting()).toEqual([]);
  await settle();
  expect(started).toEqual(["a", "b"]);
});

test("a run that ends while it waits for a seat stops waiting", async () => {
  const { dispatch, refused, enter } = stage({ most: 1 });
  await enter("a");
  await enter("b");
  dispatch.left("b");
  await settle();
  expect(refused).toEqual(["agents.superseded"]);
  expect(dispatch.waiting()).toEqual([]);
});

test("a run that starts to work by itself takes a seat even if none is free, and others wait for it", async () => {
  const { dispatch, started, enter } = stage({ most: 1 });
  await enter("a");
  await enter("b");
  dispatch.seated({ run: "b", task: "b", project: "coffee", harness: "claude" });
  await settle();
  expect(started).toEqual(["a", "b"]);
  await enter("c");
  dispatch.rests("a");
  await settle();
  expect(started).toEqual(["a", "b"]);
  dispatch.rests("b");
  await settle();
  expect(started).toEqual(["a", "b", "c"]);
});

test("a run that asks for a seat after the stop is refused", async () => {
  const { dispatch, refused, enter } = stage();
  dispatch.stop();
  await enter("a");
  expect(refused).toEqual(["agents.stopping"]);
});

test("a provider that refuses repeatedly without saying until when counts as an endless limit", async () => {
  const { clock, dispatch, enter } = stage({ most: 1 });
  const refuse = (isGuess: boolean) => dispatch.limit("claude", clock.now() + 300_000, "No more", isGuess);
  refuse(true);
  await enter("a");
  // Every check reports the same refusal.
  refuse(true);
  expect(dispatch.endlessLimit("claude")).toBeUndefined();
  for (let i = 0; i < 2; i++) {
    dispatch.left("a");
    await clock.pass(300_001);
    refuse(true);
    await enter("a");
  }
  expect(dispatch.endlessLimit("claude")).toContain("3 times in a row");
  refuse(false);
  expect(dispatch.endlessLimit("claude")).toBeUndefined();
});

test("a limit is told when it begins, lasts longer, is lifted, or is found to be over, and not when it is reported again", async () => {
  const { clock, dispatch } = stage();
  const told: LimitChange[] = [];
  dispatch.followLimits(
    () => {},
    (change) => told.push(change),
  );
  const until = clock.now() + hour;
  dispatch.limit("claude", until, "No more");
  dispatch.limit("claude", until, "No more");
  expect(told).toEqual([{ harness: "claude", until, reason: "No more", isLifted: false }]);
  dispatch.limit("claude", until + hour, "Still no more");
  expect(dispatch.lift("claude")).toBe(true);
  expect(told.slice(1)).toEqual([
    { harness: "claude", until: until + hour, reason: "Still no more", isLifted: false },
    { harness: "claude", until: undefined, reason: "", isLifted: true },
  ]);
  dispatch.limit("codex", clock.now() + hour, "Enough");
  await clock.pass(2 * hour);
  expect(dispatch.limits()).toEqual([]);
  expect(told.at(-1)).toEqual({ harness: "codex", until: undefined, reason: "", isLifted: false });
  expect(told).toHaveLength(5);
});

test("a limit that lasts longer than six hours is reported to a person, until it is over or lifted", async () => {
  const { clock, dispatch, started, enter } = stage();
  const told: string[] = [];
  dispatch.followLimits((task) => told.push(task));
  await enter("before", "coffee", "codex");
  dispatch.limit("claude", clock.now() + 6 * hour, "No more");
  expect(dispatch.endlessLimit("claude")).toBeUndefined();
  await enter("a");
  expect(told).toEqual(["a"]);
  const until = clock.now() + 7 * hour;
  dispatch.limit("claude", until, "No more");
  expect(told).toEqual(["a", "a"]);
  await clock.pass(2 * hour);
  // Every check of the limited run reports it again.
  dispatch.limit("claude", until, "No more");
  expect(dispatch.endlessLimit("claude")).toContain("That lasts until");
  expect(dispatch.lift("claude")).toBe(true);
  await settle();
  expect(started).toEqual(["before", "a"]);
  expect(dispatch.endlessLimit("claude")).toBeUndefined();
  expect(dispatch.liftedAt("claude")).toBe(clock.now());
  expect(dispatch.lift("claude")).toBe(false);
});

test.for([
  ["past", -1],
  ["now", 0],
  ["years away", 87_600 * 3_600_000],
  ["no time", Number.NaN],
  ["for ever", Number.POSITIVE_INFINITY],
] as const)("a reset time that is %s is ignored", ([, away]) => {
  expect(namedReset(1_000 + away, 1_000)).toBeUndefined();
});

test("a reset time within the week is used", () => {
  expect(namedReset(1_000 + 7 * 24 * hour, 1_000)).toBe(1_000 + 7 * 24 * hour);
});

test("a provider whose reset times prove wrong is retried only after a pause", async () => {
  const { clock, dispatch, enter, started } = stage();
  dispatch.limit("claude", clock.now() + 1_000, "No more", true);
  await clock.pass(1_001);
  dispatch.limit("claude", clock.now() + 1_000, "No more", true);
  await enter("a");
  await clock.pass(60_000);
  expect(started).toEqual([]);
  await clock.pass(5 * 60_000);
  await settle();
  expect(started).toEqual(["a"]);
});

const hour = 3_600_000;

test.each([
  ["the task that has the budget has changed", "moved"],
  ["the configuration has changed", "wake"],
  ["another run is over", "left"],
  ["another run is idle", "rests"],
] as const)("a run that a budget holds up is asked about again when %s", async (_, what) => {
  const { dispatch, started, enter } = stage();
  await enter("other");
  let block: Block | undefined = { text: "The budget is spent.", fix: "Raise it.", owner: "parent", needsPerson: true };
  const told: string[] = [];
  dispatch.followLimits((task) => told.push(task));
  const seat = { run: "a", task: "a", project: "coffee", harness: "claude" };
  void dispatch.enter(seat, async () => block).then(() => started.push("a"));
  await settle();
  expect([started, dispatch.whyWaiting("a"), told]).toEqual([["other"], "The budget is spent.", ["a", "parent"]]);
  expect(dispatch.blocksOf("parent")).toEqual([block]);
  block = undefined;
  if (what === "moved") dispatch.moved("parent");
  else if (what === "wake") dispatch.wake();
  else dispatch[what]("other");
  await settle();
  expect([started, dispatch.blocksOf("parent")]).toEqual([["other", "a"], []]);
});

test("a run whose budget cannot be read is refused, and holds no place in the queue", async () => {
  const { dispatch } = stage();
  const seat = { run: "a", task: "a", project: "coffee", harness: "claude" };
  const fails = async () => {
    throw new Fault("store.full", "The disk is full.", { retry: "later" });
  };
  await expect(dispatch.enter(seat, fails)).rejects.toMatchObject({ code: "store.full" });
  expect(dispatch.waiting()).toEqual([]);
});

test("an answer about a budget that comes late does not count once it was asked again", async () => {
  const { dispatch, started } = stage();
  const block: Block = { text: "The budget is spent.", fix: "Raise it.", owner: "a", needsPerson: true };
  const answers: ((block: Block | undefined) => void)[] = [];
  const seat = { run: "a", task: "a", project: "coffee", harness: "claude" };
  void dispatch.enter(seat, () => new Promise((resolve) => answers.push(resolve))).then(() => started.push("a"));
  dispatch.moved("a");
  const [first, second] = answers;
  second?.(block);
  await settle();
  first?.(undefined);
  await settle();
  expect([started, dispatch.blockOf("a")]).toEqual([[], block]);
});

test("a run that a budget blocks has no place in the queue for seats", async () => {
  const { dispatch } = stage();
  const block: Block = { text: "The budget is spent.", fix: "Raise it.", owner: "parent", needsPerson: true };
  for (const run of ["a", "b"])
    void dispatch.enter({ run, task: run, project: "coffee", harness: "claude" }, async () => block).catch(() => {});
  await settle();
  expect([dispatch.whyWaiting("a"), dispatch.whyWaiting("b")]).toEqual([block.text, block.text]);
});

const rank = fc.record({ ways: fc.nat(3), priority: fc.nat(2), order: fc.nat(9) });

test("no run that wants a named agent stands behind a later one of the same priority; others stand by their ranks", () => {
  const waiting = fc.record({ rank, isNamed: fc.boolean() });
  fc.assert(
    fc.property(fc.array(waiting, { maxLength: 12 }), (all) => {
      const queue = all.map(({ rank, isNamed }) => ({ rank, seat: isNamed ? { wants: {} } : {} }));
      const ordered = inOrder(queue);
      expect(new Set(ordered)).toEqual(new Set(queue));
      const isNamed = ({ seat }: (typeof queue)[number]) => "wants" in seat;
      const pairs = (some: typeof ordered) => some.slice(1).map((each, at) => [some[at]?.rank ?? each.rank, each.rank]);
      for (const [one, other] of pairs(ordered.filter(isNamed)) as [Rank, Rank][])
        expect(one.priority > other.priority || (one.priority === other.priority && one.order <= other.order)).toBe(
          true,
        );
      for (const [one, other] of pairs(ordered.filter((each) => !isNamed(each))) as [Rank, Rank][])
        expect(one.ways - other.ways || other.priority - one.priority || one.order - other.order).toBeLessThanOrEqual(
          0,
        );
    }),
  );
});

test("a run that waits for a named agent starts once the models of its project allow it", async () => {
  const allowed: string[] = [];
  let isPrepared = false;
  const dispatch = createDispatch({
    clock: createScriptedClock(1_000_000),
    caps: () => ({ most: 10, perProject: 0, perHarness: {} }),
    rankOf: async () => ({ ways: 1, priority: 0, order: 1 }),
    paused: () => undefined,
    roster: {
      // What is not read again is not known.
      prepare: async () => {
        isPrepared = allowed.includes("large");
      },
      choose: () => (isPrepared ? { kind: "provision" } : { kind: "wait", reason: "No agent is there." }),
      lacks: () => (isPrepared ? undefined : { text: "No agent is there.", fix: "" }),
      take: () => ({ agent: { name: "ada", model: "large", insteadOf: "" } }),
      release: () => false,
    },
  });
  const wants = { model: "large", label: "coffee#1" };
  const seated = dispatch.enter({ run: "a", task: "t1", project: "coffee", harness: "claude", wants });
  await settle();
  expect(dispatch.lackOf("t1")?.text).toBe("No agent is there.");
  allowed.push("large");
  dispatch.wake();
  await settle();
  expect(dispatch.lackOf("t1")).toBeUndefined();
  expect(await seated).toMatchObject({ name: "ada" });
});
