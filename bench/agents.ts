// The cost of running agents: how fast a program is started (also in a sandbox), adopted by another daemon and seen to end,
// what its supervisor consumes meanwhile, how far a flood of output gets, and what it costs to continue reading a long
// transcript instead of reading it again. Prints figures against limits.
//
// Node itself takes 45 ms of a start. The supervisor of a silent program wakes up once a second, to check for a flood.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { buildSync } from "esbuild";
import { systemProcessTable } from "../src/adapters/processes/process-table.ts";
import { createProcesses, supervisorCommand } from "../src/adapters/processes/processes.ts";
import { bubblewrap } from "../src/adapters/sandbox/bubblewrap.ts";
import { spawnCommands } from "../src/adapters/system.ts";
import { createTail } from "../src/adapters/tail.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-agents-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, "supervisor.cjs");
buildSync({
  entryPoints: [join(import.meta.dirname, "../src/adapters/processes/supervisor.ts")],
  bundle: true,
  minify: true,
  platform: "node",
  format: "cjs",
  outfile: file,
});
const supervisor = supervisorCommand(file);
const table = systemProcessTable();
const limits = { timeLimit: 3_600_000, outputLimit: 64_000_000 };
const env = { PATH: process.env.PATH ?? "" };
const open = (name: string) => createProcesses({ folder: join(folder, name), supervisor, table, grace: 1_000 });

let failed = false;
// Watchers do not keep a process alive.
setInterval(() => {}, 60_000);
print("", "measured", "limit");
await startAndEnd(20);
await confine(20);
await adopt(50);
await flood();
await readOn(100);
process.exit(failed ? 1 : 0);

/** One after the other, each watched as the daemon does. */
async function startAndEnd(rounds: number): Promise<void> {
  const processes = open("short");
  const heard = new Map<string, () => void>();
  const stop = processes.watch(async (id) => {
    if ((await processes.look(id)).kind === "ended") heard.get(id)?.();
  });
  const [starts, ends]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const id = `short-${round}`;
    const told = new Promise<void>((resolve) => heard.set(id, resolve));
    const argv = ["sh", "-c", "sleep 0.1; date +%s%N"];
    starts.push(await timed(() => processes.start({ id, argv, cwd: folder, env, input: "", ...limits })));
    await told;
    // When it ended, by its own clock.
    const said = Number(Buffer.from(await processes.read(id, "output", 0, 100)).toString()) / 1e6;
    ends.push(performance.timeOrigin + performance.now() - said);
  }
  stop();
  judge("a program started and recorded, ms", median(starts), 500);
  judge("from its last word to its end being known, ms", median(ends), 250);
}

/**
 * From the order to the program's own first act, in a sandbox and without, in turn. The sandbox has what an agent's has:
 * the workspace, the run's folder, Node and the installation.
 */
async function confine(rounds: number): Promise<void> {
  const sandbox = bubblewrap({ commands: spawnCommands, env });
  const state = await sandbox.detect();
  if (!state.works) return fail(`no sandbox could be made: ${state.reason}`);
  const processes = open("confined");
  const root = join(import.meta.dirname, "..");
  const argv = ["date", "+%s%N"];
  const plan = {
    ...({ argv, folder, work: "write", home: join(folder, "user"), closed: join(folder, "home") } as const),
    ...{
      read: [root, process.execPath],
      write: [],
      own: [],
      hidden: [],
      concealed: [],
      placed: [],
      network: "open" as const,
      nests: false,
    },
  };
  const startOf = async (id: string, command: () => Promise<readonly string[]>) => {
    const began = performance.timeOrigin + performance.now();
    await processes.start({ id, argv: await command(), cwd: folder, env, input: "", ...limits });
    while ((await processes.look(id)).kind === "running") await sleep(1);
    return Number(Buffer.from(await processes.read(id, "output", 0, 100)).toString()) / 1e6 - began;
  };
  const [plain, confined]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    plain.push(await startOf(`plain-${round}`, async () => argv));
    confined.push(await startOf(`confined-${round}`, () => sandbox.wrap(plan)));
  }
  print("from an order to the program's first act, ms", median(plain).toFixed(0), "");
  print("the same in a sandbox, ms", median(confined).toFixed(0), "");
  judge("ratio", median(confined) / median(plain), 1.3);
}

