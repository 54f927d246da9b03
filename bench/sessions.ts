// The cost of agents for the daemon: how soon a task moves after its agent has ended, what a hundred idle sessions consume,
// and how fast the next daemon adopts the agents of a killed one. A real daemon, real terminals; programs instead of models.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually, openStage, type Stage } from "../test/agents/stage.ts";

const flow = (mode: "session" | "turn") => `name: flow
version: 1
roles: { worker: { mode: ${mode}, harness: task, permissions: full, window: worker } }
states:
  todo: { waits_for: slot, next: busy }
  busy:
    agent: { role: worker, prompt: work }
    outcomes: ${mode === "turn" ? "[{ on: ok, then: done }, { on: failed, then: lost }]" : "[{ then: done }, { on: failed, then: lost }]"}
  done: { terminal: true }
  lost: { terminal: true, outcome: failed }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: done, hooks: [release_workspace]${mode === "turn" ? "" : ', gate: { section: "## Handoff", fields: [DONE] }'} }
prompts: { work: "Work" }
`;

const handOff = "printf '\\\\n## Handoff\\\\nDONE: yes\\\\n' >> TASK.md; sleep 0.3; date +%s%N";
const agents = "most: 200";
const config = `harnesses:
  turns: { turn: { argv: [sh, -c, "sleep 0.3; date +%s%N", "{prompt}"] } }
  sessions: { session: { argv: [sh, -c, "${handOff} > $HOME/last-word", "{prompt}"], ready: ready } }
  idle: { session: { argv: [sh, -c, "echo ready; exec cat", "{prompt}"], ready: ready } }
`;

let failed = false;
for (const mode of ["turn", "session"] as const) await exitToNext(mode, 15);
await idleSessions(100, 50);
process.exit(failed ? 1 : 0);

async function exitToNext(mode: "session" | "turn", rounds: number): Promise<void> {
  const stage = await openStage({ flow: flow(mode), agents, config, harness: `${mode}s`, poolSize: 2 });
  try {
    const waits: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const id = await stage.create(`task ${round}`);
      await stage.until(id, ({ phase }) => phase === "over");
      const moved = (await stage.events(id)).find(({ type, data }) => type === "task.moved" && data.to === "done");
      const said =
        mode === "turn"
          ? readFileSync(join(stage.runFolder(id, "worker#1"), "output"), "utf8")
          : readFileSync(join(stage.base, "last-word"), "utf8");
      waits.push(Date.parse(moved?.at ?? "") - Number(said.trim()) / 1e6);
    }
    judge(`from the end of a ${mode} to the next state, p50, ms`, median(waits), 250);
  } finally {
    await stage.close();
  }
}

async function idleSessions(count: number, adopted: number): Promise<void> {
  const stage = await openStage({ flow: flow("session"), agents, config, harness: "idle", poolSize: count });
  try {
    for (let i = 0; i < adopted; i++) await stage.create(`task ${i}`);
    await allIdle(stage, adopted);
    const before = await shown(stage);
    await stage.killDaemon();
    const started = performance.now();
    await stage.restart();
    const listening = performance.now();
    await allIdle(stage, adopted);
    const [all, own] = [performance.now() - started, performance.now() - listening];
    if ((await shown(stage)) !== before) fail(`the ${adopted} agents are others than before`);
    judge(`${adopted} agents found again after kill -9, from its first word, ms`, own, 2_000);
    judge(`the same with the start of the daemon, ms`, all, 4_000);
    for (let i = adopted; i < count; i++) await stage.create(`task ${i}`);
    await allIdle(stage, count);
    await sleep(30_000);
    const pids = [stage.daemon().pid, ...serverPids(stage)];
    const ticks = () => pids.reduce((sum, pid) => sum + ticksOf(pid), 0);
    const [from, seconds] = [ticks(), 20];
    await sleep(seconds * 1_000);
    judge(`${count} idle sessions: daemon and terminal server, % of a core`, (ticks() - from) / seconds, 2);
  } finally {
    await stage.close();
  }
}

function serverPids(stage: Stage): readonly number[] {
  const pid = Number(stage.tmux("display-message", "-p", "#{pid}"));
  return pid > 0 ? [pid] : [];
}

async function shown(stage: Stage): Promise<string> {
  const all = await stage.runs();
  return all
    .map(({ id, pid }) => `${id} ${pid}`)
    .sort()
    .join("\n");
}

async function allIdle(stage: Stage, count: number): Promise<void> {
  await eventually(async () => {
    const all = await stage.runs();
    return all.length === count && all.every(({ activity }) => activity === "idle") ? true : undefined;
  }, 300_000);
}

function ticksOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.split(" ") ?? [];
  // Including its ended children: programs that it has run.
  return [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0);
}

function judge(what: string, measured: number, limit: number): void {
  const isGood = measured <= limit;
  failed ||= !isGood;
  process.stdout.write(
    `${what.padEnd(70)}${measured.toFixed(1).padStart(10)}${`≤ ${limit}`.padStart(10)}${isGood ? "" : "  NOT MET"}\n`,
  );
}

function fail(what: string): void {
  failed = true;
  process.stdout.write(`WRONG: ${what}\n`);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
