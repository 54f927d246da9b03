// How well and how fast the children of a plan are given out. First without a daemon: plans are run to their end with
// `nextChildren` and a simulated clock. The lower bound of a plan is its longest chain, or all its work divided by the agents.
// No order is faster, and for many plans none is as fast: where one item joins everything, the other agents must wait for it.
// So the plans have the width that an architect is asked for, which is work for all engineers. Then one plan with a daemon.
//
// Durations are drawn around what the sizes say, so that a size is an estimate; a second time they are exactly that.
import { type Child, nextChildren } from "../src/engine/fan-out.ts";
import { emptyLedger } from "../src/engine/findings.ts";
import { findingsProblem, takeReview } from "../src/engine/review.ts";
import { type Defect, defects } from "./defects.ts";
import { bound, drawItems, drawPlan, exactly, type Plan, random, run, sum } from "./plans.ts";
import { runTeam } from "./team-run.ts";

const plans = 400;
let failed = false;
const all = Array.from({ length: plans }, (_, seed) => drawPlan(seed + 1));
const exact = all.map((plan) => ({ ...plan, durations: exactly(plan.items) }));

print("", "mean", "median", "p95", "limit");
const real = all.map((plan) => run(withoutFiles(plan)).makespan);
spread("makespan / bound", ratios(real, all.map(bound)), 1.04, 1.12);
spread(
  "where S, M and L are the true durations",
  ratios(
    exact.map((plan) => run(withoutFiles(plan)).makespan),
    exact.map(bound),
  ),
  1.01,
  1.03,
);
const waves = all.map((plan) => run(withoutFiles(plan), { waves: true }).makespan);
limit("makespan / makespan in waves", sum(real) / sum(waves), 0.75);

const blind = all.map((plan) => ({ ...run(withoutFiles(plan)), plan }));
const seeing = all.map((plan) => run(plan));
const besideBlind = sum(blind.map(({ starts, plan }) => countBeside(starts, plan)));
const besideSeeing = sum(seeing.map(({ starts }, i) => countBeside(starts, all[i] as Plan)));
print("starts beside a child with the same file", String(besideSeeing), `of ${besideBlind}`);
limit("that, with files / without", besideSeeing / besideBlind, 0.3);
limit("makespan, with files / without", sum(seeing.map(({ makespan }) => makespan)) / sum(real), 1.06);

const times = Array.from({ length: 5 }, () => ({ small: engineTime(100, 100), large: engineTime(1_000, 10) }));
const { small, large } = times.toSorted((a, b) => a.large / a.small - b.large / b.small)[2] ?? { small: 1, large: 1 };
print("engine, plans of 100 and 1,000 items, ms", small.toFixed(2), large.toFixed(2));
limit("that, 1,000 items / 100 items", large / small, 60);

process.stdout.write("\n");
const reviews = Array.from({ length: 200 }, (_, seed) => ({
  kept: review(seed + 1, true),
  lost: review(seed + 1, false),
}));
const total = (of: (each: (typeof reviews)[number]) => number) => sum(reviews.map(of));
print("tasks reviewed until nothing is open", String(reviews.length));
print("reports", String(total(({ kept }) => kept.reports)));
limit(
  "defects that are in the ledger twice",
  total(({ kept }) => kept.doubles),
  0,
);
limit(
  "defects that were taken for another",
  total(({ kept }) => kept.joined),
  0,
);
limit(
  "answers that were refused",
  total(({ kept }) => kept.refused),
  0,
);
limit(
  "defects left when the reviews ended",
  total(({ kept }) => kept.left),
  0,
);
print(
  "rounds, with and without a ledger",
  String(total(({ kept }) => kept.rounds)),
  String(total(({ lost }) => lost.rounds)),
);
limit("that, with a ledger / without", total(({ kept }) => kept.rounds) / total(({ lost }) => lost.rounds), 0.5);

process.stdout.write("\n");
const measured = await runTeam();
print("60 items, 8 agents, a real daemon: bound, s", measured.bound.toFixed(0));
print("makespan, and in waves, s", measured.makespan.toFixed(1), measured.makespanInWaves.toFixed(1));
print("what a part took besides its work, s", measured.overhead.toFixed(2));
limit("makespan / bound", measured.makespan / measured.bound, 1.2);
limit("makespan / makespan in waves", measured.makespan / measured.makespanInWaves, 0.85);
process.exit(failed ? 1 : 0);

function countBeside(starts: ReturnType<typeof run>["starts"], { items }: Plan): number {
  const files = new Map(items.map((item) => [item.id, new Set(item.files)]));
  return starts.filter(({ id, beside }) =>
    beside.some((other) => [...(files.get(other) ?? [])].some((file) => files.get(id)?.has(file))),
  ).length;
}

/**
 * Processor time of the engine for a whole plan, called once for each change, in milliseconds. Other load on the machine
 * counts little in it.
 */
