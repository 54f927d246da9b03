import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createTask } from "../../../src/engine/create.ts";
import { apply, type Decision } from "../../../src/engine/decision.ts";
import { workspaceAfter } from "../../../src/engine/enter.ts";
import { stimuli } from "../../../src/engine/explore/stimuli.ts";
import { factsOf, noPast, takeStep, type World } from "../../../src/engine/explore/world.ts";
import { createRandom } from "../../../src/engine/simulate/live.ts";
import { blankIdentity, type Task } from "../../../src/engine/task.ts";
import type { Workflow } from "../../../src/engine/workflow.ts";
import type { Store, StoredEvent, StoredTask } from "../../../src/ports/store.ts";
import { builtIn } from "../../engine/drive.ts";
import { sampleDecision, sampleDocument, sampleEffect, sampleEvent, sampleProject, sampleTask } from "../samples.ts";
import type { Stage } from "../stage.ts";

export function history(stage: Stage): void {
  describe("history", () => {
    test("an event keeps exactly the fields that it set, including those that it removed", async () => {
      const stored = await stage.create("t1");
      const set: Partial<Task> = {
        held: undefined,
        reason: "",
        results: { a: null, b: [null] },
        summary: "\u0000taken",
      };
      await stage.store.saveDecision(sampleDecision(stored, set));
      const kept = (await stage.all("t1"))[1]?.event.set ?? {};
      expect(Object.keys(kept)).toEqual(Object.keys(set));
      expect(kept).toStrictEqual(set);
    });

    test("many events added together are all kept, and so are their effects", async () => {
      const stored = await stage.create("t1");
      const events = Array.from({ length: 150 }, (_, i) => sampleEvent("task.edited", { reason: `reason ${i}` }));
      const effects = [sampleEffect("one"), sampleEffect("two")];
      await stage.store.saveDecision(sampleDecision(stored, { reason: "reason 149" }, { events, effects }));
      const kept = (await stage.all("t1")).slice(1);
      expect(kept.map(({ event }) => event.set.reason)).toEqual(events.map(({ set }) => set.reason));
      expect(kept.every(({ position }, i) => i === 0 || position > (kept[i - 1]?.position ?? 0))).toBe(true);
      expect((await stage.store.openEffects("t1")).map(({ effect }) => effect.action)).toEqual(["one", "two"]);
    });

    for (const file of readdirSync(new URL("../../../workflows", import.meta.url))) {
      const workflow = file.replace(".yml", "");
      test(`replaying the events of real ${workflow} tasks gives the tasks that are stored`, async () => {
        for (let seed = 1; seed <= 12; seed++) await live(stage.store, builtIn(workflow), `t${seed}`, seed);
        const stored = await stage.store.listTasks({}, { limit: 100 });
        expect(stored).toHaveLength(12);
        for (const { task, revision } of stored) {
          const events = await stage.all(task.id);
          expect(events.reduce((now, { event }) => apply(now, event), {} as Task)).toEqual(task);
          expect(events.at(-1)?.revision).toBe(revision);
        }
      });
    }

    test("paging back gives what paging forward gives, in reverse, whatever the pages and filters", async () => {
      await stage.store.addProject(sampleProject("tea"));
      const one = await stage.create("t1");
      const many = Array.from({ length: 70 }, (_, i) => sampleEvent("task.edited", { reason: `reason ${i}` }));
      const effects = [sampleEffect("one"), sampleEffect("two")];
      await stage.store.saveDecision(sampleDecision(one, {}, { events: many, effects }));
      await stage.store.createTask("tea", sampleTask("t2", { project: "tea" }));
      const ofHome = { type: "request.granted" as const, by: "human", data: { project: "tea" }, set: {} };
      await stage.store.addEvents("", [ofHome, { ...ofHome, data: {} }], 5);
      await stage.store.addEvents("t1", [sampleEvent("task.edited")], 6);
      for (const filter of [{}, { project: "tea" }, { project: "coffee" }, { task: "t1" }, { task: "t2" }]) {
        const forward: StoredEvent[] = [];
        for (let after = 0; ; after = forward.at(-1)?.position ?? 0) {
          const page = await stage.store.listEvents(filter, after, 100);
          if (page.length === 0) break;
          forward.push(...page);
        }
        expect(forward.length).toBeGreaterThan(0);
        for (const limit of [1, 7, 500]) {
          const back: StoredEvent[] = [];
          for (let before = Number.MAX_SAFE_INTEGER; ; before = back.at(-1)?.position ?? 0) {
            const page = await stage.store.listEventsBefore(filter, before, limit);
            if (page.length === 0) break;
            expect(page.length).toBeLessThanOrEqual(limit);
            back.push(...page);
          }
          expect(back).toEqual(forward.toReversed());
        }
      }
    });

    test("positions increase over all tasks, and a reader that resumes after its last one misses nothing", async () => {
      const tasks = await Promise.all(["t1", "t2", "t3", "t4"].map((id) => stage.create(id)));
      const seen: StoredEvent[] = [];
      let isWriting = true;
      const reader = (async () => {
        for (let last = 0; ; ) {
          const isLast = !isWriting;
          const page = await stage.store.listEvents({}, last, 7);
          seen.push(...page);
          last = page.at(-1)?.position ?? last;
          if (isLast && page.length === 0) return;
          await new Promise((resolve) => setImmediate(resolve));
        }
      })();
      const writer = async (stored: StoredTask) => {
        let now = stored;
        for (let i = 0; i < 25; i++) {
          now = await stage.store.saveDecision(
            sampleDecision(now, {}, { events: [sampleEvent("task.moved"), sampleEvent("task.held")] }),
          );
          if (i % 3 === 0) await stage.store.addEvents(now.task.id, [sampleEvent("task.attended")], i);
          if (i % 4 === 0) await stage.store.saveDecision(sampleDecision(stored)).catch(() => undefined);
        }
      };
      await Promise.all(tasks.map(writer));
      isWriting = false;
      await reader;
      const positions = seen.map((event) => event.position);
      expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b));
      expect(seen).toEqual(await stage.all());
      expect(seen).toHaveLength(4 * (1 + 25 * 2 + 9));
      expect(await stage.store.lastEvent()).toBe(positions.at(-1));
    });

    test("a long history can be read in pages of any size, from any position", async () => {
      let stored = await stage.create("t1");
      const other = await stage.create("t2");
      for (let i = 0; i < 150; i++) {
        const events = Array.from({ length: i % 4 }, (_, k) => sampleEvent("task.moved", { summary: `${i}.${k}` }));
        const effects = Array.from({ length: i % 3 }, () => sampleEffect("notify"));
        stored = await stage.store.saveDecision(sampleDecision(stored, {}, { events, effects }));
        if (i % 10 === 0)
          await stage.store.addEvents(
            "t1",
            Array.from({ length: 30 }, () => sampleEvent("task.held")),
            i,
          );
        if (i % 2 === 0) await stage.store.addEvents(other.task.id, [sampleEvent("task.attended")], i);
      }
      const all = await stage.all("t1");
      expect(all).toHaveLength(1 + 223 + 15 * 30);
      for (const limit of [1, 7, 100, 1_000]) {
        const pages: StoredEvent[] = [];
        for (let last = 0; ; ) {
          const page = await stage.store.listEvents({ task: "t1" }, last, limit);
          if (page.length === 0) break;
          pages.push(...page);
          last = page.at(-1)?.position ?? last;
        }
        expect(pages).toEqual(all);
      }
      const everything = await stage.all();
      for (let after = 0; after <= (await stage.store.lastEvent()); after += 3) {
        const later = ({ position }: StoredEvent) => position > after;
        expect(await stage.store.listEvents({ task: "t1" }, after, 5)).toEqual(all.filter(later).slice(0, 5));
        expect(await stage.store.listEvents({}, after, 5)).toEqual(everything.filter(later).slice(0, 5));
      }
    });

    test("a position is never reused, even when the last event is deleted", async () => {
      await stage.create("t1");
      await stage.create("t2");
      const last = await stage.store.lastEvent();
      await stage.store.deleteTask("t2");
      await stage.create("t3");
      expect(await stage.store.lastEvent()).toBeGreaterThan(last);
      expect((await stage.store.listEvents({}, last, 10)).map((event) => event.task)).toEqual(["t3"]);
    });

    test("events of the home are in the feed and in the lists of their project, and in no task's history", async () => {
      await stage.store.addProject(sampleProject("tea"));
      await stage.create("t1");
      const paused = { type: "request.granted", by: "human", data: { request: "pause" }, set: {} } as const;
      const changed = { ...paused, data: { request: "updateProject", project: "tea" } };
      await stage.store.addEvents("", [paused, changed], 7);
      await stage.store.addEvents("", [], 8);
      await stage.create("t2");
      await stage.store.addEvents("", [{ ...paused, data: { request: "resume" } }], 9);
      const all = await stage.all();
      expect(all.map(({ task, project, event: { data } }) => `${task} ${project} ${data.request ?? ""}`)).toEqual([
        "t1 coffee ",
        "  pause",
        " tea updateProject",
        "t2 coffee ",
        "  resume",
      ]);
      expect(all[1]).toMatchObject({ revision: 0, at: 7, event: paused });
      expect(await stage.store.lastEvent()).toBe(all.at(-1)?.position);
      const requests = async (...query: Parameters<Store["listEvents"]>) =>
        (await stage.store.listEvents(...query)).map(({ task, event: { data } }) => data.request ?? task);
      expect(await requests({ project: "tea" }, 0, 10)).toEqual(["updateProject"]);
      expect(await requests({ project: "coffee" }, 0, 10)).toEqual(["t1", "t2"]);
      expect(await requests({ task: "t1" }, 0, 10)).toEqual(["t1"]);
      expect(await requests({}, all[1]?.position ?? 0, 2)).toEqual(["updateProject", "t2"]);
      // They stay when tasks and projects are removed, and the store finds no damage.
      await stage.store.deleteTask("t1");
      await stage.store.removeProject("tea");
      expect(await requests({}, 0, 10)).toEqual(["pause", "updateProject", "t2", "resume"]);
      expect(await stage.store.check()).toEqual([]);
    });

    test("history can be read by task, by project, by both, and in pages", async () => {
      expect(await stage.store.lastEvent()).toBe(0);
      await stage.store.addProject(sampleProject("tea"));
      await stage.create("t1");
      await stage.create("u1", { project: "tea" });
      await stage.create("t2");
      const tasks = async (...query: Parameters<Store["listEvents"]>) =>
        (await stage.store.listEvents(...query)).map((event) => event.task);
      expect(await tasks({ project: "coffee" }, 0, 10)).toEqual(["t1", "t2"]);
      expect(await tasks({ task: "t2" }, 0, 10)).toEqual(["t2"]);
      expect(await tasks({ task: "t2", project: "tea" }, 0, 10)).toEqual([]);
      expect(await tasks({ task: "t9" }, 0, 10)).toEqual([]);
      expect(await tasks({}, 0, 2)).toEqual(["t1", "u1"]);
      expect(await tasks({}, await stage.store.lastEvent(), 10)).toEqual([]);
    });
  });
}

