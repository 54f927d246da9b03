import fc from "fast-check";
import { expect, test } from "vitest";
import { type Asked, createHandlers } from "../../src/daemon/handlers.ts";
import { viewOf } from "../../src/daemon/views.ts";
import { Fault } from "../../src/fault.ts";
import type { Merge } from "../../src/ports/records.ts";
import { sampleTask } from "../contracts/samples.ts";
import { createMemoryStore } from "../memory-store/memory-store.ts";
import { createScriptedNotifier } from "../scripted-ports.ts";
import { coreStage } from "./core-stage.ts";

const text = `
version: 1
states:
  todo: { waits_for: slot, next: taste }
  taste: { waits_for: human, ask: Taste it, next: brew }
  brew: { do: [{ action: run_command, command: [brew] }], next: rest }
  rest: { waits_for: 1h, next: taste }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: [taste, rest], to: done, by: human }
  - { from: any, to: dropped, by: human }
`;

const ids = ["t1", "t2", "t3", "t4"] as const;
const step = fc.record({
  task: fc.constantFrom(...ids),
  what: fc.constantFrom("continue", "done", "dropped", "break", "mend", "merge", "land", "wait"),
});

test("lists, counts, explanations and calls agree on which tasks need a person, whatever has happened", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
      const phone = createScriptedNotifier();
      let isBroken = false;
      const store = createMemoryStore();
      const { core, create, rest } = await coreStage(text, 9, store, () => ({
        channels: () => new Map([["phone", phone]]),
        performers: () => ({
          async run_command() {
            if (isBroken) throw new Fault("kettle.broken", "The kettle is broken.");
          },
        }),
      }));
      const handlers = createHandlers(core);
      const ask = async (route: string, query: object = {}, task = "") => {
        const about = { params: { task }, query, body: {}, caller: { kind: "human" }, folder: "", lastEvent: "" };
        return (await handlers[route]?.(about as unknown as Asked<never, never>, undefined as never)) as never;
      };
      for (const id of ids) await create(id, id === "t4" ? { dependsOn: ["t1"] } : {});
      for (const { task, what } of steps) {
        const actor = { role: "human" } as const;
        if (what === "break" || what === "mend") isBroken = what === "break";
        else if (what === "merge" || what === "land") await core.store.merges.put(mergeOf(task, what)).catch(() => {});
        else if (what === "continue") await core.submit(task, { kind: "continue", actor });
        else if (what !== "wait") await core.submit(task, { kind: "move", to: what, actor });
        await rest(what === "wait" ? 60_000 : 300);
        await agree(task);
      }
      await rest(600_000);
      const needed = await agree("t1");
      // Every task that needs a person caused a call, once for each present need.
      const known = (await store.calls.list({})).filter(({ overAt }) => overAt === undefined);
      expect([...new Set(known.map(({ task }) => task))].sort()).toEqual(needed);
      expect(known.every(({ state }) => state === "called")).toBe(true);
      const told = phone.notes.flatMap(({ needs = [] }) => needs.map((each) => each.task));
      for (const id of needed) expect(told).toContain(id);
      await core.close();

      async function agree(task: string): Promise<readonly string[]> {
        interface Listed {
          readonly tasks: readonly {
            readonly id: string;
            readonly needsPerson: boolean;
            readonly needs: readonly { readonly text: string }[];
          }[];
        }
        const listed: Listed = await ask("listTasks", { needs: "true" });
        const all: Listed = await ask("listTasks", { open: "true" });
        const status: { tasks: { needPerson: number } } = await ask("status");
        const needed = listed.tasks.map(({ id }) => id).sort();
        const marked = all.tasks.filter(({ needsPerson }) => needsPerson);
        expect(marked.map(({ id }) => id).sort()).toEqual(needed);
        expect(status.tasks.needPerson).toBe(needed.length);
        const explained: { blocked: readonly { readonly reason: string }[] } = await ask("explainTask", {}, task);
        const own = listed.tasks.find(({ id }) => id === task);
        expect(explained.blocked.slice(0, own?.needs.length ?? 0).map(({ reason }) => reason)).toEqual(
          (own?.needs ?? []).map((need) => need.text),
        );
        return needed;
      }
    }),
    { numRuns: 25 },
  );
});

test("a task is shown with the needs of its shown state, also while another reader is slow", async () => {
  const store = createMemoryStore();
  let onLook: (() => Promise<void>) | undefined;
  const { core, create, rest } = await coreStage(text, 9, {
    ...store,
    async openEffects(task) {
      const found = await store.openEffects(task);
      await onLook?.();
      return found;
    },
  });
  await create("t1");
  await rest(300);
  const shown = async () => {
    const stored = await store.getTask("t1");
    if (stored === undefined) throw new Error("There is no task.");
    const { status, needs, needsPerson } = await viewOf(core, stored);
    return [status, needsPerson, needs.length];
  };
  expect(await shown()).toEqual(["taste", true, 1]);
  await core.submit("t1", { kind: "continue", actor: { role: "human" } });
  await rest(300);
  expect(await shown()).toEqual(["rest", false, 0]);
  // The first reader of the changed task is slow. A request meanwhile must not get the earlier result.
  const views: Promise<unknown>[] = [];
  onLook = async () => {
    if ((await store.getTask("t1"))?.task.status !== "taste") return;
    onLook = undefined;
    views.push(shown());
    await new Promise(setImmediate);
  };
  await rest(3_600_000);
  await core.needs.counts();
  expect(await Promise.all(views)).toEqual([["taste", true, 1]]);
  await core.close();
});

function mergeOf(task: string, what: "merge" | "land"): Merge {
  return {
    ...{ id: task, project: "coffee", task, at: 0, target: "main", strategy: "merge", to: "done", by: "human" },
    ...{
      state: what === "merge" ? "waits" : "merged",
      reason: "beans.txt is yours.",
      files: [],
      commit: "",
      before: "",
    },
    ...{ after: "", endedAt: undefined },
  };
}

test("a task that needs a person is listed, however many tasks came after it", async () => {
  const { core, store, create, rest } = await coreStage(text);
  await create("t1");
  await rest(1_000);
  const [first] = await store.listTasks({}, { limit: 1 });
  if (first === undefined) throw new Error("missing");
  const { id: _, number: __, ...others } = { ...first.task, status: "rest" };
  for (let i = 0; i < 1_000; i++) await store.createTask("coffee", sampleTask(`x${i}`, { ...others, branch: `x${i}` }));
  const asked = { params: {}, query: { needs: "true", limit: "5" }, body: {}, caller: { kind: "human" } };
  const answer = await createHandlers(core).listTasks?.(asked as never, {} as never);
  expect(answer).toMatchObject({ tasks: [{ id: "t1", needsPerson: true }], next: null });
});
