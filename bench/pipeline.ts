// The pipeline with named agents: 40 issues, two agents of a large model and one of a small one, a real daemon, real git and
// scripted agents, which wait. The lower bound is the work of the busiest model, divided among its agents; only the waits in
// the script count as work. Everything else is overhead: starting programs, workspaces, commits, tests, merges.
//
// An agent is idle from the end of a run until it is given the next one. It is idle for nothing while a run waits for an
// agent of its model. The start of the next run is measured with one issue at a time, against the start of a run of a
// workflow without named agents in the same daemon.
import { setTimeout as sleep } from "node:timers/promises";
import { routes } from "../src/api/routes.ts";
import type { EventView } from "../src/api/tasks.ts";
import buildPrograms from "../test/build-programs.ts";

const count = Number(process.env.ISSUES ?? 40);
const agents: Readonly<Record<string, number>> = { large: 2, small: 1 };
/** Milliseconds of work of each run. */
const lengths: Readonly<Record<string, number>> = { large: 5_000, small: 1_500 };
/** How many runs of each model an issue has. */
const runsOf: Readonly<Record<string, number>> = { large: 3, small: 4 };
const probes = 4;
const models = { default: "small", IMPLEMENT: "large", TESTING: "large" };

interface Started {
  readonly task: string;
  readonly place: number;
  readonly run: string;
  readonly agent: string;
  readonly tier: string;
  /** Milliseconds since 1970: when it was decided on, asked for an agent, had one, was started, and ended. */
  readonly decided: number;
  readonly asked: number;
  readonly seated: number;
  readonly started: number;
  readonly ended: number;
  /** When the run before it ended; undefined where a person or another state's work was between. */
  readonly after: number | undefined;
}

const remove = buildPrograms();
// Imported after the build: these modules look for the built programs when they are loaded.
const { eventually, openStage } = await import("../test/agents/stage.ts");
const bare = `name: flow
version: 1
roles: { worker: { mode: turn, permissions: reduced, prompt: work } }
states:
  todo: { waits_for: slot, do: [acquire_workspace], next: first }
  first: { agent: { role: worker }, next: done }
  done: { terminal: true }
transitions: [{ from: first, to: done, by: engine, hooks: [release_workspace] }]
prompts: { work: Work }
`;
const stage = await openStage({
  script: writeScript(),
  agents: `most: 6, per_model: [${Object.entries(agents)
    .map(([tier, most]) => `${tier}=${most}`)
    .join(", ")}]`,
  config: "test_command: [git, --version]\nmodel_fallback: { large: [] }\nnotify: { desktop: false }\n",
  workflows: { bare },
  poolSize: 16,
});
let failed = false;
try {
  const single: number[] = [];
  for (let i = 0; i < probes * 2; i++) {
    const id = (
      await stage.call(routes.createTask, { body: { project: "coffee", summary: "Probe", workflow: "bare" } })
    ).task.id;
    await stage.until(id, ({ status }) => status === "done");
    const [run] = startsOf(id, 0, await stage.events(id));
    if (run !== undefined) single.push(run.started - run.decided);
  }
  const next: number[] = [];
  for (let i = 0; i < probes; i++) {
    const id = await begin("Probe");
    await tend([id]);
    next.push(
      ...startsOf(id, 0, await stage.events(id)).flatMap(({ started, after }) =>
        after === undefined ? [] : [started - after],
      ),
    );
  }

  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push(await begin(`Issue ${i}`));
  await tend(ids);
  const starts: Started[] = [];
  for (const [place, id] of ids.entries()) starts.push(...startsOf(id, place, await stage.events(id)));
  const makespan = Math.max(...starts.map(({ ended }) => ended)) - Math.min(...starts.map(({ decided }) => decided));
  const bound = Math.max(
    ...Object.keys(agents).map((tier) => (count * of(runsOf, tier) * of(lengths, tier)) / of(agents, tier)),
  );
  const idle = idleTime(
    starts,
    ({ asked, seated }) => [asked, seated],
    ({ seated, ended }) => [seated, ended],
  );
  const strict = idleTime(
    starts,
    ({ decided, started }) => [decided, started],
    ({ started, ended }) => [started, ended],
  );
  const agentTime = makespan * Object.values(agents).reduce((sum, each) => sum + each, 0);
  const overtaken = overtakings(starts, ({ asked }) => asked);
  print("", "measured", "limit");
  print(`${count} issues, runs`, String(starts.length));
  print("the busiest model's work among its agents, s", (bound / 1000).toFixed(1));
  print("from the first run to the end of the last, s", (makespan / 1000).toFixed(1));
  judge("makespan / bound", makespan / bound, 1.15);
  judge("agents idle while a run waited for them, share", idle / agentTime, 0.02);
  print("the same, a starting agent counted as idle", (strict / agentTime).toFixed(3));
  judge("issues overtaken by later ones", overtaken, 0);
  print("the same, counted from the decision to start a run", String(overtakings(starts, ({ decided }) => decided)));
  print("a bare start, p50, ms", median(single).toFixed(0));
  print("a run's end to the next stage's start, p50, ms", median(next).toFixed(0));
  judge("ratio", median(next) / median(single), 2);
  const busy = new Set(starts.map(({ agent }) => agent));
  if (busy.size !== 3 || starts.length !== count * 7) {
    failed = true;
    print(`WRONG: ${starts.length} runs by ${[...busy].join(", ")}`);
  }
} finally {
  await stage.close();
  remove?.();
}
process.exit(failed ? 1 : 0);

async function begin(summary: string): Promise<string> {
  const settings = { spec: false, models, judge: "large", scouts: ["small"] };
  const body = { project: "coffee", summary, workflow: "pipeline", settings, status: "TODO" };
  return (await stage.call(routes.createTask, { body: body as never })).task.id;
}

