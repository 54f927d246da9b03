import { describe, expect, test } from "vitest";
import { sampleDecision, sampleEffect, sampleEvent, unwritableEvent } from "../samples.ts";
import type { Stage } from "../stage.ts";

export function effects(stage: Stage): void {
  describe("effects", () => {
    const due = async (now = 9_999, limit = 100) =>
      (await stage.store.dueEffects(now, limit)).map(({ task, effect }) => `${task} ${effect.action}`);
    const first = async (task: string) => (await stage.store.openEffects(task))[0]?.id ?? Number.NaN;
    const failure = { word: "error", reason: "no net" };

    test("a task's effects come one by one in order, those of different tasks in parallel", async () => {
      await stage.create("t1", {}, { effects: [sampleEffect("a"), sampleEffect("b"), sampleEffect("c")] });
      await stage.create("t2", {}, { effects: [sampleEffect("d"), sampleEffect("e")] });
      expect(await due()).toEqual(["t1 a", "t2 d"]);
      expect(await due(9_999, 1)).toEqual(["t1 a"]);
      await stage.store.finishEffect(await first("t1"), 1);
      expect(await due()).toEqual(["t1 b", "t2 d"]);
      await stage.store.finishEffect(await first("t2"), 1);
      await stage.store.finishEffect(await first("t2"), 1);
      expect(await due()).toEqual(["t1 b"]);
      expect(await stage.owedBy("t1")).toEqual([
        ["a", "done"],
        ["b", "owed"],
        ["c", "owed"],
      ]);
      expect((await stage.store.openEffects("t1")).map(({ effect }) => effect.action)).toEqual(["b", "c"]);
    });

    test("effects of a later decision wait for those of an earlier one", async () => {
      const stored = await stage.create("t1", {}, { effects: [sampleEffect("a", 60)] });
      await stage.store.saveDecision(sampleDecision(stored, {}, { effects: [sampleEffect("b")] }));
      expect(await due(10_000)).toEqual([]);
      expect(await due(61_000)).toEqual(["t1 a"]);
    });

    test("an effect is due after its delay in seconds, and nextDue returns when to check again", async () => {
      expect(await stage.store.nextDue(0)).toBeUndefined();
      await stage.create("t1", {}, { effects: [sampleEffect("a", 2.5), sampleEffect("b")] });
      await stage.create("t2", {}, { effects: [sampleEffect("c", 9)] });
      expect((await stage.store.listEffects("t1"))[0]?.dueAt).toBe(3_500);
      expect(await due(3_499)).toEqual([]);
      expect(await due(3_500)).toEqual(["t1 a"]);
      expect(await stage.store.nextDue(3_499)).toBe(3_500);
      expect(await stage.store.nextDue(3_500)).toBe(10_000);
      expect(await stage.store.nextDue(10_000)).toBeUndefined();
    });

    test("the effect that has been due longest comes first", async () => {
      await stage.create("t1", {}, { effects: [sampleEffect("a", 5)] });
      await stage.create("t2", {}, { effects: [sampleEffect("b", 2)] });
      await stage.create("t3", {}, { effects: [sampleEffect("c", 2)] });
      expect(await due(9_000)).toEqual(["t2 b", "t3 c", "t1 a"]);
    });

    test("effects that are finished out of order are done, and the first is still the first", async () => {
      const stored = await stage.create("t1", {}, { effects: ["a", "b", "c"].map((action) => sampleEffect(action)) });
      await stage.store.saveDecision(sampleDecision(stored, {}, { effects: [sampleEffect("d"), sampleEffect("e")] }));
      const [, b, c, d] = (await stage.store.listEffects("t1")).map(({ id }) => id);
      for (const id of [d, b, c]) await stage.store.finishEffect(id ?? 0, 1);
      expect(await due()).toEqual(["t1 a"]);
      await stage.store.finishEffect(await first("t1"), 1);
      expect(await due()).toEqual(["t1 e"]);
      expect((await stage.owedBy("t1")).map(([, state]) => state)).toEqual(["done", "done", "done", "done", "owed"]);
    });

    test("finishing an effect is idempotent", async () => {
      await stage.create("t1", {}, { effects: [sampleEffect("a"), sampleEffect("b")] });
      const id = await first("t1");
      await stage.store.finishEffect(id, 1);
      const after = await stage.store.listEffects("t1");
      await stage.store.finishEffect(id, 2);
      await stage.store.failEffect(id, failure, 5);
      expect(await stage.store.listEffects("t1")).toEqual(after);
    });

    test("a note about an effect is added to the history once, when the effect is marked done", async () => {
      const stored = await stage.create("t1", {}, { effects: [sampleEffect("a"), sampleEffect("b")] });
      await stage.store.saveDecision(sampleDecision(stored));
      const id = await first("t1");
      const note = sampleEvent("effect.failed");
      await stage.store.finishEffect(id, 3_000, note);
      await stage.store.finishEffect(id, 4_000, note);
      expect((await stage.all("t1")).slice(2)).toMatchObject([{ task: "t1", revision: 2, at: 3_000, event: note }]);
      const unwritable = unwritableEvent("effect.failed");
      await expect(stage.store.finishEffect(await first("t1"), 5_000, unwritable)).rejects.toThrow(TypeError);
      expect(await stage.owedBy("t1")).toEqual([
        ["a", "done"],
        ["b", "owed"],
      ]);
      await expect(stage.store.finishEffect(99, 1, note)).rejects.toMatchObject({ code: "store.missing" });
      expect(await stage.all()).toHaveLength(3);
    });

    test("a failure with a retry time leaves the effect owed, and is counted", async () => {
      await stage.create("t1", {}, { effects: [sampleEffect("a"), sampleEffect("b")] });
      const id = await first("t1");
      await stage.store.failEffect(id, failure, 4_000);
      await stage.store.failEffect(id, { word: "time", reason: "slow" }, 5_000);
      expect((await stage.store.listEffects("t1"))[0]).toMatchObject({
        state: "owed",
        tries: 2,
        dueAt: 5_000,
        failure: { word: "time", reason: "slow" },
      });
      expect(await due(4_999)).toEqual([]);
      expect(await stage.store.nextDue(4_999)).toBe(5_000);
      expect(await due(5_000)).toEqual(["t1 a"]);
    });

    test("a decision can make failed effects owed again, together with its own", async () => {
      const { task, revision } = await stage.create("t1", {}, { effects: [sampleEffect("a")] });
      await stage.store.failEffect(await first("t1"), failure);
      const more = { events: [], effects: [sampleEffect("b")], at: 9_000, isOpen: true };
      await stage.store.saveDecision({ task, revision, ...more, retriesFailed: true });
      expect(await due(8_999)).toEqual([]);
      expect(await due(9_000)).toEqual(["t1 a"]);
      expect((await stage.store.openEffects("t1")).map((each) => each.state)).toEqual(["owed", "owed"]);
    });

    test("a failure without a retry time stops the task's effects until they are retried", async () => {
      await stage.create("t1", {}, { effects: [sampleEffect("a"), sampleEffect("b")] });
      await stage.store.failEffect(await first("t1"), failure);
      expect((await stage.store.openEffects("t1"))[0]).toMatchObject({ state: "failed", tries: 1, failure });
      expect(await due()).toEqual([]);
      expect(await stage.store.nextDue(0)).toBeUndefined();
      expect(await stage.store.retryEffects("t1", 7_000)).toBe(1);
      expect(await stage.store.retryEffects("t1", 8_000)).toBe(0);
      expect(await due(6_999)).toEqual([]);
      expect(await due(7_000)).toEqual(["t1 a"]);
      expect((await stage.store.openEffects("t1"))[0]).toMatchObject({
        state: "owed",
        tries: 1,
        failure,
        dueAt: 7_000,
      });
    });

    test("a failed effect that succeeds after all is done, and the next one becomes due", async () => {
      await stage.create("t1", {}, { effects: [sampleEffect("a"), sampleEffect("b")] });
      const id = await first("t1");
      await stage.store.failEffect(id, failure);
      await stage.store.finishEffect(id, 1);
      expect(await due()).toEqual(["t1 b"]);
    });

    test("a decision can drop earlier owed or failed effects, but not its own", async () => {
      const stored = await stage.create("t1", {}, { effects: ["a", "b", "c"].map((action) => sampleEffect(action)) });
      await stage.create("t2", {}, { effects: [sampleEffect("z")] });
      await stage.store.finishEffect(await first("t1"), 1);
      const dropped = await first("t1");
      await stage.store.failEffect(dropped, failure);
      await stage.store.saveDecision(sampleDecision(stored, {}, { effects: [sampleEffect("d")], dropsOwed: true }));
      expect(await stage.owedBy("t1")).toEqual([
        ["a", "done"],
        ["b", "dropped"],
        ["c", "dropped"],
        ["d", "owed"],
      ]);
      expect(await due()).toEqual(["t2 z", "t1 d"]);
      await stage.store.finishEffect(dropped, 1);
      expect(await stage.store.retryEffects("t1", 1)).toBe(0);
      expect((await stage.owedBy("t1"))[1]).toEqual(["b", "dropped"]);
    });

    test("an effect's number is never reused, nor given to an event", async () => {
      const ids = new Set<number>();
      for (const id of ["t1", "t2", "t3"]) {
        await stage.create(id, {}, { effects: [sampleEffect("a"), sampleEffect("b")] });
        for (const effect of await stage.store.listEffects(id)) ids.add(effect.id);
        for (const event of await stage.all(id)) {
          ids.add(event.position);
          await expect(stage.store.finishEffect(event.position, 1)).rejects.toMatchObject({ code: "store.missing" });
        }
        await stage.store.deleteTask(id);
      }
      expect(ids.size).toBe(9);
    });

    test("an effect that is not owed cannot be finished or fail", async () => {
      await expect(stage.store.finishEffect(99, 1)).rejects.toMatchObject({ code: "store.missing" });
      await expect(stage.store.failEffect(99, failure)).rejects.toMatchObject({ code: "store.missing" });
      expect(await stage.store.retryEffects("t9", 1)).toBe(0);
      expect(await stage.store.listEffects("t9")).toEqual([]);
      expect(await stage.store.openEffects("t9")).toEqual([]);
    });
  });
}
