// Random simulation with fault injection: runs many small projects in memory, and checks every promise.
// npm run faults -- --seeds 1000 [--seed 1] [--workflow default]… [--threads 2] [--crowd]; with --seeds 1 it prints the
// trace. --crowd: more tasks than seats and workspaces.
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { describeFault, drawCrowd, planLife } from "../test/simulator/faults.ts";
import { live } from "../test/simulator/live.ts";
import type { Found, Totals } from "../test/simulator/simulate.ts";
import { lifeKind } from "../test/simulator/stages.ts";
import { readSimulated, simulated } from "../test/simulator/world.ts";

/** How often a long run prints its progress. */
const tellEvery = 30_000;

/** How many seeds a thread runs before it asks for more. */
const portion = 50;

const { values } = parseArgs({
  options: {
    seeds: { type: "string" },
    seed: { type: "string" },
    workflow: { type: "string", multiple: true },
    threads: { type: "string" },
    crowd: { type: "boolean", default: false },
  },
});
const count = numberOf("seeds", values.seeds ?? "1000");
const first = numberOf("seed", values.seed ?? "1");
const threads = Math.max(1, numberOf("threads", values.threads ?? String(availableParallelism())));
const names = values.workflow ?? simulated;
const unknown = names.find((name) => !simulated.includes(name));
if (unknown !== undefined) fail(`There is no simulated workflow "${unknown}". There are ${simulated.join(", ")}.`);

if (count === 1) {
  const workflows = names.map(readSimulated);
  const chosen = workflows[first % workflows.length];
  if (chosen === undefined) fail("There is no workflow.");
  const crowd = values.crowd ? drawCrowd(first) : undefined;
  const life = await live({ seed: first, faults: planLife(first, lifeKind(chosen)), crowd, ...chosen });
  print(`${chosen.name}, seed ${first}\n${life.trace.join("\n")}\ntrace hash ${life.hash}`);
  process.exit(life.violations.length > 0 ? 1 : 0);
}

const before = process.cpuUsage();
const began = performance.now();
const { lives, ended, asking, deaths, calls, slept, found } = await liveAll();
const used = process.cpuUsage(before);
const seconds = (performance.now() - began) / 1000;
const processor = (used.user + used.system) / 1e6;
print(`${lives} lives under ${names.join(", ")}; seeds ${first} to ${first + count - 1}`);
print(`${ended} tasks ended, ${asking} ask for a person; ${deaths} daemons died; ${calls} calls of what is outside`);
print(
  `${(lives / seconds).toFixed(1)} lives a second; ${(lives / processor).toFixed(1)} for each second of processor time`,
);
if (values.crowd) print(`${slept} times the program of an idle agent was ended to make room`);
for (const each of found) print(report(each));
print(`${found.length} violation${found.length === 1 ? "" : "s"}`);
process.exit(found.length > 0 ? 1 : 0);

/** Runs the seeds in parallel. Of several violations it returns the one with the smallest seed, whichever was found first. */
async function liveAll(): Promise<Totals> {
  const totals = { lives: 0, ended: 0, asking: 0, deaths: 0, calls: 0, slept: 0 };
  const found: Found[] = [];
  const working = new Map<Worker, number>();
  let next = first;
  const end = first + count;
  const runs = Array.from({ length: threads }, async () => {
    const worker = new Worker(join(import.meta.dirname, "faults-thread.ts"), {
      workerData: { names, isCrowded: values.crowd },
    });
    const over = new Promise<undefined>((done, failed) =>
      worker.once("error", failed).once("exit", () => done(undefined)),
    );
    while (next < end && found.length === 0) {
      const seeds = [next, Math.min(next + portion, end)] as const;
      [, next] = seeds;
      working.set(worker, seeds[0]);
      worker.postMessage(seeds);
      const part = await Promise.race([over, new Promise<Totals>((done) => worker.once("message", done))]);
      if (part === undefined) return;
      for (const key of ["lives", "ended", "asking", "deaths", "calls", "slept"] as const) totals[key] += part[key];
      found.push(...part.found);
      const smallest = Math.min(...found.map(({ seed }) => seed));
      for (const [other, from] of working) if (from > smallest) void other.terminate();
    }
    await worker.terminate();
  });
  const telling = setInterval(() => {
    const rate = (totals.lives / ((performance.now() - began) / 1000)).toFixed(1);
    process.stderr.write(
      `${totals.lives} of ${count} lives, ${rate} a second, ${found.length === 0 ? "no" : "a"} violation so far\n`,
    );
  }, tellEvery);
  await Promise.all(runs).finally(() => clearInterval(telling));
  return { ...totals, found: found.toSorted((one, other) => one.seed - other.seed).slice(0, 1) };
}

function report({ seed, workflow, violations, faults, trace }: Found): string {
  const needed = faults.map(describeFault).join("; ") || "none at all";
  return [
    ...["", `seed ${seed}, workflow ${workflow}`, ...violations, `faults that it takes: ${needed}`, "", ...trace, ""],
    `Again: npm run faults -- --seeds 1 --seed ${seed}${values.crowd ? " --crowd" : ""}${(values.workflow ?? []).map((name) => ` --workflow ${name}`).join("")}`,
  ].join("\n");
}

function numberOf(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  return fail(`--${name} must be a whole number, not "${text}".`);
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
