import { expect, test } from "vitest";
import { openSqliteStore } from "../../src/adapters/sqlite/store.ts";
import type { Performers } from "../../src/daemon/perform.ts";
import { nothingOutside } from "../../src/daemon/workspaces/outside.ts";
import { decide } from "../../src/engine/decide.ts";
import { apply } from "../../src/engine/decision.ts";
import { Fault } from "../../src/fault.ts";
import type { Store } from "../../src/ports/store.ts";
import { createScriptedClock } from "../scripted-ports.ts";
import { stage } from "./stage.ts";

const threeHooks = `
version: 1
states:
  a: { waits_for: human, next: b }
  b: { do: [push_branch, create_pr], outcomes: [{ on: failed, then: c }], next: done }
  c: { waits_for: human, next: b }
  done: { terminal: true, do: [notify] }
transitions:
  - from: a
    to: b
    hooks: [{ action: run_command, command: [one] }, { action: run_command, command: [two] }, { action: run_command, command: [three] }]
`;
const everything = ["one", "two", "three", "push_branch", "create_pr", "notify"];

/** Performers that record what they did. */
function recorder(fails: Record<string, () => unknown> = {}) {
  const done: string[] = [];
  const perform = async (effect: { action: string; params: Readonly<Record<string, unknown>> }) => {
    const name = Array.isArray(effect.params.command) ? String(effect.params.command[0]) : effect.action;
    const error = fails[name]?.();
    if (error !== undefined) throw error;
    done.push(name);
  };
  const performers: Performers = Object.fromEntries(
    ["run_command", "push_branch", "create_pr", "notify"].map((action) => [action, perform]),
  );
  return { done, performers };
}

const human = { role: "human" };

test("hooks are performed in order, then the state's own work, then the end", async () => {
  const { done, performers } = recorder();
  const life = await stage(openSqliteStore(":memory:"), threeHooks, performers);
  await life.create();
  await life.rest();
  await life.submit("t1", { kind: "continue", actor: human });
  await life.rest();
  expect(done).toEqual(everything);
  expect(await life.task()).toMatchObject({ status: "done", phase: "over" });
  expect((await life.store.getTask("t1"))?.isOpen).toBe(false);
  expect(life.errors).toEqual([]);
});

test("a temporary failure is retried with growing pauses, and then the task continues", async () => {
  let failures = 3;
  const { done, performers } = recorder({
    two: () => (failures-- > 0 ? new Fault("net", "No network.", { retry: "later" }) : undefined),
  });
  const life = await stage(openSqliteStore(":memory:"), threeHooks, performers);
  await life.create();
  await life.rest();
  await life.submit("t1", { kind: "continue", actor: human });
  await life.rest();
  expect(done).toEqual(["one"]);
  await life.rest(999);
  expect(done).toEqual(["one"]);
  await life.rest(1 + 2_000 + 4_000);
  expect(done).toEqual(everything);
});

test("a failing store is retried with growing pauses, and then everything continues", async () => {
  const store = openSqliteStore(":memory:");
  const { done, performers } = recorder();
  let [failing, asked] = [false, 0];
  const shaky: Store = {
    ...store,
    async openEffects(task) {
      // Ends a caller that would retry without a pause.
      if (failing && ++asked < 100) throw new Fault("store.full", "The disk is full.", { retry: "later" });
      return store.openEffects(task);
    },
  };
  const life = await stage(shaky, threeHooks, performers);
  await life.create();
  await life.rest();
  await life.submit("t1", { kind: "continue", actor: human });
  failing = true;
  await life.rest(1_000 + 2_000);
  failing = false;
  expect(asked).toBeLessThan(10);
  await life.rest(60_000);
  expect(done).toEqual(everything);
});

test("a fault that names its retry time is retried then, not before, however often", async () => {
  let limits = 8;
  const hour = 3_600_000;
  const asked: number[] = [];
  const { done, performers } = recorder({
    two: () => {
      asked.push(life.clock.now());
      if (limits-- <= 0) return undefined;
      const cause = { retryAt: life.clock.now() + hour };
      return new Fault("forge.limited", "Slow down.", { retry: "later", cause });
    },
  });
  const life = await stage(openSqliteStore(":memory:"), threeHooks, performers);
  await life.create();
  await life.rest();
  await life.submit("t1", { kind: "continue", actor: human });
  await life.rest();
  const first = asked[0] ?? 0;
  await life.rest(hour - 1);
  expect(asked).toEqual([first]);
  await life.rest(1);
  expect(asked).toEqual([first, first + hour]);
  await life.rest(7 * hour);
  expect(asked.length).toBe(9);
  expect(done).toEqual(everything);
});