function engineTime(count: number, lives: number): number {
  const recorded = Array.from({ length: lives }, (_, i) => {
    const items = drawItems(random(i + 1), "layers", count, 8);
    return { items, ...run({ items, agents: 8, durations: exactly(items) }) };
  });
  const before = process.cpuUsage();
  for (const { items, changes } of recorded) {
    const fresh = [...items];
    const children = fresh.map(({ id }): Child => ({ id, state: "waiting", tries: 0 }));
    for (const change of changes) {
      for (const [place, child] of change) children[place] = child;
      nextChildren(fresh, children, { parallel: 8, waves: false, policy: "continue" });
    }
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / lives;
}

/**
 * A reviewer and an author, until the reviewer has nothing to say. The reviewer words its reports differently each time, in
 * another order, some twice; now and then it reports what is fixed, and something small that it did not mind before. With a
 * ledger it answers known findings, some by id, and the reviews end when no finding is open.
 */
function review(seed: number, hasLedger: boolean) {
  const draw = random(seed);
  const chance = (part: number) => draw() < part;
  const one = <T>(list: readonly T[]) => list[Math.floor(draw() * list.length)] as T;
  const shuffled = <T>(list: readonly T[]) =>
    list.map((each) => ({ each, at: draw() })).toSorted((a, b) => a.at - b.at);
  const real = shuffled(defects.filter(({ severity }) => severity !== "low" && severity !== "info")).slice(0, 6);
  const small = defects.filter(({ severity }) => severity === "low" || severity === "info");
  const present = new Set(real.map(({ each }) => each));
  const fixed = new Set<Defect>();
  const seen = new Set<Defect>();
  let ledger = emptyLedger;
  let [rounds, reports, refused, joined] = [0, 0, 0, 0];
  const idOf = (defect: Defect) => ledger.findings.find(({ title }) => defect.titles.includes(title))?.id;
  // The first round whose commit has the last change of a file.
  const changedIn = new Map<string, number>();
  while (rounds < 30) {
    rounds++;
    const reported = [...present, ...[...fixed].filter(() => chance(0.2)), ...(chance(0.6) ? [one(small)] : [])];
    const twice = reported.filter(() => chance(0.2));
    const shift = Math.floor(draw() * 40);
    const entries = shuffled([...reported, ...twice]).map(({ each: defect }) => {
      const { file, severity } = defect;
      const known = hasLedger && chance(0.5) ? { id: idOf(defect) } : {};
      return {
        ...known,
        file,
        severity,
        line: defect.line + shift,
        title: one(defect.titles),
        evidence: one(defect.evidence),
      };
    });
    reports += entries.length;
    if (hasLedger) {
      const isPresent = (title: string) => reported.some(({ titles }) => titles.includes(title));
      const gone = ledger.findings.filter(({ state, title }) => state === "open" && !isPresent(title));
      const answer = [...gone.map(({ id }) => ({ id, state: "fixed" })), ...entries];
      if (findingsProblem(ledger, answer) !== undefined) refused++;
      const hasChanged = (file: string, since: string) => (changedIn.get(file) ?? 0) > Number(since.slice(1));
      const context = { role: "reviewer", commit: `c${rounds}`, hasChanged };
      ledger = takeReview(ledger, answer, context).ledger;
      for (const defect of reported) seen.add(defect);
      joined += reported.filter((defect) => idOf(defect) === undefined).length;
      if (!ledger.findings.some(({ state }) => state === "open")) break;
    } else if (entries.length === 0) break;
    // The author mends two of three findings; each change touches the whole file.
    for (const defect of present) {
      if (!chance(0.67)) continue;
      present.delete(defect);
      fixed.add(defect);
      changedIn.set(defect.file, rounds + 1);
    }
  }
  const doubles = [...seen].filter(
    (defect) => ledger.findings.filter(({ title }) => defect.titles.includes(title)).length > 1,
  );
  return { rounds, reports, refused, joined, doubles: doubles.length, left: present.size };
}

function withoutFiles(plan: Plan): Plan {
  return { ...plan, items: plan.items.map((item) => ({ ...item, files: [] })) };
}

function ratios(values: readonly number[], of: readonly number[]): readonly number[] {
  return values.map((value, i) => value / (of[i] ?? value));
}

function spread(what: string, values: readonly number[], maxMean: number, maxP95: number): void {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor(part * (sorted.length - 1))] ?? 0;
  const mean = sum(values) / values.length;
  const isMissed = mean > maxMean || at(0.95) > maxP95;
  failed ||= isMissed;
  print(
    what,
    mean.toFixed(3),
    at(0.5).toFixed(3),
    at(0.95).toFixed(3),
    `≤ ${maxMean}, ${maxP95} ${isMissed ? "MISSED" : "ok"}`,
  );
}

function limit(what: string, value: number, max: number): void {
  failed ||= value > max;
  print(what, value.toFixed(3), "", "", `≤ ${max} ${value > max ? "MISSED" : "ok"}`);
}

function print(what: string, ...cells: readonly string[]): void {
  process.stdout.write(
    `${what.padEnd(46)}${cells.map((cell, i) => (i === 3 ? `  ${cell}` : cell.padStart(10))).join("")}`.trimEnd() +
      "\n",
  );
}
