// The store against bare SQLite, in one run and on a real file: the cost of a durable transition, the gain of shared commits,
// and what does not depend on the number of tasks. Prints ratios against limits.
//
// Where a transition's time goes, in µs, against 165 for a bare insert. One writer: reading, parsing and deciding 60, with
// caches cold after the wait for the disk, JSON 25, statements and turns of the event loop 65, the commit 215 (bare: 160).
// Each of 50: reading, parsing and deciding 15, JSON 10, statements and promises 15, its share of the commit 12.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { connect } from "../src/adapters/sqlite/connection.ts";
import { createSqliteStore } from "../src/adapters/sqlite/store.ts";
import { parseTaskDocument } from "../src/documents/task-document.ts";
import { decide } from "../src/engine/decide.ts";
import type { Request } from "../src/engine/request.ts";
import type { Task } from "../src/engine/task.ts";
import type { SavedDecision, Store, StoredTask } from "../src/ports/store.ts";
import { atWork, builtIn, inReview } from "../test/engine/drive.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const taskFile = join(folder, "TASK.md");
writeFileSync(taskFile, document());
const workflow = builtIn("default");
const event = { type: "task.attended" as const, by: "human", data: { text: "x".repeat(400) }, set: { attended: true } };
/** Two positions of a task and the request that leads from each to the other: every decision changes the status. */
const positions = [
  { task: atWork().task, facts: atWork().facts(), to: "agent-review", role: "worker" },
  { task: inReview().task, facts: inReview().facts(), to: "working", role: "reviewer" },
] as const;

let failed = false;
await transitions();
if (process.env.SIGNALBOX_DISK_MS === undefined) {
  await sizes();
  await owing();
}
process.exit(failed ? 1 : 0);

/** One writer and fifty, against bare SQLite with the same durability. */
async function transitions(): Promise<void> {
  const bare = openBare(join(folder, "bare.db"));
  const same = await openSame(join(folder, "same.db"));
  const { store, tasks } = await openFilled(join(folder, "ours.db"), 1_000);
  const writers = 50;
  let turn = 0;
  // Tasks of similar age, since those are open together.
  const together = async (write: (index: number) => Promise<unknown>) => {
    turn += writers;
    await Promise.all(Array.from({ length: writers }, (_, i) => write(turn + i)));
  };
  const rates = await alternate(
    {
      insert: { times: 40, run: bare.insert },
      transaction: { times: 40, run: bare.transaction },
      statements: { times: 40, run: same.transaction },
      serial: { times: 40, run: () => transition(store, tasks, turn++) },
      events: {
        times: 4 * writers,
        batch: writers,
        run: () => together((index) => store.addEvents(taskOf(tasks, index).task.id, [event], 1)),
      },
      concurrent: {
        times: 4 * writers,
        batch: writers,
        run: () => together((index) => transition(store, tasks, index)),
      },
    },
    async () => {
      await settleAll(store);
      await same.settle();
    },
  );
  print("durable writes", "per second", "ratio", "limit");
  row("bare insert", rates.insert);
  row("bare update and insert", rates.transaction);
  row("bare statements of a decision", rates.statements);
  row("one: read, decide, save", rates.serial);
  row("  / bare statements", rates.serial, { to: rates.statements, limit: 0.5 });
  row("  / bare update and insert", rates.serial, { to: rates.transaction, goal: 0.8, limit: 0.42 });
  row("50 at once: read, decide, save", rates.concurrent);
  row("  / one", rates.concurrent, { to: rates.serial, limit: 4 });
  row("  / bare insert", rates.concurrent, { to: rates.insert, goal: 8, limit: 2.2 });
  row("50 at once: an event each", rates.events);
  row("  / bare insert", rates.events, { to: rates.insert, limit: 5 });
  await store.close();
  await same.close();
  bare.close();
}

