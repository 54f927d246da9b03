import fc from "fast-check";
import { expect, test } from "vitest";
import { sortRows } from "../../src/api/patch-rows.ts";
import { taskSorts } from "../../src/api/task-lists.ts";
import type { Asked } from "../../src/daemon/handlers.ts";
import { createHandlers } from "../../src/daemon/handlers.ts";
import { listTasks } from "../../src/daemon/requests/lists.ts";
import { listTimeline } from "../../src/daemon/requests/timeline.ts";
import type { Need } from "../../src/engine/needs.ts";
import type { StoredTask } from "../../src/ports/store.ts";
import { createMemoryStore } from "../memory-store/memory-store.ts";
import { coreStage } from "./core-stage.ts";

/** `served` is the end; a person tastes, and may hold a task up for ever. */
const text = `
name: brew
version: 1
states:
  shelf: { waits_for: slot, next: brewing }
  brewing: { terminal: false }
  taste: { waits_for: human, ask: Taste it, next: served }
  served: { terminal: true }
transitions:
  - { from: any, to: brewing, by: human }
  - { from: any, to: taste, by: human }
  - { from: any, to: served, by: human }
`;

type Needs = Readonly<Record<string, readonly Need[]>>;

interface Row {
  readonly id: string;
  readonly number: number;
  readonly summary: string;
  readonly status: string;
  readonly labels: readonly string[];
  readonly priority: number;
  readonly updatedAt: string;
  readonly group: string;
  readonly since: string;
  readonly needsPerson: boolean;
  readonly needs: readonly { readonly brief: string; readonly command: string; readonly since: string }[];
  readonly ask: { readonly text: string; readonly command: string; readonly since: string } | null;
}
interface Page {
  readonly tasks: readonly Row[];
  readonly next: string | number | null;
}

async function stage(store = createMemoryStore()) {
  const made = await coreStage(text, 3, store);
  const handlers = createHandlers(made.core);
  const ask = async (route: string, query: object = {}) => {
    const about = { params: {}, query, body: {}, caller: { kind: "human" }, folder: "", lastEvent: "" };
    return (await handlers[route]?.(about as unknown as Asked<never, never>, undefined as never)) as never;
  };
  const list = (query: object = {}): Promise<Page> => ask("listTasks", query);
  /** Every page of a list, one after the other. */
  const pages = async (query: object, limit: number): Promise<readonly Row[]> => {
    const rows: Row[] = [];
    for (let before: string | undefined; ; ) {
      const page = await list({ ...query, limit: String(limit), ...(before === undefined ? {} : { before }) });
      rows.push(...page.tasks);
      if (page.next === null) return rows;
      before = String(page.next);
      if (rows.length > 1_000) throw new Error("The list does not end.");
    }
  };
  const move = (id: string, to: string) =>
    made.core.submit(id, { kind: "move", to, actor: { role: "human" } }, undefined);
  return { ...made, ask, list, pages, move };
}

const step = fc.record({
  task: fc.integer({ min: 0, max: 11 }),
  to: fc.constantFrom("brewing", "taste", "served", "wait"),
});

