// The engine against xstate's pure `transition`, in one run. Both take the step from a failed review back to work: the same
// guard on a counter and a verdict, the same two actions returned as data. Prints ratios against limits.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { assign, initialTransition, setup, transition } from "xstate";
import { parseTaskDocument } from "../src/documents/task-document.ts";
import { createTask } from "../src/engine/create.ts";
import { decide, decideWithoutPromises } from "../src/engine/decide.ts";
import type { Decision } from "../src/engine/decision.ts";
import { loadWorkflow } from "../src/engine/language/load.ts";
import type { Facts, Request } from "../src/engine/request.ts";
import { simulate } from "../src/engine/simulate/simulate.ts";
import { blankIdentity, type Task } from "../src/engine/task.ts";
import { verify } from "../src/engine/verify/verify.ts";
import type { Workflow } from "../src/engine/workflow.ts";
import { largeWorkflow } from "./large-workflow.ts";

// In a process of its own: its memory is that process's, and the engine is not slower for what it has seen before.
if (process.argv[2] === "large") {
  process.stdout.write(JSON.stringify(measureLarge()));
  process.exit(0);
}
const large: ReturnType<typeof measureLarge> = JSON.parse(
  execFileSync(process.execPath, [import.meta.filename, "large"], { encoding: "utf8" }),
);
const lives = Number(process.argv[2] ?? 100_000);
const text = document();
const workflow = load("default");
const task = inReview(workflow);
const request: Request = {
  kind: "move",
  to: "working",
  actor: { role: "reviewer", run: task.runs.reviewer?.key ?? "" },
};
const parsed = facts(parseTaskDocument(text));
if (decide(workflow, task, request, parsed).kind !== "moved")
  throw new Error("The benchmark's request must be granted.");

const machine = setup({
  types: {
    context: {} as { round: number; body: string },
    events: {} as { type: "FAIL" } | { type: "PASS" } | { type: "HANDOFF" },
  },
  guards: {
    canRetry: ({ context }) => context.round < 2 && /^Verdict: FAIL/m.test(context.body),
    isSpent: ({ context }) => context.round >= 2,
  },
  actions: { killReviewer: () => undefined, notifyWorker: () => undefined },
}).createMachine({
  context: { round: 1, body: text.slice(text.indexOf("## Review")) },
  initial: "review",
  states: {
    working: { on: { HANDOFF: { target: "review", actions: assign({ round: ({ context }) => context.round + 1 }) } } },
    review: {
      on: {
        PASS: "reviewing",
        FAIL: [
          { guard: "canRetry", target: "working", actions: ["killReviewer", "notifyWorker"] },
          { guard: "isSpent", target: "stuck" },
        ],
      },
    },
    reviewing: {},
    stuck: {},
  },
});
const [snapshot] = initialTransition(machine);
if (transition(machine, snapshot, { type: "FAIL" })[0].value !== "working")
  throw new Error("xstate must take the same step.");

const reference = "xstate transition";
const samples = alternate({
  [reference]: () => void transition(machine, snapshot, { type: "FAIL" }),
  "decide, promises not checked": () => void decideWithoutPromises(workflow, task, request, parsed),
  "decide, document parsed": () => void decide(workflow, task, request, parsed),
  "decide, with the parse of 4 KB": () => void decide(workflow, task, request, facts(parseTaskDocument(text))),
});
let failed = false;
print("step", "per second", "ratio", "limit");
row(reference, undefined);
row("decide, promises not checked", 18);
// Checking the promises again before each move costs a quarter of a microsecond.
row("decide, document parsed", 10);
row("decide, with the parse of 4 KB", 2);

process.stdout.write("\n");
print("verify", "positions", "seconds", "limit");
for (const file of readdirSync(new URL("../workflows", import.meta.url)).sort()) {
  const each = load(file.replace(".yml", ""));
  const start = performance.now();
  const { positions } = verify(each);
  const seconds = (performance.now() - start) / 1000;
  failed ||= seconds > 2;
  print(file, String(positions), seconds.toFixed(2), seconds > 2 ? "2 MISSED" : "2 ok");
}
print("twelve states", String(large.positions), large.seconds.toFixed(2), large.seconds > 5 ? "5 MISSED" : "5 ok");
print("its memory in MB", "", large.megabytes.toFixed(0), large.megabytes > 500 ? "500 MISSED" : "500 ok");
failed ||= large.seconds > 5 || large.megabytes > 500;