/** A person continues the issues at both gates, until all are done. */
async function tend(ids: readonly string[]): Promise<void> {
  const open = new Set(ids);
  await eventually(async () => {
    await sleep(100);
    for (const id of open) {
      const { status, held, phase, outcome } = await stage.task(id);
      if (held !== null) throw new Error(`${id} is held in ${status}: ${held.reason}`);
      if (outcome !== null) open.delete(id);
      const isGate = ["BACKLOG", "PR_HUMAN_REVIEW", "MERGE_READY"].includes(status);
      if (isGate && phase === "waiting")
        await stage.call(routes.continueTask, { params: { task: id }, body: {} }).catch(() => {});
    }
    return open.size === 0 ? true : undefined;
  }, 1_800_000);
}

/** The runs of an issue, from its history. */
function startsOf(task: string, place: number, events: readonly EventView[]): readonly Started[] {
  return events.flatMap((event, at) => {
    if (event.type !== "agent.started") return [];
    const { run, agent, tier, asked, seated } = event.data as Readonly<Record<string, string>>;
    const before = events
      .slice(0, at)
      .filter(({ type, data }) => type === "task.moved" || (type === "agent.ended" && "run" in data));
    const moved = before.at(-1);
    const ended = before.findLast(({ type }) => type === "agent.ended");
    const end = events.find(({ type, data }) => type === "agent.ended" && data.run === run);
    // Another state's work, or a person, comes between the end of a run and the next start, except in these states.
    const isDirect = moved?.type === "agent.ended" || ["CONTEXT_REVIEW", "IMPLEMENT"].includes(String(moved?.data.to));
    return [
      {
        ...{ task, place, run: run ?? "", agent: agent ?? "", tier: tier ?? "" },
        decided: timeOf(moved?.at),
        asked: timeOf(asked),
        seated: timeOf(seated),
        started: timeOf(event.at),
        ended: timeOf(end?.at),
        after: isDirect && ended !== undefined ? timeOf(ended.at) : undefined,
      },
    ];
  });
}

type Span = readonly [number, number];

/** The time in which agents do nothing while a run waits for an agent of their model. */
function idleTime(starts: readonly Started[], waits: (run: Started) => Span, works: (run: Started) => Span): number {
  let idle = 0;
  for (const [agent, own] of Map.groupBy(starts, ({ agent }) => agent)) {
    const tier = own[0]?.tier;
    const waiting = starts.filter((run) => run.tier === tier).map(waits);
    const spans = own.map(works).sort(([a], [b]) => a - b);
    for (const [index, [, end]] of spans.entries()) {
      const begin = spans[index + 1]?.[0];
      if (agent === "" || begin === undefined) continue;
      idle += covered(waiting, [end, begin]);
    }
  }
  return idle;
}

/** How much of a span is within any of the others. */
function covered(others: readonly Span[], [from, to]: Span): number {
  let [sum, at] = [0, from];
  for (const [begin, end] of others.toSorted(([a], [b]) => a - b)) {
    const [first, last] = [Math.max(begin, at), Math.min(end, to)];
    if (last <= first) continue;
    sum += last - first;
    at = last;
  }
  return sum;
}

/** Pairs of issues of which the later got an agent while the earlier one waited for an agent of the same model. */
function overtakings(starts: readonly Started[], since: (run: Started) => number): number {
  return starts.filter((run) =>
    starts.some(
      (other) =>
        other.place > run.place && other.tier === run.tier && since(run) < other.seated && other.seated < run.seated,
    ),
  ).length;
}

function writeScript(): string {
  const work = (tier: string, ...steps: readonly unknown[]) => [{ sleep: `${of(lengths, tier)}ms` }, ...steps];
  const documents = [{ type: "pack", title: "The kitchen", text: "Cups are on the left." }];
  const packs = { tool: { name: "work_complete", input: { summary: "Packed.", documents } } };
  const builds = [{ append: { file: "{branch}.md", text: "one\n" } }, { commit: "one" }];
  const turn = (status: string, tier: string, ...steps: readonly unknown[]) => [
    { when: { status, task: { summary: "Probe" } }, steps: [{ sleep: "100ms" }, ...steps] },
    { when: { status }, steps: work(tier, ...steps) },
  ];
  const says = { say: "It is done." };
  const roles = {
    analyst: [...turn("CONTEXT_PACK", "small", packs), ...turn("CONTEXT_REVIEW", "small", says)],
    implementer: [
      ...turn("IMPLEMENT", "large", ...builds),
      ...turn("TESTING", "large", { answer: { passed: true, summary: "" } }),
    ],
    scout: turn("PR_REVIEW", "small", { answer: { findings: [] } }),
    judge: turn("PR_REVIEW", "large", { answer: { findings: [] } }),
    writer: turn("DOC_REVIEW", "small", says),
    worker: [{ steps: [{ sleep: "100ms" }, says] }],
  };
  return JSON.stringify({ roles });
}

function of(table: Readonly<Record<string, number>>, name: string): number {
  return table[name] ?? 0;
}

function timeOf(at: string | undefined): number {
  return Date.parse(at ?? "");
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function judge(what: string, measured: number, limit: number): void {
  const isMissed = !(measured <= limit);
  failed ||= isMissed;
  print(what, measured.toFixed(3), `≤ ${limit}`, isMissed ? "MISSED" : "");
}

function print(what: string, ...columns: readonly string[]): void {
  process.stdout.write(`${[what.padEnd(52), ...columns.map((each) => each.padStart(10))].join("").trimEnd()}\n`);
}
