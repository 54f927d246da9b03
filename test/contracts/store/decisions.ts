import { describe, expect, test } from "vitest";
import type { Merge } from "../../../src/ports/records.ts";
import type { StoredTask } from "../../../src/ports/store.ts";
import { sampleArtifact, sampleDecision, sampleDocument, sampleEffect, sampleEvent, sampleTask } from "../samples.ts";
import type { Stage } from "../stage.ts";
import { tryTo } from "../try-to.ts";

export function decisions(stage: Stage): void {
  describe("decisions", () => {
    test("status, events, effects, document and artifacts are saved together", async () => {
      const before = await stage.create("t1");
      const saved = await stage.store.saveDecision(
        sampleDecision(
          before,
          { status: "working", entry: 4 },
          {
            effects: [sampleEffect("spawn_agent"), sampleEffect("notify")],
            document: sampleDocument("# changed\n", "worker"),
            artifacts: [sampleArtifact("t1", "Plan")],
          },
        ),
      );
      expect(saved).toEqual({
        ...before,
        task: { ...before.task, status: "working", entry: 4 },
        revision: 2,
        updatedAt: 2_000,
        enteredAt: 2_000,
      });
      expect(await stage.store.getTask("t1")).toEqual(saved);
      expect((await stage.all("t1")).map(({ revision, event, at }) => [revision, event.type, at])).toEqual([
        [1, "task.created", 1_000],
        [2, "task.moved", 2_000],
      ]);
      expect(await stage.store.listEffects("t1")).toMatchObject([
        { task: "t1", entry: 4, effect: { action: "spawn_agent" }, state: "owed", dueAt: 2_000, tries: 0 },
        { task: "t1", entry: 4, effect: { action: "notify" } },
      ]);
      expect(await stage.store.getDocument("t1")).toEqual(sampleDocument("# changed\n", "worker"));
      expect(await stage.store.listArtifacts("t1")).toEqual([sampleArtifact("t1", "Plan")]);
    });

    test("a task says when its present stay began, whatever happens to it there", async () => {
      const created = await stage.create("t1");
      const moved = await stage.store.saveDecision(
        sampleDecision(created, { status: "working", entry: 4 }, { at: 3_000 }),
      );
      expect(moved.enteredAt).toBe(3_000);
      const edited = await stage.store.saveDecision(sampleDecision(moved, { summary: "Hot" }, { at: 4_000 }));
      expect([edited.updatedAt, edited.enteredAt]).toEqual([4_000, 3_000]);
      expect(await stage.store.getTask("t1")).toEqual(edited);
      const again = await stage.store.saveDecision(
        sampleDecision(edited, { status: "working", entry: 5 }, { at: 5_000 }),
      );
      expect(again.enteredAt).toBe(5_000);
      expect((await stage.store.listTasks({}, { limit: 1 }))[0]).toEqual(again);
    });

    test("decisions about several tasks are saved together, or none of them is", async () => {
      const [one, two] = [await stage.create("t1"), await stage.create("t2")];
      const all = [sampleDecision(one, { status: "over" }), sampleDecision(two, { status: "over" })];
      const late = await stage.store.saveDecision(sampleDecision(two, { status: "won" }));
      await expect(stage.store.saveDecisions(all)).rejects.toMatchObject({ code: "store.conflict" });
      expect(await stage.store.getTask("t1")).toEqual(one);
      expect(await stage.store.getTask("t2")).toEqual(late);
      const saved = await stage.store.saveDecisions([
        sampleDecision(one, { status: "over" }),
        sampleDecision(late, { status: "over" }),
      ]);
      expect(saved.map(({ task, revision }) => [task.id, task.status, revision])).toEqual([
        ["t1", "over", 2],
        ["t2", "over", 3],
      ]);
      expect([await stage.store.getTask("t1"), await stage.store.getTask("t2")]).toEqual(saved);
    });

    test("the second of two concurrent decisions gets a conflict, and nothing of it is saved", async () => {
      const before = await stage.create("t1");
      const late = sampleDecision(
        before,
        { status: "lost" },
        {
          effects: [sampleEffect("merge")],
          document: sampleDocument("lost"),
          artifacts: [sampleArtifact("t1", "Plan")],
          dropsOwed: true,
        },
      );
      const first = stage.store.saveDecision(
        sampleDecision(before, { status: "won" }, { effects: [sampleEffect("notify")] }),
      );
      await expect(stage.store.saveDecision(late)).rejects.toMatchObject({
        code: "store.conflict",
        retry: "later",
        message: expect.stringMatching(/t1.*revision 2, not 1/),
        hint: expect.any(String),
      });
      expect(await stage.store.getTask("t1")).toEqual(await first);
      expect((await stage.store.getTask("t1"))?.task.status).toBe("won");
      expect(await stage.all()).toHaveLength(2);
      expect(await stage.owedBy("t1")).toEqual([["notify", "owed"]]);
      expect(await stage.store.getDocument("t1")).toEqual(sampleDocument("# t1\n"));
      expect(await stage.store.listArtifacts("t1")).toEqual([]);
    });

    test("of many concurrent decisions exactly one wins each revision", async () => {
      const before = await stage.create("t1");
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) => stage.store.saveDecision(sampleDecision(before, { status: `s${i}` }))),
      );
      expect(results.map(({ status }) => status).filter((status) => status === "fulfilled")).toHaveLength(1);
      expect((await stage.store.getTask("t1"))?.revision).toBe(2);
      expect(await stage.all("t1")).toHaveLength(2);
    });

    test("a decision about an unknown task is refused", async () => {
      const stranger = sampleDecision({ ...(await stage.create("t1")) }, { id: "t9" });
      await expect(stage.store.saveDecision(stranger)).rejects.toMatchObject({ code: "store.missing" });
    });

    test("a decision whose artifact belongs to no task is refused as a whole", async () => {
      const before = await stage.create("t1");
      const artifacts = [sampleArtifact("t1", "Plan"), sampleArtifact("t9", "Plan")];
      await expect(stage.store.saveDecision(sampleDecision(before, {}, { artifacts }))).rejects.toMatchObject({
        code: "store.missing",
      });
      expect(await stage.store.getTask("t1")).toEqual(before);
      expect(await stage.store.listArtifacts("t1")).toEqual([]);
    });

    test("events added alone change nothing else, and have the task's present revision", async () => {
      const saved = await stage.store.saveDecision(sampleDecision(await stage.create("t1")));
      await stage.store.addEvents("t1", [sampleEvent("effect.failed"), sampleEvent("task.attended")], 3_000);
      expect(await stage.store.getTask("t1")).toEqual(saved);
      expect((await stage.all("t1")).slice(2)).toMatchObject([
        { revision: 2, at: 3_000, event: { type: "effect.failed" } },
        { revision: 2, at: 3_000, event: { type: "task.attended" } },
      ]);
      await expect(stage.store.addEvents("t9", [], 1)).rejects.toMatchObject({ code: "store.missing" });
    });

    test("events about a merge are added together with its record, or neither is saved", async () => {
      await stage.create("t1");
      const merge: Merge = {
        ...{ id: "t1", project: "coffee", task: "t1", at: 1, target: "main", strategy: "merge", to: "", by: "human" },
        ...{ state: "merged", reason: "", files: [], commit: "a", before: "b", after: "c", endedAt: 2 },
      };
      const event = sampleEvent("merge.landed");
      await stage.store.addEvents("t1", [event], 1, merge);
      expect(await stage.store.merges.get("t1")).toEqual(merge);
      const before = await stage.all("t1");
      expect(before.at(-1)).toMatchObject({ event: { type: "merge.landed" } });
      const later: Merge = { ...merge, state: "undone" };
      for (const [task, wrong] of [
        ["t1", { ...later, project: "tea" }],
        ["t1", { ...later, task: "t9" }],
        ["t9", later],
      ] as const)
        await expect(stage.store.addEvents(task, [event], 2, wrong)).rejects.toMatchObject({ code: "store.missing" });
      expect(await stage.store.merges.get("t1")).toEqual(merge);
      expect(await stage.all("t1")).toEqual(before);
    });

    test("changing objects that were passed in or returned does not change the stored data", async () => {
      const given = sampleTask("t1", { labels: ["hot"] })(1);
      const created = await stage.store.createTask("coffee", () => given);
      const spoil = (stored: StoredTask | undefined) =>
        tryTo(() => (stored?.task.labels as string[] | undefined)?.push("spoilt"));
      spoil({ ...created, task: given.task });
      spoil(created);
      spoil(await stage.store.getTask("t1"));
      spoil((await stage.store.listTasks({}, { limit: 1 }))[0]);
      expect((await stage.store.getTask("t1"))?.task.labels).toEqual(["hot"]);
      const [event] = await stage.all();
      tryTo(() => {
        (event?.event.data as Record<string, unknown>).note = "spoilt";
      });
      expect((await stage.all())[0]?.event.data).toEqual({ note: "task.created" });
    });

    test("a write is not visible before its promise has resolved", async () => {
      await stage.create("t1");
      const written = stage.store.saveDocument("t1", sampleDocument("new"), [], 1);
      expect(await stage.store.getDocument("t1")).toEqual(sampleDocument("# t1\n"));
      await written;
      expect(await stage.store.getDocument("t1")).toEqual(sampleDocument("new"));
    });
  });
}
