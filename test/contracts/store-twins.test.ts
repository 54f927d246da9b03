import fc from "fast-check";
import { expect, test } from "vitest";
import { openSqliteStore } from "../../src/adapters/sqlite/store.ts";
import type { Task } from "../../src/engine/task.ts";
import { Fault } from "../../src/fault.ts";
import type { Kept } from "../../src/ports/records.ts";
import type { Collection, Store, StoredTask } from "../../src/ports/store.ts";
import { createMemoryStore } from "../memory-store/memory-store.ts";
import { sampleArtifact, sampleDecision, sampleDocument, sampleEvent, sampleProject, sampleTask } from "./samples.ts";

/** One write; deterministic for stores in the same state. */
type Operation = (store: Store) => Promise<unknown>;

const projects = ["coffee", "tea", "ale"];
const tasks = ["t0", "t1", "t2", "t3", "t4", "t5"];
const anyProject = fc.constantFrom(...projects);
const anyTask = fc.constantFrom(...tasks);
const anyBranch = fc.constantFrom("", "fix", "issue#1", "main");
const anyStatus = fc.constantFrom("todo", "working", "done");
const anyTime = fc.nat(20).map((seconds) => seconds * 1_000);
const anyText = fc.string({ unit: "grapheme", maxLength: 12 });
const anyEffects = fc.array(
  fc.record(
    {
      action: fc.constantFrom("merge", "notify"),
      params: fc.constant({}),
      delay: fc.double({ min: 0, max: 9, noNaN: true }),
    },
    { requiredKeys: ["action", "params"] },
  ),
  { maxLength: 3 },
);
const anyChange: fc.Arbitrary<Partial<Task>> = fc.record(
  {
    status: anyStatus,
    branch: anyBranch,
    parent: fc.constantFrom("", "t0"),
    summary: anyText,
    results: fc.dictionary(fc.string(), fc.jsonValue()),
    held: fc.constantFrom(undefined, { reason: "why", word: "error", again: "wait" as const }),
    entry: fc.nat(9),
  },
  { requiredKeys: [] },
);
const anyEvents = fc.array(
  anyChange.map((change) => sampleEvent("task.moved", change)),
  { maxLength: 3 },
);
const anyDocument = fc.tuple(anyText, fc.constantFrom(undefined, "worker", "human")).map((of) => sampleDocument(...of));
const kinds = ["agents", "conversations"] as const;
const anyKind = fc.constantFrom(...kinds);
const anyRecordId = fc.constantFrom("r0", "r1", "r2", "r3");
const anyRecord = fc.record({
  id: anyRecordId,
  project: anyProject,
  task: fc.constantFrom("", ...tasks),
  at: anyTime,
  detail: anyText,
});
const anyFailure = fc.record({ word: fc.constantFrom("error", "time"), reason: anyText });

const anyOperation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 2,
    arbitrary: anyProject.map(
      (name): Operation =>
        (store) =>
          store.addProject(sampleProject(name)),
    ),
  },
  fc.tuple(anyProject, fc.nat(9)).map(
    ([name, poolSize]): Operation =>
      (store) =>
        store.updateProject(name, { poolSize }),
  ),
  anyProject.map(
    (name): Operation =>
      (store) =>
        store.removeProject(name),
  ),
  {
    weight: 6,
    arbitrary: fc.tuple(anyTask, anyProject, anyBranch, anyEffects, anyEvents, anyTime).map(
      ([id, project, branch, effects, events, at]): Operation =>
        (store) =>
          store.createTask(project, sampleTask(id, { project, branch }, { effects, events, at })),
    ),
  },
  anyProject.map(
    (project): Operation =>
      (store) =>
        store.createTask(project, () => {
          throw new Error("refused");
        }),
  ),
  {
    weight: 8,
    arbitrary: fc
      .record({
        id: anyTask,
        change: anyChange,
        late: fc.constantFrom(0, 0, 0, 0, 1, -1),
        rest: fc.record(
          {
            isOpen: fc.boolean(),
            effects: anyEffects,
            events: anyEvents,
            at: anyTime,
            document: anyDocument,
            artifacts: fc.array(
              fc.tuple(anyTask, anyText).map((of) => sampleArtifact(...of)),
              { maxLength: 2 },
            ),
            dropsOwed: fc.boolean(),
            retriesFailed: fc.boolean(),
          },
          { requiredKeys: ["isOpen", "effects", "events", "at"] },
        ),
      })
      .map(
        ({ id, change, late, rest }): Operation =>
          async (store) => {
            const stored = (await store.getTask(id)) ?? unknown(id);
            return store.saveDecision(sampleDecision({ ...stored, revision: stored.revision + late }, change, rest));
          },
      ),
  },
  fc.tuple(anyTask, anyEvents, anyTime).map(
    (event): Operation =>
      (store) =>
        store.addEvents(...event),
  ),
  fc.tuple(anyEvents, anyTime).map(
    (event): Operation =>
      (store) =>
        store.addEvents("", ...event),
  ),
  fc.tuple(anyTask, anyDocument, anyEvents, anyTime).map(
    (document): Operation =>
      (store) =>
        store.saveDocument(...document),
  ),
  {
    weight: 4,
    arbitrary: fc.tuple(anyKind, anyRecord).map(
      ([kind, record]): Operation =>
        (store) =>
          kept(store, kind).put(record),
    ),
  },
  fc.tuple(anyKind, anyRecordId).map(
    ([kind, id]): Operation =>
      (store) =>
        kept(store, kind).remove(id),
  ),
  anyTask.map(
    (id): Operation =>
      (store) =>
        store.deleteTask(id),
  ),
  fc.tuple(anyTask, anyText).map(
    (artifact): Operation =>
      (store) =>
        store.addArtifact(sampleArtifact(...artifact)),
  ),
  fc.tuple(fc.constantFrom("h1", "h2"), anyText).map(
    ([hash, text]): Operation =>
      (store) =>
        store.saveWorkflow({ hash, name: "default", text }),
  ),
  {
    weight: 3,
    arbitrary: fc.tuple(fc.nat(12), anyTime, fc.option(anyEvents, { nil: [] })).map(
      ([nth, at, [note]]): Operation =>
        async (store) => {
          const id = await effectOf(store, nth);
          return note === undefined ? store.finishEffect(id, at) : store.finishEffect(id, at, note);
        },
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(fc.nat(12), anyFailure, fc.option(anyTime, { nil: undefined })).map(
      ([nth, failure, retryAt]): Operation =>
        async (store) => {
          const id = await effectOf(store, nth);
          return retryAt === undefined ? store.failEffect(id, failure) : store.failEffect(id, failure, retryAt);
        },
    ),
  },
  fc.tuple(anyTask, anyTime).map(
    (of): Operation =>
      (store) =>
        store.retryEffects(...of),
  ),
);