test("a hook with a permanent failure holds the task, and later effects wait until a person retries", async () => {
  let broken = true;
  const { done, performers } = recorder({ two: () => (broken ? new Fault("bad", "No such program.") : undefined) });
  const life = await stage(openSqliteStore(":memory:"), threeHooks, performers);
  await life.create();
  await life.rest();
  await life.submit("t1", { kind: "continue", actor: human });
  await life.rest(60_000);
  expect(done).toEqual(["one"]);
  expect(await life.task()).toMatchObject({
    status: "b",
    phase: "entering",
    held: { reason: "run_command failed: No such program." },
  });
  broken = false;
  await life.submit("t1", { kind: "continue", actor: human });
  await life.rest();
  expect(done).toEqual(everything);
});

test("a failure of the state's own work is an ending that the rules handle", async () => {
  const { done, performers } = recorder({ push_branch: () => new Fault("push.no-work", "There is no commit yet.") });
  const life = await stage(openSqliteStore(":memory:"), threeHooks, performers);
  await life.create();
  await life.rest();
  await life.submit("t1", { kind: "continue", actor: human });
  await life.rest();
  expect(done).toEqual(["one", "two", "three"]);
  expect(await life.task()).toMatchObject({ status: "c", reason: "There is no commit yet." });
  expect((await life.store.listEffects("t1")).map((each) => each.state)).toEqual([
    "done",
    "done",
    "done",
    "dropped",
    "dropped",
  ]);
});

test("a branch that the user has checked out holds the task in its work, and a retry goes on, although a rule covers failures", async () => {
  let isElsewhere = true;
  const fault = new Fault("workspace.branch-elsewhere", 'The branch "b" is checked out in /repo.', {
    retry: "later",
    hint: "Check out another branch there.",
  });
  const { done, performers } = recorder({ push_branch: () => (isElsewhere ? fault : undefined) });
  const life = await stage(openSqliteStore(":memory:"), threeHooks, performers);
  await life.create();
  await life.rest();
  await life.submit("t1", { kind: "continue", actor: human });
  await life.rest(10 * 60_000);
  expect(await life.task()).toMatchObject({
    status: "b",
    held: {
      reason: 'push_branch failed: The branch "b" is checked out in /repo.\nCheck out another branch there.',
      again: "effects",
    },
  });
  isElsewhere = false;
  await life.submit("t1", { kind: "continue", actor: human });
  await life.rest();
  expect(await life.task()).toMatchObject({ status: "done", phase: "over" });
  expect(done).toEqual(everything);
});

const environment: Record<string, () => unknown> = {
  "a moved repository": () => new Fault("git.not-a-repository", "The repository is gone."),
  "a missing git": () => new Fault("git.missing", "There is no git."),
  "a repository with untrusted settings": () => new Fault("project.changed", "Its hooks have changed."),
  "a rejected token": () => new Fault("forge.unauthorized", "The token was rejected."),
  "a remote that cannot be reached": () => new Fault("git.remote-unreachable", "No network.", { retry: "later" }),
  "a broken control repository": () => new Fault("git.failed", "An object is corrupt."),
  "a command that cannot be started": () => new Fault("command.not-started", "There is no such program."),
  "a full disk": () => Object.assign(new Error("No space left on device"), { code: "ENOSPC" }),
};

for (const [name, fault] of Object.entries(environment)) {
  test(`${name} holds the task in its work, although a rule covers failures, and a retry goes on`, async () => {
    let isBroken = true;
    const { done, performers } = recorder({ push_branch: () => (isBroken ? fault() : undefined) });
    const life = await stage(openSqliteStore(":memory:"), threeHooks, performers);
    await life.create();
    await life.rest();
    await life.submit("t1", { kind: "continue", actor: human });
    await life.rest(10 * 60_000);
    expect(await life.task()).toMatchObject({ status: "b", crashCount: 0, held: { again: "effects" } });
    isBroken = false;
    await life.submit("t1", { kind: "continue", actor: human });
    await life.rest();
    expect(await life.task()).toMatchObject({ status: "done", phase: "over" });
    expect(done).toEqual(everything);
  });
}

