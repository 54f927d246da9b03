import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { TaskView } from "../../src/api/tasks.ts";
import type { Performers } from "../../src/daemon/perform.ts";
import { apply } from "../../src/engine/decision.ts";
import { Fault } from "../../src/fault.ts";
import { removeFolder } from "../remove-folder.ts";
import { createScriptedClock } from "../scripted-ports.ts";
import { type Assembled, assemble, coffee, furnish } from "./assembled-core.ts";
import { createMortal, type Death } from "./dying-store.ts";

/**
 * A workflow with hooks, an agent that fails once, a wait for time, a state's own work, a command that is retried, a
 * notification that fails without a retry, and an end.
 */
const workflow = `name: life
version: 1
roles: { helper: { mode: turn, prompt: help, limits: { attempts: 2, backoff: { first: 5s } } } }
states:
  todo: { waits_for: human, next: helping }
  helping: { agent: { role: helper }, next: ready }
  ready: { waits_for: 30s, do: [{ action: run_command, command: [four] }, { action: run_command, command: [five] }], next: over }
  over: { terminal: true, do: [notify] }
transitions:
  - from: todo
    to: helping
    by: human
    hooks: [{ action: run_command, command: [one] }, { action: run_command, command: [two] }, { action: run_command, command: [three] }]
prompts: { help: Help }
`;

const performed = ["one", "two", "three", "helper#1", "helper#2", "four", "five"];

/** Runs one task to its end. The process dies at each of the deaths in turn; the last process lives. */
async function live(deaths: readonly Death[]) {
  // The store is in memory, so no wait for a disk is needed.
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "signalbox-death-"));
  furnish(folder, "life", workflow);
  const done: string[] = [];
  let hasNetwork = false;
  const performers: Performers = {
    run_command: async ({ params }, { key }) => {
      const [name = ""] = params.command as readonly string[];
      // Only the first attempt fails, in whichever process it happens.
      if (name === "two" && !hasNetwork) {
        hasNetwork = true;
        throw new Fault("net", "No network.", { retry: "later" });
      }
      done.push(`${name} ${key}`);
    },
    acquire_workspace: async () => {},
    spawn_agent: async ({ agent }, { key }) => void done.push(`${agent?.run} ${key}`),
    notify: async () => {
      throw new Error("No bell.");
    },
  };
  let clock = createScriptedClock(1_800_000_000_000);
  const rest = async (milliseconds: number) => {
    for (let i = 0; i < 8; i++) await clock.pass(i === 0 ? milliseconds : 0);
  };
  const stop = async ({ store }: Assembled) => store.close();
  try {
    const first = assemble({ folder, clock, performers });
    await first.store.addProject(coffee(folder, "life"));
    await first.core.recover();
    const { task } = await first.ask<{ task: TaskView }>("createTask", {}, { project: "coffee", summary: "Brew" });
    await rest(0);
    await first.core.close();
    await stop(first);

    let died = 0;
    let calls = 0;
    for (const death of [...deaths, undefined]) {
      // Timers of the dead process stay with its clock.
      clock = createScriptedClock(clock.now());
      let mortal = { isDead: () => false, calls: () => 0 };
      const next = assemble({
        folder,
        clock,
        performers,
        wrap: (whole) => {
          const made = createMortal(whole, death);
          mortal = made;
          return made.store;
        },
      });
      const go = async () => {
        await next.core.recover();
        await rest(0);
        // The client repeats a request that was lost before it was confirmed.
        const stored = await next.store.getTask(task.id);
        if (stored?.task.status === "todo") await next.ask("moveTask", { task: task.id }, { to: "helping" });
        await rest(1_000);
        // The first run fails; the daemon retries it after a pause.
        for (const [run, word] of [
          ["helper#1", "error"],
          ["helper#2", "ok"],
        ] as const) {
          if (done.some((line) => line.startsWith(run))) await next.core.submit(task.id, { kind: "ended", run, word });
          await rest(10_000);
        }
        await rest(40_000);
      };
      // A dead process never answers, so wait only while it lives.
      let hasGone = false;
      const going = go().then(
        () => {
          hasGone = true;
        },
        (error) => {
          hasGone = true;
          if (!mortal.isDead()) throw error;
        },
      );
      going.catch(() => undefined);
      while (!hasGone && !mortal.isDead()) await new Promise((resolve) => setImmediate(resolve));
      if (hasGone && !mortal.isDead()) await going;
      if (mortal.isDead()) died++;
      calls = mortal.calls();
      if (!mortal.isDead() || death === undefined) {
        const end = await endOf(next, task.id);
        await next.core.close();
        await stop(next);
        return { died, calls, done, end };
      }
      await stop(next);
    }
    throw new Error("The last one lives.");
  } finally {
    removeFolder(folder);
  }
}

/** Everything that must be equal, whichever process died. Times and row numbers may differ. */
async function endOf({ store }: Assembled, id: string) {
  const stored = await store.getTask(id);
  const effects = await store.listEffects(id);
  const events = (await store.listEvents({ task: id }, 0, 1_000)).map(({ event, revision }) => ({ event, revision }));
  const replayed = events.map(({ event }) => event).reduce(apply, {} as never);
  const { createdAt: _, updatedAt: __, ...task } = stored?.task ?? ({} as never);
  return {
    task,
    isOpen: stored?.isOpen,
    revision: stored?.revision,
    // A failure that the process died before recording is no attempt.
    effects: effects.map(({ effect, state }) => [effect.action, effect.params.command, state]),
    events: events.map(({ event: { type, by, data }, revision }) => [revision, type, by, data]),
    isTrue: JSON.stringify(replayed) === JSON.stringify(stored?.task),
    damage: await store.check(),
  };
}

/** The end of the task and the number of store calls, without a death. */
export async function undisturbed() {
  const { end, calls, done } = await live([]);
  expect(done.map((line) => line.split(" ")[0])).toEqual(performed);
  expect(end).toMatchObject({ isOpen: false, isTrue: true, damage: [], task: { status: "over", crashCount: 0 } });
  return { end, calls };
}

/** Checks that a run with these deaths ends correctly; false if it ended before the last of them. */
export async function endsTheSame(deaths: readonly Death[], wanted: Awaited<ReturnType<typeof undisturbed>>["end"]) {
  const { end, died, done } = await live(deaths);
  expect({ deaths, ...end }).toEqual({ deaths, ...wanted });
  // Every effect was performed, in order, and only the effect interrupted by a death was repeated, with the same key.
  expect([deaths, [...new Set(done)].map((line) => line.split(" ")[0])]).toEqual([deaths, performed]);
  expect(done.length - new Set(done).size).toBeLessThanOrEqual(died);
  return died === deaths.length;
}