/** Runs a task for a while through random requests, and saves every decision of the engine. */
async function live(store: Store, workflow: Workflow, id: string, seed: number): Promise<void> {
  const random = createRandom(seed);
  let world: World | undefined;
  let stored = await store.createTask("coffee", (number) => {
    const start = { sections: {}, workspace: false, past: noPast };
    const identity = { ...blankIdentity, id, project: "coffee", number, branch: id, summary: "Brew" };
    const created = granted(createTask(workflow, identity, factsOf(start, {})));
    world = { ...start, task: created.task, workspace: workspaceAfter(false, created.effects) };
    return { ...created, document: sampleDocument(""), at: seed };
  });
  for (let i = 0; i < 40 && world !== undefined; i++) {
    const steps = stimuli(workflow, world);
    const step = steps[Math.floor(random.next() * steps.length)];
    const taken = step && takeStep(workflow, world, step);
    if (taken === undefined) continue;
    for (const { task, events, effects } of taken.decisions) {
      const { revision } = stored;
      stored = await store.saveDecision({
        task,
        revision,
        isOpen: task.phase !== "over",
        events,
        effects,
        at: seed + i,
      });
      expect(stored.task).toEqual(task);
    }
    world = taken.world;
  }
}

function granted(decision: Decision) {
  if (decision.kind !== "moved") throw new Error(JSON.stringify(decision));
  return decision;
}