process.stdout.write("\n");
const start = performance.now();
const { steps, violations, wedged } = simulate(workflow, { runs: lives, seed: 7 });
const seconds = (performance.now() - start) / 1000;
failed ||= violations.length > 0 || wedged > 0;
print("lives", "per second", "steps/s", "violations");
print(String(lives), (lives / seconds).toFixed(0), (steps / seconds).toFixed(0), String(violations.length + wedged));
process.exit(failed ? 1 : 0);

function measureLarge(): { positions: number; seconds: number; megabytes: number } {
  const { workflow: twelve, problems } = loadWorkflow(largeWorkflow(), "twelve.yml");
  if (twelve === undefined) throw new Error("The file of twelve states does not load.");
  const began = performance.now();
  const { positions, proved } = verify(twelve, problems);
  if (!proved) throw new Error("The file of twelve states is not proved.");
  const seconds = (performance.now() - began) / 1000;
  return { positions, seconds, megabytes: process.resourceUsage().maxRSS / 1024 };
}

/**
 * Runs the candidates alternately in many short rounds, and returns their rates round by round: other load on the machine in
 * a round affects all of them.
 */
function alternate(candidates: Record<string, () => void>): Record<string, readonly number[]> {
  const repeats: Record<string, number> = {};
  const rates: Record<string, number[]> = {};
  for (const [name, run] of Object.entries(candidates)) {
    for (let i = 0; i < 20_000; i++) run();
    const begin = performance.now();
    for (let i = 0; i < 500; i++) run();
    repeats[name] = Math.max(20, Math.ceil(500 / (performance.now() - begin)));
    rates[name] = [];
  }
  for (let round = 0; round < 1_001; round++) {
    for (const [name, run] of Object.entries(candidates)) {
      const times = repeats[name] ?? 1;
      const begin = performance.now();
      for (let i = 0; i < times; i++) run();
      rates[name]?.push((times * 1000) / (performance.now() - begin));
    }
  }
  return rates;
}

/** Prints the median rate, and the median of the ratios that were measured side by side. */
function row(name: string, limit: number | undefined): void {
  const rates = samples[name] ?? [];
  const ratio = median(rates.map((rate, round) => rate / (samples[reference]?.[round] ?? rate)));
  if (limit !== undefined && ratio < limit) failed = true;
  const verdict = limit === undefined ? "" : `≥ ${limit} × ${ratio < limit ? "MISSED" : "ok"}`;
  print(name, median(rates).toFixed(0), `${ratio.toFixed(1)} ×`, verdict);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function print(...cells: readonly string[]): void {
  process.stdout.write(`${cells.map((cell, i) => (i === 0 ? cell.padEnd(34) : cell.padStart(14))).join("")}\n`);
}

function load(name: string): Workflow {
  const loaded = loadWorkflow(
    readFileSync(new URL(`../workflows/${name}.yml`, import.meta.url), "utf8"),
    `${name}.yml`,
  ).workflow;
  if (loaded === undefined) throw new Error(`${name} does not load.`);
  return loaded;
}

function facts(parsedDocument: Facts["document"], head = "c0ffee"): Facts {
  return {
    document: parsedDocument,
    head,
    artifacts: {},
    numbers: { workspace: 1 },
    taskFileTracked: false,
    poolFull: false,
  };
}

/** A task in its first review, moved there by the engine itself. */
function inReview(of: Workflow): Task {
  let now = grantedTask(createTask(of, { ...blankIdentity, id: "t1", summary: "Brew" }, facts(parseTaskDocument(""))));
  const lead = (to: string, role: string, body: string) => {
    // The worker has committed since.
    const known = facts(parseTaskDocument(body), `before ${to}`);
    now = grantedTask(decide(of, now, { kind: "move", to, actor: { role } }, known));
    now = grantedTask(decide(of, now, { kind: "settled", entry: now.entry }, known));
  };
  lead("planning", "human", "");
  lead("working", "worker", "## Plan\nAPPROACH: do it");
  lead("agent-review", "worker", "## Handoff\nDONE: it");
  return now;
}

function grantedTask(decision: Decision): Task {
  if (decision.kind === "moved" || decision.kind === "stayed") return decision.task;
  throw new Error(JSON.stringify(decision));
}

function document(): string {
  const filler = (lines: number) =>
    Array.from(
      { length: lines },
      (_, i) => `- item ${i}: some words about what was done and why it was done this way`,
    ).join("\n");
  const front =
    "---\nid: t1\nproject: coffee\nbranch: signalbox/t1\nsummary: Brew\nworkflow: default\nstatus: agent-review\n---\n";
  return `${front}\n## Context\n${filler(18)}\n\n## Plan\nAPPROACH: do it\nTOUCHING: files\n\n## Handoff\nDONE: all of it\n${filler(18)}\n\n## Review\nVerdict: FAIL\n${filler(18)}\n`;
}