/** As after the death of a daemon: the process that started them is gone. */
async function adopt(count: number): Promise<void> {
  const place = join(folder, "adopted");
  const starter = join(import.meta.dirname, "../test/processes/starter.ts");
  const daemon = spawn(process.execPath, [starter, place, String(count), ...supervisor], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(daemon.stdout, "data");
  const ids = Array.from({ length: count }, (_, i) => `run-${i}`);
  const recordOf = (id: string) =>
    JSON.parse(readFileSync(join(place, id, "process.json"), "utf8")) as Record<
      "identity" | "supervisor",
      { readonly pid: number }
    >;
  const pids = ids.map((id) => recordOf(id).identity.pid);
  daemon.kill("SIGKILL");
  await once(daemon, "exit");

  const processes = open("adopted");
  const order = { argv: ["false"], cwd: folder, env, input: "", ...limits };
  const adopting = await timed(async () => {
    for (const id of ids) await processes.start({ id, ...order });
  });
  const looking = await timed(async () => {
    for (const id of ids) await processes.look(id);
  });
  for (const [i, id] of ids.entries()) {
    const state = await processes.look(id);
    if (state.kind !== "running" || state.identity.pid !== pids[i]) fail(`${id} was ${state.kind}`);
  }
  judge(`${count} programs taken over, ms`, adopting, 2_000);
  judge(`${count} programs looked at, ms`, looking, 100);
  await idle(ids.map((id) => recordOf(id).supervisor.pid));
  await Promise.all(ids.map((id) => processes.kill(id)));
}

async function idle(pids: readonly number[]): Promise<void> {
  if (process.platform !== "linux") return;
  const stop = open("adopted").watch(() => {});
  // Wait until they are idle after the start.
  await sleep(12_000);
  const ticks = () => pids.reduce((sum, pid) => sum + ticksOf(pid), 0);
  const [before, own] = [ticks(), process.cpuUsage()];
  const seconds = 10;
  await sleep(seconds * 1_000);
  const { user, system } = process.cpuUsage(own);
  judge(`${pids.length} idle supervisors, % of a core`, ((ticks() - before) / 100 / seconds) * 100, 4);
  judge("the process that watches them, % of a core", ((user + system) / 1e6 / seconds) * 100, 1);
  stop();
  const memory = pids.map((pid) => {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    return Number(/^Pss:\s+(\d+)/m.exec(text)?.[1]) / 1_024;
  });
  judge("one of them, MB of memory of its own", median(memory), 25);
}

function ticksOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

/** The maximum output on the disk, of a program that prints as fast as it can after a pause. */
async function flood(): Promise<void> {
  const processes = open("flood");
  const argv = ["sh", "-c", "sleep 2; exec head -c 1000000000 /dev/zero"];
  await processes.start({ id: "flood", argv, cwd: folder, env, input: "", ...limits });
  let most = 0;
  while ((await processes.look("flood")).kind === "running") {
    most = Math.max(most, statSync(join(folder, "flood", "flood", "output")).size);
    await sleep(5);
  }
  const end = await processes.look("flood");
  if (end.kind !== "ended" || end.cause !== "output") fail("the flood was not stopped");
  const { size } = statSync(join(folder, "flood", "flood", "output"));
  if (size > limits.outputLimit) fail(`${size} bytes of the flood were kept`);
  judge("a flood of 1 GB that may be 64 MB: at most, MB", most / 1e6, 640);
}

/** Reading one more line, against reading everything again. Both are parsed. */
async function readOn(megabytes: number): Promise<void> {
  const path = join(folder, "transcript.jsonl");
  const text = "They looked at the file, found what was wrong, and said so at some length. ".repeat(12);
  const lineOf = (n: number) =>
    `${JSON.stringify({ type: "assistant", id: `message-${n}`, message: { text }, usage: { input: n, output: 7 } })}\n`;
  const block = Array.from({ length: 1_000 }, (_, n) => lineOf(n)).join("");
  writeFileSync(path, "");
  for (let size = 0; size < megabytes * 1e6; size += block.length) appendFileSync(path, block);
  const readAll = async (tail: ReturnType<typeof createTail>) => {
    let count = 0;
    for (let hasMore = true; hasMore; ) {
      const part = await tail.read();
      for (const { text } of part.lines) if ((JSON.parse(text) as { id: string }).id !== "") count += 1;
      hasMore = part.hasMore;
    }
    return count;
  };
  const tail = createTail(path);
  const whole = await timed(() => readAll(tail));
  const appends: number[] = [];
  for (let round = 0; round < 50; round++) {
    appendFileSync(path, lineOf(round));
    appends.push(
      await timed(async () => {
        if ((await readAll(tail)) !== 1) fail("a line was not read");
      }),
    );
  }
  const ratio = whole / median(appends);
  print(`${megabytes} MB read, ms`, whole.toFixed(0), "");
  print("one line more, ms", median(appends).toFixed(2), "");
  print("ratio", ratio.toFixed(0), "≥ 100", ratio < 100 ? "TOO SLOW" : "");
  if (ratio < 100) failed = true;
}

function judge(what: string, measured: number, limit: number): void {
  if (measured > limit) failed = true;
  print(what, measured.toFixed(measured < 10 ? 2 : 0), `≤ ${limit}`, measured > limit ? "TOO MUCH" : "");
}

function fail(what: string): void {
  failed = true;
  process.stdout.write(`WRONG: ${what}\n`);
}

function print(what: string, ...columns: readonly string[]): void {
  process.stdout.write(`${[what.padEnd(52), ...columns.map((each) => each.padStart(10))].join("").trimEnd()}\n`);
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await act();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
