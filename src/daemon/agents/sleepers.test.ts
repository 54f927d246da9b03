import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { drive, loadText } from "../../../test/engine/drive.ts";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import { removeFolder } from "../../../test/remove-folder.ts";
import { createScriptedClock } from "../../../test/scripted-ports.ts";
import { makePrivateFolder } from "../../home/make-folder.ts";
import { homePlaces } from "../../home/places.ts";
import { createTurns } from "../../keyed.ts";
import type { Run } from "../../ports/records.ts";
import { createDispatch } from "./dispatch.ts";
import { createSleepers, type SleeperPorts } from "./sleepers.ts";
import type { RunWatch } from "./watch-run.ts";

const workflow = loadText(
  `version: 1
roles: { coder: { harness: any, mode: session, permissions: reduced, prompt: p } }
states:
  a: { agent: { role: coder }, next: done }
  done: { terminal: true }
transitions: [{ from: a, to: done, by: coder, gate: { section: "## Handoff" } }]
prompts: { p: Go }`,
);

/**
 * A run that was asleep when the previous daemon died, and whose program cannot be started again because its folder is
 * gone.
 */
async function sleeping({ untold = 1, isWanted = true } = {}) {
  const home = mkdtempSync(join(tmpdir(), "signalbox-sleepers-"));
  onTestFinished(() => removeFolder(home));
  makePrivateFolder(homePlaces(home).run);
  const clock = createScriptedClock(1_000_000);
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  const { task: fresh } = drive(workflow, { status: "a" });
  const runs = isWanted ? fresh.runs : {};
  await store.createTask("coffee", sampleTask("t1", { ...fresh, runs, project: "coffee" }));
  const caps = () => ({ most: 1, perProject: 0, perHarness: {} });
  const rankOf = async () => ({ ways: 1, priority: 0, order: 1 });
  const dispatch = createDispatch({ clock, caps, rankOf, paused: () => undefined });
  const ended: (readonly [string, string])[] = [];
  const seats: number[] = [];
  const closed: string[] = [];
  const unread = new Set<string>();
  const inTurn = createTurns();
  const works: Promise<unknown>[] = [];
  const sleepers = createSleepers({
    ...{ store, clock, dispatch, places: homePlaces(home), inTurn },
    workflowOf: async () => workflow,
    harnesses: () => new Map([["any", { name: "any" }]]),
    mail: {
      untold: async () => Array.from({ length: untold }),
      waits: ({ run }: RunWatch) => unread.has(run.id),
      isTelling: () => false,
    },
    terminal: {
      close: async (name: string) => {
        closed.push(name);
        seats.push(dispatch.atWork());
      },
    },
    ...{ config: () => ({ agentsLive: 0 }), isWatched: () => true, unwatch() {}, log: { info() {} } },
    processes: { sweep: async () => true },
    unlessHeld: (_: Run, open: (check: () => void) => Promise<Run>) => open(() => {}),
    end: async (run: Run, { word }: { readonly word: string }) => void ended.push([run.key, word]),
    track: (work: Promise<unknown>) => void works.push(work),
  } as unknown as SleeperPorts);
  const run = {
    ...{ id: "t1/coder#1", project: "coffee", task: "t1", at: 0, key: "coder#1", role: "coder", harness: "any" },
    ...{ session: "s-1", folder: home, pid: 0, endedAt: undefined },
    started: { name: "t1-1", mode: "session", asleepSince: 5 },
  } as unknown as Run;
  /** Advances the clock; file operations need real time. */
  const pass = async (milliseconds: number) => {
    await clock.pass(milliseconds);
    while (works.length > 0) {
      await Promise.all(works.splice(0));
      await clock.pass(0);
    }
  };
  await sleepers.adopted(run);
  await pass(0);
  return { sleepers, dispatch, ended, seats, closed, unread, store, run, inTurn, pass };
}

test("the daemon tries four times to wake a sleeping run, each time with a new seat, and then the run is lost", async () => {
  const { dispatch, ended, seats, pass } = await sleeping();
  expect([seats, dispatch.atWork(), ended]).toEqual([[1], 0, []]);
  await pass(5_000);
  await pass(10_000);
  expect([seats, dispatch.atWork(), ended]).toEqual([[1, 1, 1], 0, []]);
  for (let i = 0; i < 10; i++) await pass(20_000);
  expect([seats, dispatch.atWork(), ended]).toEqual([[1, 1, 1, 1], 0, [["coder#1", "lost"]]]);
});

test("an idle run goes to sleep to make room, but not while a message waits for it, or somebody watches its terminal or has begun to", async () => {
  const { sleepers, pass, closed, unread, store, run, inTurn } = await sleeping({ isWanted: false });
  const watchOf = (watchers: number, key: string, since = 0) => {
    const started = { name: key, mode: "session", raised: "" };
    const own = { ...run, id: `t1/${key}`, key, started };
    const pane = { watchers, dead: undefined };
    const watch = {
      ...{ run: own, started, harness: { can: { resume: true } }, pane },
      signs: { activity: "idle", since, promptCount: 1 },
      keep: async () => {},
      readRest: async () => {},
    };
    return watch as unknown as RunWatch & { readonly pane: { watchers: number } };
  };
  unread.add("t1/told#1");
  sleepers.tend([
    ...[watchOf(1, "watched#1"), watchOf(0, "fresh#1", 995_000)],
    ...[watchOf(0, "told#1"), watchOf(0, "idle#1", 5)],
  ]);
  await pass(0);
  expect(closed).toEqual(["idle#1"]);
  // It goes to sleep inside the mutex of its messages, which is taken while somebody attaches.
  const late = watchOf(0, "late#1");
  const gate = Promise.withResolvers<void>();
  void inTurn("mail t1/late#1", () => gate.promise);
  sleepers.tend([late]);
  late.pane.watchers = 1;
  gate.resolve();
  await pass(0);
  expect(closed).toEqual(["idle#1"]);
  // A person who types in a browser is in no tmux.
  const typed = watchOf(0, "typed#1");
  const release = ["one", "two"].map(() => sleepers.attend("t1/typed#1"));
  for (const [i, stop] of release.entries()) {
    sleepers.tend([typed]);
    await pass(0);
    expect([i, closed]).toEqual([i, ["idle#1"]]);
    stop();
    stop();
  }
  sleepers.tend([typed]);
  await pass(0);
  expect(closed).toEqual(["idle#1", "typed#1"]);
  const slept = (await store.listEvents({ task: "t1" }, 0, 100)).filter(({ event }) => event.type === "agent.slept");
  expect(slept.map(({ event }) => event.data.run)).toEqual(["idle#1", "typed#1"]);
});

test("a sleeping run that its task no longer wants is not woken, and keeps no seat", async () => {
  const { dispatch, ended, seats, pass } = await sleeping({ isWanted: false });
  await pass(60_000);
  expect([seats, dispatch.atWork(), ended]).toEqual([[], 0, []]);
});