/** The same with 1,000 and with 100,000 tasks, of which few are open. */
async function sizes(): Promise<void> {
  const small = await openFilled(join(folder, "small.db"), 1_000, 100);
  const large = await openFilled(join(folder, "large.db"), 100_000, 100);
  let turn = 0;
  const measure = async (name: string, times: number, run: (of: typeof small) => Promise<unknown>) => {
    const rates = await alternate(
      { small: { times, run: () => run(small) }, large: { times, run: () => run(large) } },
      async () => {
        await settleAll(small.store);
        await settleAll(large.store);
      },
    );
    print(
      name,
      rates.large.toFixed(0),
      rates.small.toFixed(0),
      ...compare(rates.large, { to: rates.small, limit: 0.5 }),
    );
  };
  process.stdout.write("\n");
  print("tasks", "100,000: per s", "1,000: per s", "ratio", "limit");
  const page = { limit: 50 };
  await measure("get a task", 200, ({ store, tasks }) => store.getTask(taskOf(tasks, ++turn * 7919).task.id));
  await measure("list 50", 10, ({ store }) => store.listTasks({}, page));
  await measure("list 50 of a project", 10, ({ store }) => store.listTasks({ project: "coffee" }, page));
  await measure("list 50 open of a project", 10, ({ store }) =>
    store.listTasks({ project: "coffee", isOpen: true }, page),
  );
  await measure("list 50 by status", 10, ({ store }) => store.listTasks({ status: "rare" }, page));
  await measure("read, decide, save", 40, ({ store, tasks }) =>
    transition(store, tasks, tasks.length - 1 - (++turn % 50)),
  );
  await measure("create a task", 20, ({ store }) => create(store, `n${++turn}`));
  await small.store.close();
  await large.store.close();
}

/** The same with 100 and with 10,000 tasks that owe an effect. */
async function owing(): Promise<void> {
  const small = await openOwing(join(folder, "few.db"), 100);
  const large = await openOwing(join(folder, "many.db"), 10_000);
  process.stdout.write("\n");
  print("tasks that owe", "10,000: per s", "100: per s", "ratio", "limit");
  const looks: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
    "50 that are due": (store) => store.dueEffects(60_000, 50),
    "when the next is due": (store) => store.nextDue(60_000),
  };
  for (const [name, look] of Object.entries(looks)) {
    const rates = await alternate(
      { small: { times: 20, run: () => look(small) }, large: { times: 20, run: () => look(large) } },
      async () => {},
    );
    print(
      name,
      rates.large.toFixed(0),
      rates.small.toFixed(0),
      ...compare(rates.large, { to: rates.small, limit: 0.5 }),
    );
  }
  await small.close();
  await large.close();
}

/** Half of the effects are due after a minute, the other half later. */
async function openOwing(file: string, count: number): Promise<Store> {
  const { store, tasks } = await openFilled(file, count);
  await Promise.all(
    tasks.map((stored, i) => {
      const effects = [{ action: "notify", params: {}, delay: i % 2 === 0 ? i / count : 60 + i }];
      return store.saveDecision({ ...stored, isOpen: true, events: [], effects, at: 1 });
    }),
  );
  return store;
}

/** A whole durable transition of one task, as the daemon does it. */
async function transition(store: Store, tasks: StoredTask[], index: number): Promise<StoredTask> {
  const at = index % tasks.length;
  const stored = taskOf(tasks, at);
  const saved = await store.saveDecision(decision(stored));
  tasks[at] = saved;
  return saved;
}

function decision({ task: { id, number, branch }, revision }: StoredTask): SavedDecision {
  const { task, facts, to, role } = positions[revision % 2 === 1 ? 0 : 1];
  const actor = { role, run: task.runs[role]?.key ?? "" };
  const request: Request = { kind: "move", to, actor };
  const document = parseTaskDocument(readFileSync(taskFile, "utf8"));
  const decided = decide(workflow, { ...task, id, number, branch }, request, { ...facts, document });
  if (decided.kind !== "moved") throw new Error(`The benchmark's request must be granted: ${JSON.stringify(decided)}`);
  const { events, effects } = decided;
  return { task: decided.task, revision, isOpen: true, events, effects, at: Date.now() };
}

