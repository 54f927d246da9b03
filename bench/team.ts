// How well and how fast the children of a plan are given out, without a daemon: plans are run to their end with `nextChildren`
// and a simulated clock. The lower bound of a plan is its longest chain, or all its work divided by the agents. No order is
// faster, and for many plans none is as fast: where one item joins everything, the other agents must wait for it. So the
// plans have the width that an architect is asked for, which is work for all engineers.
//
// Durations are drawn around what the sizes say, so that a size is an estimate; a second time they are exactly that.
import { type Child, type FanOutOptions, type Item, nextChildren } from "../src/engine/fan-out.ts";
import { emptyLedger, findingsProblem, takeReview } from "../src/engine/findings.ts";
import { weights } from "../src/engine/plan-order.ts";
import { type Defect, defects } from "./defects.ts";

const plans = 400;
const sizes = ["S", "M", "L"] as const;

interface Plan {
  readonly items: readonly Item[];
  readonly agents: number;
  /** How long each item takes. */
  readonly durations: ReadonlyMap<string, number>;
}

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

// The same with a daemon and git, 60 items and 8 scripted agents, belongs here.
process.exit(failed ? 1 : 0);

/**
 * Runs a plan to its end, asking once for each change: a child has ended, and others were started in its place. For each
 * start, `starts` has the children that were running.
 */
function run({ items, agents, durations }: Plan, options: Partial<FanOutOptions> = {}) {
  const places = new Map(items.map(({ id }, place) => [id, place]));
  const children: Child[] = items.map(({ id }) => ({ id, state: "waiting", tries: 0 }));
  const running = new Map<string, number>();
  const starts: { readonly id: string; readonly beside: readonly string[] }[] = [];
  const changes: (readonly [number, Child])[][] = [[]];
  let clock = 0;
  const set = (id: string, state: Child["state"]) => {
    const place = places.get(id) ?? 0;
    children[place] = { id, state, tries: 1 };
    changes.at(-1)?.push([place, children[place]]);
  };
  for (;;) {
    const next = nextChildren(items, children, { parallel: agents, waves: false, policy: "continue", ...options });
    changes.push([]);
    for (const id of next.start) {
      starts.push({ id, beside: [...running.keys()] });
      running.set(id, clock + (durations.get(id) ?? 0));
      set(id, "running");
    }
    if (next.over !== undefined) return { makespan: clock, starts, changes };
    let first = "";
    for (const [id, end] of running) if (first === "" || end < (running.get(first) ?? 0)) first = id;
    clock = running.get(first) ?? clock;
    running.delete(first);
    set(first, "done");
  }
}

function bound({ items, agents, durations }: Plan): number {
  const ends = new Map<string, number>();
  for (const { id, needs } of items)
    ends.set(id, (durations.get(id) ?? 0) + Math.max(0, ...needs.map((need) => ends.get(need) ?? 0)));
  return Math.max(...ends.values(), sum([...durations.values()]) / agents);
}

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

function drawPlan(seed: number): Plan {
  const draw = random(seed);
  const count = 20 + Math.floor(draw() * 181);
  const shape = (["random", "layers", "chains", "fork-join"] as const)[seed % 4] ?? "random";
  const agents = 2 + Math.floor(draw() * 15);
  const items = drawItems(draw, shape, count, agents);
  // An estimate is right on average, and in two of three cases within 2/3 and 3/2.
  const durations = new Map(items.map(({ id, size }) => [id, weights[size] * Math.exp(0.4 * normal(draw))]));
  return { items, agents, durations };
}

type Shape = "random" | "layers" | "chains" | "fork-join";

function drawItems(draw: () => number, shape: Shape, count: number, agents: number): readonly Item[] {
  const whole = (most: number) => Math.floor(draw() * most);
  const needs = needsOf(shape, count, agents, whole);
  const folders = Math.max(3, Math.round(count / 10));
  return needs.map((each, place): Item => {
    const size = sizes[draw() < 0.35 ? 0 : draw() < 0.65 ? 1 : 2] ?? "M";
    // Most work is in files of its own; some files are everybody's.
    const files = [`src/part-${place}.ts`];
    if (draw() < 0.3) files.push(`src/folder-${whole(folders)}/index.ts`);
    if (draw() < 0.08) files.push(["README.md", "package.json"][whole(2)] ?? "");
    return {
      id: `i${place}`,
      title: "",
      description: "",
      needs: [...new Set(each)].map((need) => `i${need}`),
      files,
      size,
    };
  });
}

function needsOf(
  shape: Shape,
  count: number,
  agents: number,
  whole: (most: number) => number,
): readonly (readonly number[])[] {
  const list = Array.from({ length: count }, (_, place) => place);
  switch (shape) {
    // Each needs up to three of those before it.
    case "random":
      return list.map((place) => Array.from({ length: Math.min(place, whole(4)) }, () => whole(place)));
    // Layers of different widths; each item needs one of the layer before, and perhaps any earlier one.
    case "layers": {
      const layers: number[][] = [];
      for (let place = 0; place < count; ) {
        const width = Math.min(count - place, agents + whole(2 * agents));
        layers.push(Array.from({ length: width }, (_, i) => place + i));
        place += width;
      }
      return layers.flatMap((layer, depth) => {
        const before = layers[depth - 1] ?? [];
        const first = layer[0] ?? 0;
        return layer.map(() =>
          depth === 0 ? [] : [before[whole(before.length)] ?? 0, ...(whole(2) === 0 ? [whole(first)] : [])],
        );
      });
    }
    // Chains of different lengths; some items need one of another chain too.
    case "chains": {
      const chains = agents + whole(2 * agents);
      const last: number[] = [];
      return list.map((place) => {
        const chain = whole(chains);
        const before = last[chain];
        last[chain] = place;
        const other = place > 0 && whole(10) === 0 ? [whole(place)] : [];
        return before === undefined ? other : [before, ...other];
      });
    }
    // Several parts side by side: in each, one item first, then branches of one to three items, then one that joins them.
    case "fork-join": {
      const needs: number[][] = [];
      while (needs.length < count) {
        const first = needs.length;
        const size = Math.min(count - first, 3 + whole(8));
        const ends: number[] = [];
        needs.push([]);
        while (needs.length - first < size - 1) {
          const length = Math.min(size - 1 - (needs.length - first), 1 + whole(3));
          for (let i = 0; i < length; i++) needs.push([i === 0 ? first : needs.length - 1]);
          ends.push(needs.length - 1);
        }
        if (size > 1) needs.push(ends);
      }
      return needs;
    }
  }
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
  const changed = new Set<string>();
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
      const context = { role: "reviewer", commit: `c${rounds}`, hasChanged: (file: string) => changed.has(file) };
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
      changed.add(defect.file);
    }
  }
  const doubles = [...seen].filter(
    (defect) => ledger.findings.filter(({ title }) => defect.titles.includes(title)).length > 1,
  );
  return { rounds, reports, refused, joined, doubles: doubles.length, left: present.size };
}

function exactly(items: readonly Item[]): ReadonlyMap<string, number> {
  return new Map(items.map(({ id, size }) => [id, weights[size]]));
}

function withoutFiles(plan: Plan): Plan {
  return { ...plan, items: plan.items.map((item) => ({ ...item, files: [] })) };
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function random(seed: number): () => number {
  let state = seed * 0x9e3779b1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function normal(draw: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
}

function ratios(values: readonly number[], of: readonly number[]): readonly number[] {
  return values.map((value, i) => value / (of[i] ?? value));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
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
