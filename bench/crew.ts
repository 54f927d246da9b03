// The time a crew takes for its tickets, against the lower bound: 200 short tickets that depend on each other, ten agents, a
// real daemon, real git and real tests. The lower bound is the longest chain of tickets, or all work divided by ten.
//
// Only the waits in the agents' script count as work: two steps, 8 to 24 s for both. Everything else is overhead: starting
// programs, workspaces, commits, tests, merges, tickets. It takes a second or two of processor time for each ticket, most of
// it in git; with ten agents on two cores, much shorter tickets would measure nothing else.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { routes } from "../src/api/routes.ts";
import buildPrograms from "../test/build-programs.ts";

const agents = 10;
const count = 200;
const limit = 1.15;
/** The time of each ticket in tenths of a second, by its index; the sum and the chains are the same each time. */
const lengths = [80, 100, 120, 140, 160, 180, 200, 220, 240];

interface Planned {
  readonly id: string;
  readonly deps: readonly string[];
  /** Seconds. */
  readonly length: number;
}

const remove = buildPrograms();
// Imported after the build: these modules look for the built programs when they are loaded.
const { eventually, openStage } = await import("../test/agents/stage.ts");
const plan = planTickets();
const work = plan.reduce((sum, { length }) => sum + length, 0);
const longest = Math.max(...chains(plan).values());
const least = Math.max(longest, work / agents);
const stage = await openStage({
  script: writeScript(),
  agents: `most: ${agents + 2}`,
  config: "test_command: [git, --version]\n",
  poolSize: agents,
});
let failed = false;
try {
  const folder = join(stage.repository, ".tickets");
  mkdirSync(folder);
  for (const ticket of plan) writeFileSync(join(folder, `${ticket.id}.md`), writeTicket(ticket));
  stage.git(stage.repository, "add", "-A");
  stage.git(stage.repository, "commit", "-qm", "tickets");
  await stage.call(routes.addAgents, { body: { project: "coffee", count: agents } });
  const [before, own] = [cpuSeconds(), ownSeconds()];
  const start = performance.now();
  await stage.call(routes.runCrew, { params: { project: "coffee" }, body: {} });
  await eventually(async () => {
    await sleep(500);
    return readdirSync(folder).every((file) => /^status: closed$/m.test(readFileSync(join(folder, file), "utf8")))
      ? true
      : undefined;
  }, 1_800_000);
  const took = (performance.now() - start) / 1000;
  const merged = stage.git(stage.repository, "log", "--merges", "--format=%(trailers:key=Ticket,valueonly,separator=)");
  const isWhole = new Set(merged.split("\n").filter(Boolean)).size === count;
  print(`${count} tickets, work of all agents, s`, work.toFixed(0));
  print(`shared among ${agents}, s`, (work / agents).toFixed(1));
  print("longest chain of tickets, s", longest.toFixed(1));
  print("from crew run to the last ticket closed, s", took.toFixed(1));
  print("processor time of the machine meanwhile, s", (cpuSeconds() - before).toFixed(1));
  print("of that the daemon's and git's, for one ticket, s", ((ownSeconds() - own) / count).toFixed(2));
  print("what one ticket took besides its work, s", ((took * agents - work) / count).toFixed(2));
  const ratio = took / least;
  failed = ratio > limit || !isWhole;
  print("ratio", ratio.toFixed(3), `≤ ${limit}`, ratio > limit ? "NOT MET" : "");
  if (!isWhole) print("WRONG: not every ticket was merged");
} finally {
  await stage.close();
  remove?.();
}
process.exit(failed ? 1 : 0);

/** Two of three tickets depend on one or two recent ones. */
function planTickets(): readonly Planned[] {
  let seed = 17;
  const draw = (most: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % most;
  };
  const planned: Planned[] = [];
  for (let place = 0; place < count; place++) {
    const wanted = place < 20 ? 0 : draw(3);
    const deps = new Set(Array.from({ length: wanted }, () => idOf(place - 15 - draw(Math.min(30, place - 14)))));
    planned.push({ id: idOf(place), deps: [...deps], length: (lengths[draw(lengths.length)] ?? 160) / 10 });
  }
  return planned;
}

/** For each ticket its time plus that of the longest chain before it. */
function chains(tickets: readonly Planned[]): ReadonlyMap<string, number> {
  const ends = new Map<string, number>();
  for (const { id, deps, length } of tickets)
    ends.set(id, length + Math.max(0, ...deps.map((dep) => ends.get(dep) ?? 0)));
  return ends;
}

function idOf(place: number): string {
  return `c-${String(place).padStart(3, "0")}`;
}

function writeTicket({ id, deps, length }: Planned): string {
  return `---\nid: ${id}\nstatus: open\ndeps: [${deps.join(", ")}]\nlinks: []\ntype: task\npriority: 2\n---\n# Take ${length} s\n`;
}

/** Half of the time in the first step, half in the second. */
function writeScript(): string {
  const turns = lengths.flatMap((tenths) => {
    const when = (turn: number) => `    - when: { task: { summary: "Take ${tenths / 10} s" }, turn: ${turn} }\n`;
    const half = `{ sleep: ${tenths * 50}ms }`;
    return [
      `${when(1)}      steps: [${half}, { write: { file: "{id}.txt", text: "one" } }, { commit: "Begin" }]\n`,
      `${when(2)}      steps: [${half}, { append: { file: "{id}.txt", text: "two" } }, { commit: "End" }, marker]\n`,
    ];
  });
  return `roles:\n  worker:\n${turns.join("")}`;
}

/** Processor time of the whole machine, other programs included. */
function cpuSeconds(): number {
  if (process.platform !== "linux") return 0;
  const fields = readFileSync("/proc/stat", "utf8").split("\n")[0]?.split(/\s+/).slice(1).map(Number) ?? [];
  return [0, 1, 2, 5, 6].reduce((sum, field) => sum + (fields[field] ?? 0), 0) / 100;
}

/** Processor time of the daemon and its ended children: all of git, but not the agents. */
function ownSeconds(): number {
  if (process.platform !== "linux") return 0;
  const fields = readFileSync(`/proc/${stage.daemon().pid}/stat`, "latin1").split(") ")[1]?.split(" ") ?? [];
  return [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0) / 100;
}

function print(what: string, ...columns: readonly string[]): void {
  process.stdout.write(`${[what.padEnd(52), ...columns.map((each) => each.padStart(10))].join("").trimEnd()}\n`);
}