/** Performs the owed effects, as the daemon would. */
async function settleAll(store: Store): Promise<void> {
  for (;;) {
    const due = await store.dueEffects(9e12, 1_000);
    if (due.length === 0) return;
    await Promise.all(due.map(({ id }) => store.finishEffect(id, 1)));
  }
}

async function openFilled(file: string, count: number, open = count) {
  const database = connect(file);
  const store = createSqliteStore(database, file);
  await store.addProject({
    ...{ name: "coffee", path: "/coffee", defaultBranch: "main", poolSize: 2, workflow: "default", createdAt: 0 },
    ...{ harness: "claude", reviewHarness: "codex", branchPrefix: "signalbox", workspaces: "clone" },
  });
  const tasks: StoredTask[] = [];
  for (let i = 0; i < count; i += 500) {
    const made = Array.from({ length: Math.min(500, count - i) }, (_, k) => create(store, `t${i + k}`));
    tasks.push(...(await Promise.all(made)));
  }
  // As in practice: nearly all tasks have ended, and some statuses are rare.
  database.exec(`update task set is_open = 0, status = 'done' where position <= ${count - open}`);
  if (open < count) database.exec("update task set status = 'rare' where position <= 50");
  return { store, database, tasks };
}

function create(store: Store, id: string): Promise<StoredTask> {
  return store.createTask("coffee", (number) => {
    const task: Task = { ...positions[0].task, id, number, branch: `signalbox/${id}` };
    const created = { type: "task.created" as const, by: "human", data: {}, set: task };
    return { task, document: { text: "", authors: {} }, events: [created], effects: [], at: 1 };
  });
}

/** The minimum to write: a status with its revision, and a line of history. */
function openBare(file: string) {
  const database = new DatabaseSync(file);
  database.exec("pragma journal_mode = wal; pragma synchronous = full");
  database.exec("create table task (id text primary key, status text, revision integer, data text)");
  database.exec("create table event (position integer primary key, task text, data text)");
  const data = JSON.stringify(positions[1].task);
  const line = JSON.stringify(event);
  const fill = database.prepare("insert into task values (?, 'working', 1, ?)");
  for (let i = 0; i < 1_000; i++) fill.run(`t${i}`, data);
  const begin = database.prepare("begin immediate");
  const update = database.prepare(
    "update task set status = ?, revision = revision + 1, data = ? where id = ? and revision = ?",
  );
  const insert = database.prepare("insert into event (task, data) values (?, ?)");
  const commit = database.prepare("commit");
  let turn = 0;
  return {
    insert: () => insert.run("t1", line),
    transaction: () => {
      const id = `t${turn % 1_000}`;
      const revision = Math.floor(turn++ / 1_000) + 1;
      begin.run();
      if (update.run("agent-review", data, id, revision).changes !== 1) throw new Error("The task must be there.");
      insert.run(id, line);
      commit.run();
    },
    close: () => database.close(),
  };
}

/** What the store writes for a decision, on its own tables, in bare SQLite. */
async function openSame(file: string) {
  const { store, database, tasks } = await openFilled(file, 1_000);
  const writes = tasks.map((stored) => {
    const odd = decision(stored);
    const even = decision({ ...stored, revision: 2 });
    return [odd, even].map(({ task, events, effects }) => ({
      data: JSON.stringify(task),
      events: JSON.stringify(events),
      effects: JSON.stringify(effects),
      states: "o".repeat(effects.length),
      count: events.length + effects.length,
      status: task.status,
    }));
  });
  const begin = database.prepare("begin immediate");
  const insert = database.prepare(
    `insert into history (id, task, previous, revision, entry, at, states, events, effects)
     values ((select max(id) from history) + ?, ?, 1, ?, 1, 1, ?, ?, ?)`,
  );
  const update = database.prepare(
    `update task set status = ?, revision = revision + 1, updated_at = 1, last = ?, owed = ?, due_at = 1, data = ?
     where id = ? and revision = ?`,
  );
  const commit = database.prepare("commit");
  let turn = 0;
  return {
    transaction: () => {
      const index = turn % tasks.length;
      const revision = Math.floor(turn++ / tasks.length) + 1;
      const write = writes[index]?.[revision % 2 === 1 ? 0 : 1];
      if (write === undefined) throw new Error("Every task has its writes.");
      begin.run();
      const row = insert.run(write.count, index + 1, revision + 1, write.states, write.events, write.effects);
      const { changes } = update.run(
        write.status,
        row.lastInsertRowid,
        row.lastInsertRowid,
        write.data,
        `t${index}`,
        revision,
      );
      if (changes !== 1) throw new Error("The task must be there.");
      commit.run();
    },
    settle: () => settleAll(store),
    close: () => store.close(),
  };
}

