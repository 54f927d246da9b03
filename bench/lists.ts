// Lists of 10,000 tasks against the store's own query of the same tasks, in one run and on a real file: what the daemon adds to
// each row, and what searching, sorting and counting cost. Prints ratios against limits.
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openSqliteStore } from "../src/adapters/sqlite/store.ts";
import { randomIds, spawnCommands, systemClock } from "../src/adapters/system.ts";
import { createCore } from "../src/daemon/create-core.ts";
import { createHandlers } from "../src/daemon/handlers.ts";
import type { Task } from "../src/engine/task.ts";
import { homePlaces } from "../src/home/places.ts";
import type { Log } from "../src/ports/system.ts";
import { atWork, builtIn } from "../test/engine/drive.ts";

const count = 10_000;
const open = 300;
const home = mkdtempSync(join(tmpdir(), "signalbox-bench-"));
process.on("exit", () => rmSync(home, { recursive: true, force: true }));
const places = homePlaces(home);
for (const folder of [places.run, dirname(places.socket), places.workspaces, places.control])
  mkdirSync(folder, { recursive: true, mode: 0o700 });
const store = openSqliteStore(places.database);
const log: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => log, close: async () => {} };
const core = createCore({
  ...{ version: "1.0.0", home, store, log, clock: systemClock, ids: randomIds, commands: spawnCommands },
  humanToken: `sbh_${randomBytes(24).toString("hex")}`,
  performers: () => ({}),
  config: () => ({ values: {}, problems: [] }),
  stop: () => {},
});
await fill();
const handlers = createHandlers(core);
let failed = false;

const list = async (query: object) => {
  const asked = { params: {}, query, body: {}, caller: { kind: "human" }, folder: "", lastEvent: "" };
  return (await handlers.listTasks?.(asked as never, {} as never)) as {
    tasks: readonly { id: string; group: string }[];
  };
};
const counts = async () => {
  const asked = { params: {}, query: {}, body: {}, caller: { kind: "human" }, folder: "", lastEvent: "" };
  return (await handlers.countTasks?.(asked as never, {} as never)) as { all: Record<string, number> };
};
const page = 100;
// What is measured must be what is meant: whole pages, of open tasks, out of all.
const first = await list({ limit: String(page) });
mustBe(first.tasks.length, page);
mustBe(first.tasks.filter(({ group }) => group === "over").length, 0);
const begin = performance.now();
const { all } = await counts();
const cold = performance.now() - begin;
mustBe(
  Object.values(all).reduce((sum, each) => sum + each, 0),
  count,
);
// One has the number, and the one before it the id.
mustBe((await list({ q: "BREW 7777", limit: "5" })).tasks.length, 2);

const text = (value: unknown) => JSON.stringify(value).length;
const own = async () => text(await store.listTasks({}, { limit: page }));
const took = await alternate({
  own,
  bare: async () => (await store.listTasks({}, { limit: page })).length,
  first: async () => text(await list({ limit: String(page) })),
  second: async () => text(await list({ limit: String(page), before: String(count - page) })),
  over: async () => text(await list({ limit: String(page), group: "over", sort: "updated" })),
  search: async () => text(await list({ limit: String(page), q: "brew 77" })),
  updated: async () => text(await list({ limit: String(page), sort: "updated" })),
  waiting: async () => text(await list({ limit: String(page), sort: "waiting" })),
  counts: async () => text(await counts()),
});
row(`the store's own query of ${page}, as JSON`, took.own);
row(`the store's own query of ${page}`, took.bare);
row("first page", took.first, 2);
row("second page", took.second, 2);
row("over, changed last", took.over);
row("search", took.search);
row("changed last", took.updated);
row("waiting longest", took.waiting);
row("counts", took.counts);
process.stdout.write(`bytes of the first page: ${text(first)}; index read once: ${cold.toFixed(0)} ms\n`);
await core.close();
await store.close();
process.exit(failed ? 1 : 0);

/** The newest tasks are open, each with a worker and a label; the others are closed. */
async function fill(): Promise<void> {
  const workflow = builtIn("default");
  await core.workflows.keep(workflow, readFileSync(new URL("../workflows/default.yml", import.meta.url), "utf8"));
  await store.addProject({
    ...{ name: "coffee", path: home, defaultBranch: "main", poolSize: 2, workflow: "default", createdAt: 0 },
    ...{ harness: "claude", reviewHarness: "codex", branchPrefix: "signalbox", workspaces: "clone" },
  });
  const { task } = atWork();
  for (let i = 0; i < count; i += 500)
    await Promise.all(
      Array.from({ length: 500 }, async (_, k) => {
        const id = `t${i + k}`;
        const own: Task = {
          ...{ ...task, id, project: "coffee", workflowHash: workflow.hash, workspace: "", branch: `signalbox/${id}` },
          ...{ summary: `Brew ${i + k} cups of coffee, and serve them hot`, labels: [i % 2 === 0 ? "hot" : "cold"] },
        };
        const stored = await core.store.createTask("coffee", (number) => ({
          ...{
            task: { ...own, number },
            document: { text: "", authors: {} },
            events: [],
            effects: [],
            at: 1_000 + i + k,
          },
        }));
        const isOpen = i + k >= count - open;
        if (isOpen) return core.changed(stored, false);
        const done = { ...stored.task, status: "done", phase: "over" as const, runs: {} };
        await core.store.saveDecision({ ...stored, task: done, isOpen, events: [], effects: [], at: 2_000 + i + k });
      }),
    );
}

function mustBe(found: number, expected: number): void {
  if (found !== expected) throw new Error(`The workload must be ${expected}, but is ${found}.`);
}

/** The median milliseconds of each, run alternately so that other load spoils all alike. */
async function alternate<Name extends string>(
  candidates: Readonly<Record<Name, () => Promise<unknown>>>,
): Promise<Record<Name, number>> {
  const names = Object.keys(candidates) as Name[];
  const samples = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let round = -10; round < 41; round++)
    for (const name of names) {
      const start = performance.now();
      await candidates[name]();
      if (round >= 0) samples.get(name)?.push(performance.now() - start);
    }
  return Object.fromEntries(names.map((name) => [name, samples.get(name)?.sort((a, b) => a - b)[20] ?? 0])) as never;
}

function row(name: string, milliseconds: number, limit?: number): void {
  const ratio = milliseconds / took.own;
  const isMissed = limit !== undefined && ratio > limit;
  if (isMissed) failed = true;
  const verdict = limit === undefined ? "" : `≤ ${limit} × ${isMissed ? "MISSED" : "ok"}`;
  process.stdout.write(
    `${name.padEnd(44)}${milliseconds.toFixed(2).padStart(8)} ms${ratio.toFixed(2).padStart(8)} ×  ${verdict}\n`,
  );
}
