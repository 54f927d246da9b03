import { expect, test } from "vitest";
import { openSqliteStore } from "../../src/adapters/sqlite/store.ts";
import type { Perform } from "../../src/daemon/perform.ts";
import { Fault } from "../../src/fault.ts";
import type { Store } from "../../src/ports/store.ts";
import { stage } from "./stage.ts";

const human = { role: "human" };
const later = () => new Fault("net", "No network.", { retry: "later" });

const twoHooks = `
version: 1
states:
  a: { waits_for: human, next: b }
  b: { waits_for: human, next: done }
  c: { waits_for: human, next: b }
  done: { terminal: true }
transitions:
  - { from: a, to: b, hooks: [{ action: run_command, command: [one] }, { action: run_command, command: [two] }] }
  - { from: b, to: c, by: human, hooks: [{ action: run_command, command: [three] }] }
`;

/** The effects that were started, in order, and their results. */
function commands(run: (name: string) => Promise<void> | void = () => {}) {
  const begun: string[] = [];
  const perform: Perform = async ({ params }) => {
    const [name = ""] = params.command as readonly string[];
    begun.push(name);
    await run(name);
  };
  return { begun, performers: { run_command: perform } };
}

async function continued(store: Store, { performers }: ReturnType<typeof commands>) {
  const life = await stage(store, twoHooks, performers);
  await life.create();
  await life.rest();
  await life.submit("t1", { kind: "continue", actor: human });
  await life.rest();
  return life;
}

test("a temporary failure is retried six times, and then a person is asked", async () => {
  const tried = commands(() => {
    throw later();
  });
  const life = await continued(openSqliteStore(":memory:"), tried);
  for (let minute = 0; minute < 10; minute++) await life.rest(60_000);
  expect(tried.begun).toEqual(Array(6).fill("one"));
  expect((await life.task())?.held?.reason).toContain("No network.");
});

test("an effect that the daemon's stop interrupted has not failed, and costs no try", async () => {
  let cutShort = () => {};
  const store = openSqliteStore(":memory:");
  const tried = commands(
    () =>
      new Promise((_, reject) => {
        cutShort = () => reject(new Fault("command.failed", "It was killed."));
      }),
  );
  const life = await continued(store, tried);
  const stopping = life.performer.stop();
  cutShort();
  await stopping;
  expect(await store.openEffects("t1")).toMatchObject([{ state: "owed", tries: 0, failure: undefined }, {}]);
});

test("an effect that was carried out but could not be marked done is marked later, and not carried out again", async () => {
  const store = openSqliteStore(":memory:");
  let isFull = true;
  const full: Store = {
    ...store,
    async finishEffect(...args) {
      if (isFull) throw new Fault("store.full", "The disk is full.", { retry: "later" });
      return store.finishEffect(...args);
    },
  };
  const tried = commands();
  const life = await continued(full, tried);
  await life.rest(5_000);
  expect(tried.begun).toEqual(["one"]);
  isFull = false;
  await life.rest(60_000);
  expect(tried.begun).toEqual(["one", "two"]);
  expect(await life.task()).toMatchObject({ status: "b", phase: "waiting" });
});

test("moving a task away from a failed hook drops that hook and the ones after it", async () => {
  const store = openSqliteStore(":memory:");
  const tried = commands((name) => {
    if (name === "one") throw new Fault("bad", "No such program.");
  });
  const life = await continued(store, tried);
  expect((await life.task())?.held?.again).toBe("effects");
  await life.submit("t1", { kind: "move", to: "c", actor: human });
  await life.rest(60_000);
  expect(tried.begun).toEqual(["one", "three"]);
  expect(await life.task()).toMatchObject({ status: "c", phase: "waiting" });
  expect((await life.task())?.held).toBeUndefined();
  expect((await store.listEffects("t1")).map(({ state }) => state)).toEqual(["dropped", "dropped", "done"]);
});

test("a failure that was not reported before the daemon died is reported after the restart", async () => {
  const store = openSqliteStore(":memory:");
  const text = `version: 1
states:
  a: { agent: { role: coder, mode: turn, prompt: p }, limits: { attempts: 3 }, next: done }
  done: { terminal: true }
prompts: { p: Go }`;
  const first = await stage(store, text, { spawn_agent: async () => {} });
  await first.create();
  await first.rest();
  await first.performer.stop();
  // The agent must be started again, in a state in which the task waits.
  await first.submit("t1", { kind: "ended", run: "coder#1", word: "error" });
  const [owed] = await store.openEffects("t1");
  await store.failEffect(owed?.id ?? 0, { word: "error", reason: "It is not installed." });
  expect((await first.task())?.phase).toBe("waiting");

  const second = await stage(store, text, { spawn_agent: async () => {} });
  await second.performer.recover();
  await second.rest();
  expect((await second.task())?.held?.reason).toContain("It is not installed.");
});

test("effects that are added while the open effects are read are carried out before the task settles or continues", async () => {
  const store = openSqliteStore(":memory:");
  const tried = commands(async () => {
    phases.push((await store.getTask("t1"))?.task.phase);
  });
  const phases: unknown[] = [];
  let answer: (() => void) | undefined;
  let isSlow = false;
  const slow: Store = {
    ...store,
    async openEffects(task) {
      const found = await store.openEffects(task);
      if (!isSlow) return found;
      isSlow = false;
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return found;
    },
  };
  const text = `${twoHooks.replace("b: {", "b: { do: [{ action: run_command, command: [work] }],")}`;
  const life = await stage(slow, text, tried.performers);
  await life.create();
  await life.rest();
  for (const expected of ["entering", "doing"]) {
    isSlow = true;
    life.performer.wake("t1");
    await life.rest();
    await life.submit("t1", { kind: "continue", actor: human });
    answer?.();
    await life.rest();
    expect([tried.begun.splice(0), phases.splice(0)]).toEqual(
      expected === "entering"
        ? [
            ["one", "two"],
            ["entering", "entering"],
          ]
        : [["work"], ["doing"]],
    );
  }
  expect(await life.task()).toMatchObject({ status: "done", phase: "over" });
});

test("a request that finds the task changed at every try is refused in the end", async () => {
  const store = openSqliteStore(":memory:");
  let tries = 0;
  const contended: Store = {
    ...store,
    async saveDecision() {
      // Ends a caller that would retry for ever.
      throw new Fault(++tries < 100 ? "store.conflict" : "store.tired", "Somebody else was faster.");
    },
  };
  const life = await stage(contended, twoHooks, {});
  await life.create();
  const asked = life.submit("t1", { kind: "continue", actor: human });
  await expect(asked).rejects.toMatchObject({ code: "store.conflict" });
  expect(tries).toBe(10);
});
