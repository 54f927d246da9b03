import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { TaskView } from "../../src/api/tasks.ts";
import { apply } from "../../src/engine/decision.ts";
import { Fault } from "../../src/fault.ts";
import type { Clock } from "../../src/ports/system.ts";
import { removeFolder } from "../remove-folder.ts";
import { createScriptedClock } from "../scripted-ports.ts";
import { assemble, coffee, furnish } from "./assembled-core.ts";

const hour = 3_600_000;

/** A wall clock that a test can set back. Timers do not depend on it. */
function createWallClock() {
  const timers = createScriptedClock(1_800_000_000_000);
  let offset = 0;
  const clock: Clock = { now: () => timers.now() + offset, after: timers.after };
  return {
    clock,
    putBack: (milliseconds: number) => {
      offset -= milliseconds;
    },
    /** Lets time pass until everything that it triggers has finished. */
    rest: async (milliseconds = 0) => {
      for (let i = 0; i < 12; i++) await timers.pass(i === 0 ? milliseconds : 0);
    },
  };
}

const workflow = `name: timed
version: 1
roles: { worker: { prompt: work } }
states:
  todo: { waits_for: human, next: resting }
  resting: { waits_for: 60s, next: asking }
  asking: { waits_for: human, next: working }
  working: { agent: { role: worker } }
  over: { terminal: true }
transitions:
  - { from: todo, to: asking, by: human, hooks: [{ action: run_command, command: [one] }, { action: run_command, command: [two] }] }
  - { from: asking, to: working, by: human }
  - { from: [asking, working], to: over, by: human, hooks: [{ action: run_command, command: [three] }] }
prompts: { work: Work }
`;

/** A daemon with one task. `during` happens inside each command. */
async function start(during: (command: string) => void = () => {}) {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-clock-"));
  onTestFinished(() => removeFolder(folder));
  furnish(folder, "timed", workflow);
  const wall = createWallClock();
  const done: string[] = [];
  const performers = {
    spawn_agent: async () => {},
    run_command: async ({ params }: { params: Readonly<Record<string, unknown>> }) => {
      const [name = ""] = params.command as readonly string[];
      during(name);
      done.push(name);
    },
  };
  const begin = () => assemble({ folder, clock: wall.clock, performers });
  const first = begin();
  onTestFinished(() => first.store.close());
  await first.store.addProject(coffee(folder, "timed"));
  await first.core.recover();
  const { task } = await first.ask<{ task: TaskView }>("createTask", {}, { project: "coffee", summary: "Brew" });
  await wall.rest();
  const id = { task: task.id };
  const move = (to: string) => first.ask("moveTask", id, { to });
  const status = async () => (await first.store.getTask(task.id))?.task.status;
  return { ...first, ...wall, id, done, move, status, begin };
}

test("history keeps its order when the clock is set back between requests and during them", async () => {
  const { ask, id, putBack, rest, store, move } = await start((command) => {
    if (command === "one") putBack(hour);
  });
  await ask("editTask", id, { summary: "First" });
  putBack(hour);
  await ask("editTask", id, { summary: "Second" });
  await move("asking");
  await rest();
  putBack(hour);
  await ask("editTask", id, { summary: "Third" });
  const events = await store.listEvents({ task: id.task }, 0, 100);
  const told = events.map(({ event }) => event.set.summary ?? event.type);
  expect(told).toEqual(["Brew", "task.settled", "First", "Second", "task.moved", "task.settled", "Third"]);
  const positions = events.map(({ position }) => position);
  expect(positions).toEqual(positions.toSorted((a, b) => a - b));
  expect(new Set(positions).size).toBe(positions.length);
  const replayed = events.map(({ event }) => event).reduce(apply, {} as never);
  expect(replayed).toEqual((await store.getTask(id.task))?.task);
});

test("an effect is performed immediately, even if the clock was set back after it was stored", async () => {
  const { putBack, rest, move, done, status, errors } = await start((command) => {
    if (command === "one") putBack(hour);
  });
  const moving = move("asking");
  putBack(hour);
  await moving;
  await rest();
  expect(done).toEqual(["one", "two"]);
  expect(await status()).toBe("asking");
  expect(errors).toEqual([]);
});

test("a retry waits no longer than its pause, even if the clock is set back meanwhile", async () => {
  let failures = 2;
  const { putBack, rest, move, done } = await start((command) => {
    if (command === "one" && failures-- > 0) throw new Fault("net", "No network.", { retry: "later" });
  });
  await move("asking");
  await rest();
  putBack(hour);
  await rest(999);
  expect(done).toEqual([]);
  await rest(2_001);
  await rest(2_000);
  expect(done).toEqual(["one", "two"]);
});

test("the next daemon immediately performs an effect that was owed when the clock was set back", async () => {
  const { putBack, rest, core, store, id, begin, done, status } = await start();
  await core.close();
  const stored = await store.getTask(id.task);
  if (stored === undefined) throw new Error("It was created.");
  await core.submit(id.task, { kind: "move", to: "asking", actor: { role: "human" } });
  await rest();
  expect(done).toEqual([]);
  putBack(hour);
  const next = begin();
  await next.core.recover();
  await rest();
  expect(done).toEqual(["one", "two"]);
  expect(await status()).toBe("asking");
  await next.core.close();
  await next.store.close();
});

test("a wait for time ends after that time at the earliest, and after twice that time at the latest", async () => {
  const { putBack, rest, ask, id, status } = await start();
  await ask("continueTask", id);
  await rest(30_000);
  putBack(hour);
  await rest(29_999);
  expect(await status()).toBe("resting");
  await rest(60_001);
  expect(await status()).toBe("asking");
});

test("a run's credential is valid while the run lives, and invalid once it has ended, whatever the clock says", async () => {
  const { putBack, rest, ask, id, move, core } = await start();
  await move("asking");
  await rest();
  await move("working");
  await rest();
  const { token } = await ask<{ token: string }>("registerRun", id, { role: "worker", lifetime: 7200 });
  putBack(hour);
  expect(await core.callers.of(token)).toMatchObject({ kind: "run", isOver: false });
  await rest(hour);
  expect(await core.callers.of(token)).toMatchObject({ isOver: false });
  await rest(2 * hour);
  expect(await core.callers.of(token)).toMatchObject({ isOver: true });
  const again = await ask<{ token: string; run: string }>("registerRun", id, { role: "worker" });
  putBack(hour);
  expect(await core.callers.of(token)).toMatchObject({ isOver: true });
  await ask("endRun", { ...id, run: again.run }, { word: "exit" });
  putBack(10 * hour);
  expect(await core.callers.of(again.token)).toMatchObject({ isOver: true });
});