test("the rest of a state's work is dropped once a person has moved the task", async () => {
  let release = () => {};
  const { done, performers } = recorder();
  const slow: Performers = {
    ...performers,
    push_branch: async (effect, context) => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      await performers.push_branch?.(effect, context);
    },
  };
  const text = `${threeHooks}  - { from: b, to: c, by: human, hooks: [notify] }\n`;
  const life = await stage(openSqliteStore(":memory:"), text, slow);
  await life.create();
  await life.rest();
  await life.submit("t1", { kind: "continue", actor: human });
  await life.rest();
  await life.submit("t1", { kind: "move", to: "c", actor: human });
  release();
  await life.rest();
  expect(done).toEqual(["one", "two", "three", "push_branch", "notify"]);
  expect(await life.task()).toMatchObject({ status: "c", phase: "waiting" });
  expect((await life.task())?.held).toBeUndefined();
});

test("an optional effect may fail: the failure is recorded, and the task continues", async () => {
  const { done, performers } = recorder({ notify: () => new Error("No bell.") });
  const life = await stage(openSqliteStore(":memory:"), threeHooks, performers);
  await life.create();
  await life.rest();
  await life.submit("t1", { kind: "continue", actor: human });
  await life.rest();
  expect(done).toEqual(everything.slice(0, -1));
  expect(await life.task()).toMatchObject({ status: "done", phase: "over" });
  const events = await life.store.listEvents({ task: "t1" }, 0, 100);
  expect(events.map((each) => each.event)).toContainEqual(
    expect.objectContaining({ type: "effect.failed", data: { action: "notify", reason: "No bell." } }),
  );
});

test("an action without a performer in this version is reported, not lost", async () => {
  const life = await stage(openSqliteStore(":memory:"), threeHooks, {});
  await life.create();
  await life.rest();
  await life.submit("t1", { kind: "continue", actor: human });
  await life.rest();
  expect((await life.task())?.held?.reason).toBe(
    'run_command failed: "run_command" is not available in this version yet.',
  );
});

test("a refused request is recorded with its caller, and nothing else changes", async () => {
  const life = await stage(openSqliteStore(":memory:"), threeHooks, recorder().performers);
  await life.create();
  await life.rest();
  const before = await life.store.getTask("t1");
  const { decision } = await life.submit("t1", {
    kind: "move",
    to: "done",
    actor: { role: "worker", run: "worker#9" },
  });
  expect(decision.kind).toBe("rejected");
  expect(await life.store.getTask("t1")).toEqual(before);
  const last = (await life.store.listEvents({ task: "t1" }, 0, 100)).at(-1)?.event;
  expect(last).toMatchObject({ type: "request.rejected", by: "worker", data: { request: { to: "done" } }, set: {} });
});

test("of fifty concurrent requests to continue a task one wins, and each of the others gets a clear answer", async () => {
  const { done, performers } = recorder();
  const life = await stage(openSqliteStore(":memory:"), threeHooks, performers);
  await life.create();
  await life.rest();
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => life.submit("t1", { kind: "continue", actor: human })),
  );
  expect(answers.filter(({ decision }) => decision.kind === "moved")).toHaveLength(1);
  await life.rest();
  expect(done).toEqual(everything);
});

/** A store that dies at its n-th call: before the write, or after the write but before the caller gets the answer. */
function dying(store: Store, at: number, when: "before" | "after") {
  let calls = 0;
  let dead = false;
  const die = () => {
    dead = true;
    throw new Error("power cut");
  };
  const proxy = new Proxy(store, {
    get: (target, name) => {
      const method = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return async (...args: unknown[]) => {
        if (dead) return new Promise(() => undefined);
        calls++;
        if (calls === at && when === "before") die();
        const result = await method.apply(target, args);
        if (calls === at && when === "after") die();
        return result;
      };
    },
  });
  return { proxy, isDead: () => dead };
}