test("the memory store and the sqlite store behave the same, for single and concurrent writes", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(anyOperation, { minLength: 1, maxLength: 5 }), { maxLength: 20 }),
      async (groups) => {
        const stores = [createMemoryStore(), openSqliteStore(":memory:")] as const;
        for (const store of stores) await store.addProject(sampleProject());
        for (const group of groups) {
          const [memory, sqlite] = await Promise.all(stores.map((store) => outcomes(store, group)));
          expect(sqlite).toEqual(memory);
        }
        const [memory, sqlite] = await Promise.all(stores.map(lookAtAll));
        expect(sqlite).toStrictEqual(memory);
        for (const store of stores) await store.close();
      },
    ),
    { numRuns: 150 },
  );
});

async function outcomes(store: Store, group: readonly Operation[]): Promise<unknown> {
  const settled = await Promise.allSettled(group.map((operation) => operation(store)));
  return settled.map((each) => {
    if (each.status === "fulfilled") return each.value;
    const { reason } = each;
    if (!(reason instanceof Fault)) return String(reason);
    return { code: reason.code, message: reason.message, hint: reason.hint, retry: reason.retry };
  });
}

async function lookAtAll(store: Store): Promise<unknown> {
  const times = [0, 3_000, 8_000, 15_000, 99_000];
  const references = ["fix", "main", "issue#1", "", "#1", "#2", ...projects.map((project) => `${project}#1`)];
  const page = { limit: 4 };
  const [oldest] = (await store.listTasks({}, page)).slice(-1);
  return {
    projects: await store.listProjects(),
    workflows: [await store.getWorkflow("h1"), await store.getWorkflow("h2")],
    tasks: await each(tasks, async (id) => [
      await store.getTask(id),
      await store.getDocument(id),
      await store.listEffects(id),
      await store.openEffects(id),
      await store.listArtifacts(id),
      await store.listEvents({ task: id }, 2, 5),
      await store.listTasks({ parent: id }, page),
    ]),
    found: await each(references, async (reference) =>
      each([undefined, ...projects], async (project) => (await store.findTask(reference, project))?.task.id),
    ),
    lists: [
      await store.listTasks({}, page),
      await store.listTasks({}, oldest === undefined ? page : { ...page, before: oldest.order }),
      await store.listTasks({ isOpen: true, project: "coffee" }, page),
      await store.listTasks({ isOpen: false }, page),
      await store.listTasks({ status: "working" }, page),
    ],
    events: [
      await store.listEvents({}, 0, 1_000),
      await store.listEvents({ project: "tea" }, 1, 3),
      await store.listEvents({ project: "tea", task: "t1" }, 0, 100),
      await store.lastEvent(),
    ],
    due: await each(times, async (now) => [await store.dueEffects(now, 3), await store.nextDue(now)]),
    live: await store.liveRuns(),
    kept: await each(kinds, async (kind) => [
      await each(["r0", "r1", "r2", "r3"], (id) => kept(store, kind).get(id)),
      await kept(store, kind).list({}),
      await each(["", ...tasks], (task) => kept(store, kind).list({ task })),
      await each(projects, (project) => kept(store, kind).list({ project })),
      await kept(store, kind).list({ project: "coffee", task: "t0" }),
      await kept(store, kind).list({ project: "tea", task: "" }),
    ]),
    check: await store.check(),
  };
}

async function each<T, R>(all: readonly T[], look: (one: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  for (const one of all) results.push(await look(one));
  return results;
}

/** All kinds behave alike, so any record will do. */
function kept(store: Store, kind: (typeof kinds)[number]): Collection<Kept> {
  return store[kind] as Collection<Kept>;
}

/** The number of an existing effect; if there are fewer, a number that may be an event's or unused. */
async function effectOf(store: Store, nth: number): Promise<number> {
  const all = await Promise.all(tasks.map((task) => store.listEffects(task)));
  return all.flat()[nth]?.id ?? nth;
}

function unknown(id: string): StoredTask {
  const { task } = sampleTask(id)(1);
  return { task, revision: 1, isOpen: true, createdAt: 0, updatedAt: 0, enteredAt: 0, order: 0 };
}
