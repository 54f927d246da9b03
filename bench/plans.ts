// Plans by lot, and the life of a plan with a simulated clock.
import { type Child, type FanOutOptions, type Item, nextChildren } from "../src/engine/fan-out.ts";
import { weights } from "../src/engine/plan-order.ts";

const sizes = ["S", "M", "L"] as const;

export interface Plan {
  readonly items: readonly Item[];
  readonly agents: number;
  /** How long each item takes. */
  readonly durations: ReadonlyMap<string, number>;
}

/**
 * Runs a plan to its end, asking once for each change: a child has ended, and others were started in its place. For each
 * start, `starts` has the children that were running.
 */
export function run({ items, agents, durations }: Plan, options: Partial<FanOutOptions> = {}) {
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

export function bound({ items, agents, durations }: Plan): number {
  const ends = new Map<string, number>();
  for (const { id, needs } of items)
    ends.set(id, (durations.get(id) ?? 0) + Math.max(0, ...needs.map((need) => ends.get(need) ?? 0)));
  return Math.max(...ends.values(), sum([...durations.values()]) / agents);
}

export function drawPlan(seed: number): Plan {
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

export function drawItems(draw: () => number, shape: Shape, count: number, agents: number): readonly Item[] {
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

export function exactly(items: readonly Item[]): ReadonlyMap<string, number> {
  return new Map(items.map(({ id, size }) => [id, weights[size]]));
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function random(seed: number): () => number {
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
