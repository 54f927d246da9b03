import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { removeFolder } from "../../../test/remove-folder.ts";
import { createScriptedClock } from "../../../test/scripted-ports.ts";
import { plainRun } from "../../engine/run-spec.ts";
import { Fault } from "../../fault.ts";
import { homePlaces } from "../../home/places.ts";
import type { Run, StartedRun } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import { createKiller, type EndingPorts, endRun, healRun, killRun } from "./heal-run.ts";
import type { RunWatch } from "./watch-run.ts";

const known = { boot: "b", pid: 4711, start: "1" };

/** A run in a window, and everything that is done to it, in order. */
function stage({ process, close = async () => {}, sweeps = true }: Partial<Staged> = {}) {
  const done: string[] = [];
  const started = { name: "t1-1", mode: "session", ...(process === undefined ? {} : { process }) } as StartedRun;
  const run = { id: "t1/worker#1", key: "worker#1", started } as Run;
  const ports = {
    places: homePlaces("/home/ada/.signalbox"),
    terminal: {
      close(name: string) {
        done.push(`close ${name}`);
        return close();
      },
    },
    processes: {
      async sweep(identity: typeof known | undefined) {
        done.push(`sweep ${identity?.pid ?? "by its mark"}`);
        return sweeps;
      },
    },
    finish: async (_: unknown, { word }: { readonly word: string }) => void done.push(`finish ${word}`),
  } as unknown as EndingPorts;
  const watch = {
    ...{ run, started },
    keep: async (change: { readonly started: StartedRun }) => void done.push(`note ${change.started.ending?.word}`),
  } as unknown as RunWatch;
  return { done, run, ports, watch };
}

interface Staged {
  readonly process: typeof known;
  readonly close: () => Promise<void>;
  readonly sweeps: boolean;
}

test("the reason for ending a run is recorded before its program ends, and reported when no process of it is alive", async () => {
  const { done, ports, watch } = stage();
  await endRun(ports, watch, { word: "lost", reason: "A person has logged in." });
  expect(done).toEqual(["note lost", "close t1-1", "sweep by its mark", "finish lost"]);
});

test("the end of a turn in a sandbox is reported when no process in the sandbox is alive: they could still change its files", async () => {
  for (const isConfined of [true, false]) {
    const { done, ports, watch } = stage();
    const turn = {
      ...watch,
      started: { ...watch.started, mode: "turn", isConfined },
      reading: { end: async () => undefined },
    };
    await healRun(ports as never)(turn as never, { kind: "judge" });
    expect(done).toEqual([...(isConfined ? ["sweep by its mark"] : []), "finish error"]);
  }
});

test("a turn whose output cannot be judged has failed; an error of the system is tried again, and calls a person", async () => {
  const judged = async (error: Error) => {
    const { done, ports, watch } = stage();
    const turn = {
      ...watch,
      started: { ...watch.started, mode: "turn", raised: "" },
      reading: { end: () => Promise.reject(error) },
      keep: async (change: { readonly started: StartedRun }) => void done.push(`raise ${change.started.raised}`),
    };
    const more = { ...ports, clock: { now: () => 0 }, store: { addEvents: async () => {} } };
    await healRun(more as never)(turn as never, { kind: "judge" }).catch(() => done.push("thrown"));
    return done;
  };
  expect(await judged(new RangeError("Maximum call stack size exceeded"))).toEqual(["finish error"]);
  const full = Object.assign(new Error("no space"), { code: "ENOSPC" });
  expect(await judged(full)).toEqual(["raise How it ended could not be read: no space", "thrown"]);
});

