import { expect, test } from "vitest";
import { createScriptedClock } from "../../testing/scripted-clock.ts";
import { type Caps, createDispatch } from "./dispatch.ts";

function stage(caps: Partial<Caps> = {}) {
  const clock = createScriptedClock(1_000_000);
  const halted = new Set<string>();
  const dispatch = createDispatch({
    clock,
    caps: () => ({ most: 10, perProject: 0, perHarness: {}, ...caps }),
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
  return { clock, dispatch, started, refused, enter, halted };
}
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("no more start than may, and the next one starts when one has left", async () => {
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

test("a project or a harness that is full keeps no other from starting", async () => {
  const { started, enter } = stage({ perProject: 1, perHarness: { codex: 1 } });
  await enter("a", "coffee", "codex");
  await enter("b", "coffee", "claude");
  await enter("c", "tea", "codex");
  await enter("d", "tea", "claude");
  expect(started).toEqual(["a", "d"]);
});

test("a provider's limit holds its harness alone, until it is over", async () => {
  const { clock, dispatch, started, enter } = stage();
  dispatch.limit("claude", clock.now() + 60_000, "Claude Code takes no more.");
  await enter("a");
  await enter("b", "coffee", "codex");
  expect(started).toEqual(["b"]);
  expect(dispatch.whyWaiting("a")).toContain("takes no more");
  expect(dispatch.limits()).toHaveLength(1);
  await clock.pass(60_000);
  await settle();
  expect(started).toEqual(["b", "a"]);
  expect(dispatch.limits()).toHaveLength(0);
});

test("of two limits of a provider the one that lasts longer holds", async () => {
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

test("what is paused starts when it is not any more", async () => {
  const { dispatch, started, enter, halted } = stage();
  halted.add("coffee");
  await enter("a");
  expect(dispatch.whyWaiting("a")).toBe("coffee is paused.");
  halted.clear();
  dispatch.wake();
  await settle();
  expect(started).toEqual(["a"]);
});

test("a run that its task does not want any more waits no longer", async () => {
  const { dispatch, refused, enter, halted } = stage();
  halted.add("coffee");
  await enter("a");
  dispatch.recheck("a", () => false);
  await settle();
  expect(refused).toEqual(["agents.superseded"]);
  expect(dispatch.whyWaiting("a")).toBeUndefined();
});

test("nobody is kept waiting by a daemon that stops", async () => {
  const { dispatch, refused, enter, halted } = stage();
  halted.add("coffee");
  await enter("a");
  dispatch.stop();
  await settle();
  expect(refused).toEqual(["agents.stopping"]);
});

test("a provider's limit lasts no longer because the clock was put back", async () => {
  const { clock, dispatch, started, enter } = stage();
  dispatch.limit("claude", clock.now() + 60_000, "It takes no more.");
  await enter("a");
  await clock.pass(-86_400_000);
  await clock.pass(30_000);
  expect(started).toEqual([]);
  dispatch.wake();
  await clock.pass(60_000);
  expect(started).toEqual(["a"]);
});
