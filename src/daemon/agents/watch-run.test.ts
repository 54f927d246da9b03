import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createScriptedClock } from "../../../test/scripted-ports.ts";
import type { Healing } from "../../engine/reconcile.ts";
import type { Harness } from "../../ports/harness.ts";
import type { Run, StartedRun } from "../../ports/records.ts";
import type { TailPart } from "../../ports/tail.ts";
import type { Pane, TerminalServer } from "../../ports/terminal.ts";
import { type WatchPorts, watchRun } from "./watch-run.ts";

const run: Run & { started: StartedRun } = {
  ...{ id: "t/worker#1", project: "coffee", task: "t", at: 0, key: "worker#1", role: "worker", harness: "any" },
  ...{ model: "", session: "", folder: "/", pid: 1, endedAt: undefined, word: "" },
  started: {
    ...{ name: "t-1", mode: "session", window: "worker", at: 0, entry: 1, part: 0, isResumed: false },
    ...{ transcript: "", transcriptFrom: 0, raised: "" },
  },
};

const first: TerminalServer = { id: "1", startedAt: 0 };

/** A run in a window that is watched since the third listing of all windows. */
function watched(part: Partial<TailPart> = {}, eventsFile = "/events", now = 60_000) {
  const healed: Healing["kind"][] = [];
  const position = { offset: 0, before: "" };
  let reads = 0;
  const read = async () => {
    reads++;
    return { lines: [], position, hasMore: false, isAnew: false, ...part };
  };
  const ports = {
    ...{ clock: createScriptedClock(now), since: 3, store: { runs: { put: async () => {}, list: async () => [] } } },
    terminal: { capture: async () => "" },
    tails: { open: () => ({ read }) },
    book: { of: () => undefined, add: async () => {} },
    eventsFile: () => eventsFile,
    limitsOf: async () => ({ stall: undefined, time: undefined }),
    heal: async (_: unknown, { kind }: Healing) => void healed.push(kind),
    learnt: () => {},
  } as unknown as WatchPorts;
  const readEvidence = () => [{ kind: "idle", said: "" }];
  const harness = { can: { acknowledges: "hook" }, readScreen: () => "busy", readEvidence } as unknown as Harness;
  const watch = watchRun(ports, run, harness);
  const look = (number: number, server: TerminalServer | undefined = first, panes: readonly Pane[] = []) =>
    watch.look({ number, server, panes: new Map(panes.map((pane) => [pane.run, pane])) });
  return { healed, look, watch, reads: () => reads };
}

test("a listing of all windows that began before a run had one says nothing about it; the next one does", async () => {
  const { healed, look } = watched();
  await look(3);
  expect(healed).toEqual([]);
  await look(4);
  expect(healed).toEqual(["judge"]);
});

test("a run whose window is gone has ended; if the whole tmux server is gone it is lost", async () => {
  const { healed, look, watch } = watched();
  await watch.look({ number: 4, server: undefined, panes: new Map() });
  await look(5);
  expect(healed).toEqual(["lost", "judge"]);
});

test("a run is lost with its tmux server, even if a resumed run has started another one meanwhile", async () => {
  const second = { id: "2", startedAt: 60_000 };
  const pane = { run: "t-1", activeAt: 0, dead: undefined, server: first } as Pane;
  const seen = watched();
  await seen.look(4, first, [pane]);
  await seen.look(5, { ...second, startedAt: 0 });
  expect(seen.healed.filter((kind) => kind !== "none")).toEqual(["lost"]);
  // The daemon was restarted too, and has never seen the window.
  const unseen = watched();
  await unseen.look(4, second);
  expect(unseen.healed).toEqual(["lost"]);
});

test("a run that writes without end is still checked, and its end is noticed", async () => {
  const { healed, look, watch, reads } = watched({ hasMore: true });
  await look(3);
  expect([healed, watch.hasMore]).toEqual([[], true]);
  expect(reads()).toBeLessThan(10);
  await look(4);
  expect(healed).toEqual(["judge"]);
  await watch.readRest();
  expect(reads()).toBeLessThan(100);
});

test("a run whose events file was replaced by something else is still checked, and the problem is reported", async () => {
  const { healed, look, watch } = watched({ trouble: "/events is a link." });
  await look(4);
  expect([healed, watch.trouble, watch.hasMore]).toEqual([["judge"], "/events is a link.", false]);
});

test("a run that was idle before this daemon started is shown as idle since its last event", async () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-watch-"));
  const file = join(folder, "events");
  writeFileSync(file, "idle\n");
  const now = Date.now();
  utimesSync(file, (now - 720_000) / 1000, (now - 720_000) / 1000);
  const { look, watch } = watched({ lines: [{ text: "idle", isCut: false }] }, file, now);
  await look(3);
  rmSync(folder, { recursive: true });
  expect([watch.signs.activity, watch.signs.since]).toEqual(["idle", now]);
  expect(Math.round((now - watch.since) / 1000)).toBe(720);
});