test("whatever has happened, all filters, sorts and pages agree with each other, with the counts and with the status", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 4, maxLength: 24 }),
      fc.integer({ min: 1, max: 5 }),
      async (steps, limit) => {
        const { core, create, rest, move, ask, list, pages } = await stage();
        for (let i = 0; i < 12; i++)
          await create(`t${i}`, {
            ...{ summary: i % 2 === 0 ? "Hot Espresso" : "Cold brew", labels: i % 3 === 0 ? ["beans", "Ünique"] : [] },
            priority: i % 4,
          });
        await rest(300);
        for (const { task, to } of steps) {
          if (to !== "wait") await move(`t${task}`, to);
          await rest(to === "wait" ? 5_000 : 100);
        }
        await rest(60_000);
        const { tasks: all } = await list({ limit: "1000" });
        expect(all.map(({ id }) => id)).toEqual(Array.from({ length: 12 }, (_, i) => `t${11 - i}`));
        const ids = (rows: readonly Row[]) => rows.map(({ id }) => id);
        const counts: { all: Record<string, number>; projects: { project: string }[] } = await ask("countTasks");
        expect(counts.projects).toEqual([{ project: "coffee", ...counts.all }]);
        const status: { tasks: { open: number; needPerson: number } } = await ask("status");
        expect(counts.all["needs-me"]).toBe(status.tasks.needPerson);
        expect(ids((await list({ group: "needs-me" })).tasks)).toEqual(ids((await list({ needs: "true" })).tasks));
        const filters: readonly (readonly [object, (row: Row) => boolean])[] = [
          [{}, () => true],
          [{ q: "espresso HOT" }, ({ summary }) => summary === "Hot Espresso"],
          [{ q: "coffee#3" }, ({ number }) => number === 3],
          [{ q: "ünique taste" }, ({ labels, status }) => labels.length > 0 && status === "taste"],
          [{ label: "beans", open: "true" }, ({ labels, status }) => labels.length > 0 && status !== "served"],
          [{ status: "served", project: "coffee" }, ({ status }) => status === "served"],
          [{ q: "nothing like it" }, () => false],
          [{ ids: "t3,t7,gone" }, ({ id }) => id === "t3" || id === "t7"],
          [{ ids: "t2,t3,t4", needs: "true" }, ({ id, needsPerson }) => ["t2", "t3", "t4"].includes(id) && needsPerson],
          ...["needs-me", "running", "queued", "over"].map(
            (group) => [{ group }, (row: Row) => row.group === group] as const,
          ),
        ];
        for (const [query, isMeant] of filters) {
          const expected = all.filter(isMeant);
          if ("group" in query) expect(expected).toHaveLength(counts.all[String(query.group)] ?? -1);
          for (const sort of taskSorts) {
            const rows = await pages({ ...query, sort }, limit);
            expect(ids(rows)).toEqual(ids(expected.toSorted(orders[sort])));
            expect(rows.toSorted(orders.newest)).toEqual(expected);
          }
        }
        await core.close();
      },
    ),
    { numRuns: 6 },
  );
});

/** Of equal tasks the newer one is first, which is how the tasks are given. */
const orders: Readonly<Record<(typeof taskSorts)[number], (one: Row, other: Row) => number>> = {
  newest: (one, other) => other.number - one.number,
  updated: (one, other) => Date.parse(other.updatedAt) - Date.parse(one.updatedAt),
  priority: (one, other) => other.priority - one.priority,
  cost: () => 0,
  waiting: (one, other) => needSince(one) - needSince(other),
};

const needSince = ({ needs }: Row) =>
  needs.length === 0 ? Number.MAX_SAFE_INTEGER : Math.min(...needs.map(({ since }) => Date.parse(since)));

test("a row says when its state began, what a person is asked, and what is not known", async () => {
  const { core, create, rest, move, list, clock } = await stage();
  await create("t1");
  await rest(1_000);
  await move("t1", "taste");
  const at = new Date(clock.now()).toISOString();
  await rest(60_000);
  await core.submit("t1", { kind: "edit", actor: { role: "human" }, set: { priority: 7 } });
  await rest(1_000);
  const [row] = (await list({ sort: "waiting" })).tasks;
  expect(row).toMatchObject({
    ...{ id: "t1", group: "needs-me", since: at, doing: "", lines: null, commits: null, checks: null },
    ask: { reason: "approval", text: "Taste it", command: expect.stringMatching(/^signalbox task /), since: at },
    cost: { dollars: 0, tokens: 0, unknown: 0 },
  });
  expect(row?.updatedAt).not.toBe(at);
  expect(row?.ask).toMatchObject({ command: row?.needs[0]?.command, text: row?.needs[0]?.brief });
  await core.close();
});

test("a task with several needs has waited since the first of them, wherever that is in the list of its needs", async () => {
  const { core, create, rest } = await stage();
  for (const id of ["t1", "t2", "t3"]) await create(id);
  await rest(1_000);
  const need = (since: number) => ({ reason: "approval", text: "", command: "", since });
  const needs = { t1: [need(50), need(10), need(90)], t2: [need(20)], t3: [need(5)] } as unknown as Needs;
  const waiting = {
    ...core.needs,
    all: async () => new Map(Object.entries(needs)),
    of: async ({ task }: StoredTask) => needs[task.id] ?? [],
  };
  const about = { params: {}, query: { sort: "waiting" }, body: {}, caller: { kind: "human" }, folder: "" };
  const { tasks } = await listTasks({ ...core, needs: waiting })(about as never);
  expect(tasks.map(({ id }) => id)).toEqual(["t3", "t1", "t2"]);
  // A list on a screen is kept in the same order.
  expect(sortRows(tasks.toReversed(), "waiting").map(({ id }) => id)).toEqual(["t3", "t1", "t2"]);
  await core.close();
});