test("an invalid answer is asked for again only while the task wants the run", async () => {
  const home = mkdtempSync(join(tmpdir(), "signalbox-judge-"));
  onTestFinished(() => removeFolder(home));
  const places = homePlaces(home);
  const folder = join(places.runs, "t1-1");
  mkdirSync(folder, { recursive: true });
  const spec = { ...plainRun("worker"), mode: "turn", result: "verdict" };
  writeFileSync(join(folder, "harness.json"), JSON.stringify({ spec, order: { folder: home, taskFile: "" } }));
  const asked = async (runs: object) => {
    const { done, ports, watch } = stage();
    const end = { kind: "ended", code: 0, signal: "", cause: "exit", reason: "", at: 0 };
    const turn = { text: "All is well.", answer: undefined, error: undefined, events: [] };
    const more = {
      ...{ ...ports, places, environment: { env: {}, home, places, allowed: () => [] }, clock: { now: () => 0 } },
      ...{ ids: { secret: () => "1" }, callers: { issue: async () => "token" }, portOf: async () => undefined },
      store: { getTask: async () => ({ task: { id: "t1", workspace: home, runs } }) },
      book: { of: () => undefined, add: async () => {} },
      ...{ runFolder: () => folder, workflowOf: async () => ({ schemas: { verdict: { type: "object" } } }) },
    };
    const run = {
      ...{ ...watch, started: { ...watch.started, mode: "turn", part: 0 } },
      ...{ run: { ...watch.run, task: "t1", role: "worker", session: "s-1" } },
      reading: { end: async () => ({ end, turn, events: [], position: 0 }) },
      harness: {
        ...{ name: "any", can: { resume: true } },
        async prepare({ prompt }: { readonly prompt: string }) {
          done.push(prompt.slice(0, 27));
          throw new Fault("harness.busy", "It is enough to know that it is asked.");
        },
      },
    };
    await healRun(more as never)(run as never, { kind: "judge" }).catch((error) => done.push(error.code));
    return done;
  };
  expect(await asked({ worker: { key: "worker#1" } })).toEqual(["Your answer cannot be used.", "harness.busy"]);
  expect(await asked({ worker: { key: "worker#2" } })).toEqual(["finish invalid"]);
  expect(await asked({})).toEqual(["finish invalid"]);
});

test("a terminal that hangs does not stop a program with a recorded identity from being ended", async () => {
  const { done, ports, run } = stage({ process: known, close: () => new Promise(() => {}) });
  void killRun(ports, run);
  await new Promise((resolve) => setImmediate(resolve));
  expect(done).toEqual(["sweep 4711", "close t1-1"]);
});

test("a window that cannot be closed is no failure if every process in it was found and ended", async () => {
  const close = () => Promise.reject(new Error("tmux does not answer"));
  for (const staged of [{ process: known, sweeps: false }, { sweeps: true }]) {
    const { ports, run } = stage({ ...staged, close });
    await expect(killRun(ports, run)).resolves.toBeUndefined();
  }
});

test("a run without a recorded identity whose window cannot be closed does not count as ended", async () => {
  const { ports, run } = stage({ close: () => Promise.reject(new Error("tmux does not answer")), sweeps: false });
  await expect(killRun(ports, run)).rejects.toThrow("tmux does not answer");
});

test("the daemon retries to end a run until it has ended; then its record is closed", async () => {
  let isDeaf = true;
  const close = () => (isDeaf ? Promise.reject(new Error("tmux does not answer")) : Promise.resolve());
  const { done, ports, run } = stage({ close, sweeps: false });
  const clock = createScriptedClock(1_000);
  const runs = new Map([[run.id, run]]);
  const store = {
    runs: { get: async (id: string) => runs.get(id), put: async (each: Run) => void runs.set(each.id, each) },
  } as unknown as Store;
  const failures: unknown[] = [];
  const { kill } = createKiller({
    ...{ ...ports, store, clock, isStopped: () => false, forget: () => undefined },
    track: (work) => void work.catch((error) => failures.push(error)),
    ended: async ({ id }) => void done.push(`ended ${id}`),
  });
  await expect(kill(run)).rejects.toThrow("tmux does not answer");
  await clock.pass(5_000);
  expect([failures.length, done.includes(`ended ${run.id}`)]).toEqual([1, false]);
  isDeaf = false;
  await clock.pass(5_000);
  expect(done.at(-1)).toBe(`ended ${run.id}`);
  expect(runs.get(run.id)).toMatchObject({ endedAt: 11_000, word: "killed" });
  const before = done.length;
  await clock.pass(60_000);
  expect(done).toHaveLength(before);
});