test("wherever the process dies, the next one recovers: no effect is skipped, and only the one in progress is repeated", async () => {
  let points = 0;
  for (const when of ["before", "after"] as const) {
    for (let at = 1; ; at++) {
      const store = openSqliteStore(":memory:");
      const { done, performers } = recorder();
      const first = await stage(store, threeHooks, performers);
      await first.create();
      await first.rest();
      await first.performer.stop();

      const { proxy, isDead } = dying(store, at, when);
      const second = await stage(proxy, threeHooks, performers);
      await second.submit("t1", { kind: "continue", actor: human }).catch(() => undefined);
      await second.rest();
      if (!isDead()) break;
      points++;

      const third = await stage(store, threeHooks, performers);
      await third.performer.recover();
      await third.rest();
      // If the request itself was lost before it was confirmed, it is sent again.
      if ((await third.task())?.status === "a") await third.submit("t1", { kind: "continue", actor: human });
      await third.rest();
      expect([when, at, await third.task()]).toEqual([
        when,
        at,
        expect.objectContaining({ status: "done", phase: "over" }),
      ]);
      expect([when, at, [...new Set(done)]]).toEqual([when, at, everything]);
      expect(done.length).toBeLessThanOrEqual(everything.length + 1);
      const effects = await store.listEffects("t1");
      expect(effects.map((each) => each.state)).toEqual(effects.map(() => "done"));
      const events = await store.listEvents({ task: "t1" }, 0, 1_000);
      expect(events.map((each) => each.event).reduce(apply, {} as never)).toEqual(await third.task());
      await store.close();
    }
  }
  expect(points).toBeGreaterThan(60);
});

test("the checker finds a planted bug: an effect marked done before it is performed", async () => {
  const store = openSqliteStore(":memory:");
  const { done, performers } = recorder();
  const life = await stage(store, threeHooks, performers);
  await life.create();
  await life.rest();
  const stored = await store.getTask("t1");
  if (stored === undefined) throw new Error();
  const decision = decide(
    life.workflow,
    stored.task,
    { kind: "continue", actor: human },
    {
      document: { frontmatter: "", preamble: "", sections: [], byHeading: new Map(), fingerprints: [], eol: "\n" },
      head: "",
      artifacts: {},
      numbers: {},
      taskFileTracked: false,
      poolFull: false,
    },
  );
  if (decision.kind !== "moved") throw new Error();
  await store.saveDecision({
    task: decision.task,
    revision: stored.revision,
    isOpen: true,
    events: decision.events,
    effects: decision.effects,
    at: 0,
  });
  const [owed] = await store.openEffects("t1");
  await store.finishEffect(owed?.id ?? 0, 0);
  await life.performer.recover();
  await life.rest();
  expect([...new Set(done)]).not.toEqual(everything);
});

test("a performer that is stopped while it reads the open effects does not read them again", async () => {
  const store = openSqliteStore(":memory:");
  let answer = () => {};
  let looks = 0;
  const slow: Store = {
    ...store,
    async dueEffects(until, most) {
      looks++;
      if (looks === 2) await new Promise<void>((resolve) => (answer = resolve));
      return store.dueEffects(until, most);
    },
  };
  const life = await stage(slow, threeHooks, recorder().performers);
  await life.performer.recover();
  await life.rest(60_000);
  expect(looks).toBe(2);
  await life.performer.stop();
  answer();
  await life.rest(600_000);
  expect(looks).toBe(2);
});

test("a workspace that cannot be read for long needs a person, and continuing reads it again", async () => {
  let isBroken = false;
  const { performers } = recorder();
  const life = await stage(
    openSqliteStore(":memory:"),
    threeHooks,
    performers,
    createScriptedClock(1_000),
    async () => {
      if (isBroken) throw new Fault("git.failed", "An object is missing.");
      return nothingOutside;
    },
  );
  await life.create();
  await life.rest();
  await life.submit("t1", { kind: "continue", actor: human });
  isBroken = true;
  await life.rest(1_000);
  expect((await life.task())?.held).toBeUndefined();
  await life.rest(600_000);
  expect((await life.task())?.held?.reason).toContain("An object is missing.");
  const told = life.errors.length;
  await life.rest(600_000);
  expect(life.errors).toHaveLength(told);
  isBroken = false;
  await life.submit("t1", { kind: "continue", actor: human });
  await life.rest();
  expect(await life.task()).toMatchObject({ status: "done", phase: "over" });
});