test("a task with several needs waits for a person in the time line since the first of them", async () => {
  const { core, create, rest, clock } = await stage();
  await create("t1");
  await rest(10_000);
  const now = clock.now();
  const needs = [now - 1_000, now - 7_000, now - 3_000].map((since) => ({ since })) as unknown as readonly Need[];
  const about = { params: {}, query: {}, body: {}, caller: { kind: "human" }, folder: "" };
  const { tasks } = await listTimeline({ ...core, needs: { ...core.needs, of: async () => needs } })(about as never);
  const from = new Date(now - 7_000).toISOString();
  expect(tasks[0]?.stretches.at(-1)).toMatchObject({ kind: "me", from, until: new Date(now).toISOString() });
  await core.close();
});

test.each(["newest", "updated", "waiting"] as const)(
  "a page of exactly as many tasks as are wanted has every task once, and the one after it none (%s)",
  async (sort) => {
    const { core, create, rest, list, move } = await stage();
    for (const id of ["t1", "t2", "t3", "t4"]) {
      await create(id);
      await rest(1_000);
    }
    await move("t2", "taste");
    await rest(1_000);
    const whole = (await list({ sort })).tasks.map(({ id }) => id);
    expect(whole).toHaveLength(4);
    const exact = await list({ sort, limit: "4" });
    expect(exact.tasks.map(({ id }) => id)).toEqual(whole);
    expect(exact.next).toBeNull();
    const first = await list({ sort, limit: "2" });
    const second = await list({ sort, limit: "2", before: String(first.next) });
    expect([...first.tasks, ...second.tasks].map(({ id }) => id)).toEqual(whole);
    expect(second.next).toBeNull();
    await core.close();
  },
);

test("a task that waits for its turn is queued, one that owes the rest of its last move is over", async () => {
  const { core, create, rest, list } = await stage();
  for (const id of ["t1", "t2", "t3", "t4", "t5"]) await create(id);
  await rest(1_000);
  const groups = (await list({})).tasks.map(({ status, group }) => [status, group]);
  // Three slots: the rest wait on the shelf.
  expect(groups.filter(([status]) => status === "shelf").every(([, group]) => group === "queued")).toBe(true);
  expect(groups.filter(([status]) => status === "brewing").every(([, group]) => group !== "queued")).toBe(true);
  await core.close();
});

test.for([
  { sort: "updated", before: "cost:1:2" },
  { sort: "updated", before: "12" },
  { sort: "cost", before: "cost:NaN:2" },
  { sort: "newest", before: "updated:1:2" },
  { before: "-1" },
  { limit: "0" },
])("a list is refused with %j", async (query) => {
  const { core, list } = await stage();
  await expect(list(query)).rejects.toMatchObject({ code: "request.invalid" });
  await core.close();
});

test("a task that changes between two pages does not make another appear twice or disappear", async () => {
  const { core, create, rest, list, move } = await stage();
  for (let i = 0; i < 6; i++) {
    await create(`t${i}`);
    await rest(100);
  }
  const first = await list({ sort: "updated", limit: "3" });
  const rest1 = (await list({ sort: "updated" })).tasks.slice(3).map(({ id }) => id);
  // One that was shown, and a new one, come before everything.
  await move(first.tasks[2]?.id ?? "", "taste");
  await create("new");
  await rest(100);
  const second = await list({ sort: "updated", before: String(first.next) });
  expect(second.tasks.map(({ id }) => id)).toEqual(rest1);
  await core.close();
});

test("a deleted task, and a failed write, are not in the lists for long", async () => {
  const memory = createMemoryStore();
  let fails = false;
  const { core, create, rest, list, move, ask, store } = await stage({
    ...memory,
    async saveDecision(decision) {
      const saved = await memory.saveDecision(decision);
      if (fails) throw new Error("The answer is lost.");
      return saved;
    },
  });
  await create("t1");
  await create("t2");
  await rest(300);
  expect((await list({ q: "brew" })).tasks).toHaveLength(2);
  await move("t1", "served");
  await rest(1_000);
  expect(await ask("countTasks")).toMatchObject({ all: { over: 1 } });
  await core.store.deleteTask("t1");
  expect((await list({ q: "brew" })).tasks.map(({ id }) => id)).toEqual(["t2"]);
  expect(await ask("countTasks")).toMatchObject({ all: { over: 0 } });
  fails = true;
  await expect(move("t2", "taste")).rejects.toThrow("lost");
  fails = false;
  expect((await list({ q: "taste" })).tasks.map(({ id }) => id)).toEqual(["t2"]);
  expect((await store.getTask("t2"))?.task.status).toBe("taste");
  await core.close();
});
