// The processor time of the daemon with its children for watching thirty terminals that change ten times a second, against
// polling their screens: for each screen that arrives, so that a busy machine measures the same.
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import { routes } from "../src/api/routes.ts";
import { followTerminal } from "../src/api/terminal.ts";
import buildPrograms from "../test/build-programs.ts";
import { personsHeaders } from "../test/faults/daemon.ts";

const count = 30;
const perSecond = 10;
const limit = 1 / 10;
/** How many screens must arrive, and how many are polled. */
const wanted = 900;
const wantedCalls = 300;
const idleTime = 8_000;
const longest = 60_000;
const query = { styled: "true" } as const;

const remove = buildPrograms();
// Imported after the build: these modules look for the built programs when they are loaded.
const { openStage } = await import("../test/agents/stage.ts");
const tick = "echo working; i=0; while :; do i=$((i+1)); echo tick $i; sleep 0.1; done";
const stage = await openStage({
  agents: `most: ${count}, live: ${count}, sandbox: off`,
  harness: "ticker",
  poolSize: count,
  config: `harnesses: { ticker: { session: { argv: [sh, -c, ${JSON.stringify(tick)}, "{prompt}"], busy: working } } }\n`,
  flow: `name: flow
version: 1
roles: { worker: { mode: session, harness: task, permissions: full, window: worker, keep: true } }
states:
  todo: { waits_for: slot, next: busy }
  busy: { agent: { role: worker, prompt: work }, respawn_prompt: work, next: done }
  done: { terminal: true }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: done, gate: { section: "## Handoff", fields: [DONE] } }
prompts: { work: "Work on {summary}" }
`,
});
let failed = false;
try {
  const tasks: string[] = [];
  for (let i = 0; i < count; i++) tasks.push(await stage.create(`cup ${i}`));
  while ((await stage.runs()).filter(({ pid }) => pid > 0).length < count) await sleep(250);
  await sleep(2_000);

  const idle = await spentDuring(() => sleep(idleTime));
  let screens = 0;
  const sockets = tasks.map((task) => {
    const path = `ws+unix:${stage.places.socket}:/v1/tasks/${task}/terminal`;
    const socket = new WebSocket(path, { headers: personsHeaders({ places: stage.places }) });
    followTerminal(socket as never, { onScreen: () => screens++ });
    return socket;
  });
  while (screens < 2 * count) await sleep(100);
  const first = screens;
  const watched = await spentDuring(async () => {
    const end = performance.now() + longest;
    while (screens - first < wanted && performance.now() < end) await sleep(50);
  });
  const seen = screens - first;
  for (const socket of sockets) socket.close();
  await sleep(1_000);
  let calls = 0;
  const polled = await spentDuring(() =>
    Promise.all(
      Array.from({ length: 8 }, async (_, from) => {
        for (; calls < wantedCalls; calls++)
          await stage.call(routes.getScreen, { params: { task: tasks[(calls + from) % count] ?? "" }, query });
      }),
    ),
  );
  // What the daemon does anyway takes its share of the time.
  const costOf = ({ cpu, seconds }: Spent, times: number) =>
    ((cpu - (idle.cpu / idle.seconds) * seconds) * 1_000) / times;
  const [screen, call] = [costOf(watched, seen), costOf(polled, calls)];
  print(
    `${count} watched terminals: ${seen} screens, ${(seen / count / watched.seconds).toFixed(1)} a second each`,
    ms(screen),
  );
  print(`polling: ${calls} calls`, ms(call));
  print(
    "the tmux server besides: a screen, a call",
    ms((watched.tmux * 1_000) / seen),
    ms((polled.tmux * 1_000) / calls),
  );
  print(
    `a core for ${perSecond} a second each: watched, polled`,
    ...[screen, call].map((each) => percent((each * count * perSecond) / 1_000)),
  );
  print("watched / polled", (screen / call).toFixed(3), `≤ ${limit}`);
  failed = screen / call > limit || seen < wanted;
  if (seen < wanted) print(`fewer screens than ${wanted} in ${longest / 1_000} s: this was not the workload`);
} finally {
  await stage.close();
  remove?.();
}
process.exit(failed ? 1 : 0);

interface Spent {
  /** Processor seconds of the daemon and its children. */
  readonly cpu: number;
  readonly tmux: number;
  readonly seconds: number;
}

async function spentDuring(work: () => Promise<unknown>): Promise<Spent> {
  const [cpu, tmux, start] = [familySeconds(), tmuxSeconds(), performance.now()];
  await work();
  const seconds = (performance.now() - start) / 1_000;
  return { cpu: familySeconds() - cpu, tmux: tmuxSeconds() - tmux, seconds };
}

/** Processor time of the daemon, of its ended children, and of those that live. */
function familySeconds(): number {
  const { pid } = stage.daemon();
  const children = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && fieldsOf(name)[1] === String(pid));
  return [String(pid), ...children].reduce((sum, each) => sum + secondsOf(each, [11, 12, 13, 14]), 0);
}

function tmuxSeconds(): number {
  return secondsOf(stage.tmux("display-message", "-p", "#{pid}"), [11, 12]);
}

function secondsOf(pid: string, which: readonly number[]): number {
  const fields = fieldsOf(pid);
  return which.reduce((sum, at) => sum + Number(fields[at] ?? 0), 0) / 100;
}

function fieldsOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.split(" ") ?? [];
  } catch {
    return [];
  }
}

function ms(time: number): string {
  return `${time.toFixed(2)} ms`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function print(what: string, ...columns: readonly string[]): void {
  process.stdout.write(`${[what.padEnd(60), ...columns.map((each) => each.padStart(10))].join("").trimEnd()}\n`);
}