function taskOf(tasks: readonly StoredTask[], index: number): StoredTask {
  const task = tasks[index % tasks.length];
  if (task === undefined) throw new Error("There are tasks.");
  return task;
}

interface Candidate {
  /** How many runs in a round. */
  readonly times: number;
  readonly run: () => unknown;
  /** How many operations one run counts for. */
  readonly batch?: number;
}

/**
 * Runs the candidates alternately in many short rounds and returns the median rate of each: a burst of other load then spoils
 * a few rounds of all instead of all rounds of one.
 */
async function alternate<Name extends string>(
  candidates: Readonly<Record<Name, Candidate>>,
  afterRound: () => Promise<void>,
): Promise<Record<Name, number>> {
  const names = Object.keys(candidates) as Name[];
  const samples = new Map<Name, number[]>(names.map((name) => [name, []]));
  const rounds = 101;
  for (let round = -20; round < rounds; round++) {
    for (const name of names) {
      const { times, run, batch = 1 } = candidates[name];
      const begin = performance.now();
      for (let i = 0; i < times; i += batch) await run();
      if (round >= 0) samples.get(name)?.push((times * 1000) / (performance.now() - begin));
    }
    await afterRound();
  }
  const median = (name: Name) => samples.get(name)?.sort((x, y) => x - y)[(rounds - 1) / 2] ?? 0;
  return Object.fromEntries(names.map((name) => [name, median(name)])) as Record<Name, number>;
}

interface Comparison {
  readonly to: number;
  /** Less is a failure. */
  readonly limit: number;
  /** The goal, if it is higher than the limit; missing it is only reported. */
  readonly goal?: number;
}

function row(name: string, rate: number, comparison?: Comparison): void {
  if (comparison === undefined) print(name, rate.toFixed(0));
  else print(name, "", ...compare(rate, comparison));
}

function compare(rate: number, { to, limit, goal }: Comparison): readonly string[] {
  const ratio = rate / to;
  const isMissed = ratio < limit;
  if (isMissed) failed = true;
  const words = [`${ratio.toFixed(2)} ×`, `≥ ${limit} × ${isMissed ? "MISSED" : "ok"}`];
  return goal === undefined ? words : [...words, `goal ${goal} × ${ratio < goal ? "not met" : "met"}`];
}

function print(...cells: readonly string[]): void {
  process.stdout.write(`${cells.map((cell, i) => (i === 0 ? cell.padEnd(32) : cell.padStart(20))).join("")}\n`);
}

function document(): string {
  const lines = Array.from(
    { length: 18 },
    (_, i) => `- item ${i}: some words about what was done and why it was done this way`,
  );
  const filler = lines.join("\n");
  const front =
    "---\nid: t1\nproject: coffee\nbranch: signalbox/t1\nsummary: Brew\nworkflow: default\nstatus: working\n---\n";
  const plan = `## Context\n${filler}\n\n## Plan\nAPPROACH: do it\nTOUCHING: files\n`;
  return `${front}\n${plan}\n## Handoff\nDONE: all of it\n${filler}\n\n## Review\nVerdict: FAIL\n${filler}\n`;
}
