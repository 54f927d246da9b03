import { type AnswerSchema, answerProblems } from "../answers/read-answer.ts";

/**
 * Decides what to do with the children of a fan-out now. Pure: the caller must record what it did before it calls
 * again. The items must be valid, as `readItems` returns them; an item without a child is waiting.
 */
export function nextChildren(items: readonly Item[], children: readonly Child[], options: FanOutOptions): NextChildren {
  const known = new Map(children.map((child) => [child.id, child]));
  const all = items.map(({ id }): Child => known.get(id) ?? { id, state: "waiting", tries: 0 });
  const running = idsOf(all, "running");
  const failed = all.filter((child) => child.state === "failed");
  const again = new Set(options.policy === "retry" ? idsOf(failed.filter(({ tries }) => tries < maxTries)) : []);
  const lost = [...idsOf(failed).filter((id) => !again.has(id)), ...idsOf(all, "skipped")];

  if (options.policy === "stop" && lost.length > 0) {
    const over = running.length > 0 ? undefined : ending("error", all);
    return { start: [], retry: [], skip: idsOf(all, "waiting"), stop: running, over };
  }

  const done = new Set(idsOf(all, "done"));
  const waiting = new Set(idsOf(all, "waiting"));
  const order = inOrder(items);
  const hopeless = withDependents(order, lost);
  const hasTurn = options.waves ? firstWaveOf(order, (id) => !done.has(id) && !hopeless.has(id)) : () => true;
  const startable = ({ id, needs }: Item) =>
    (waiting.has(id) || again.has(id)) && !hopeless.has(id) && needs.every((need) => done.has(need)) && hasTurn(id);
  const paths = remainingPaths(order);
  const chosen = items
    .filter(startable)
    .map(({ id }) => id)
    .sort((a, b) => (paths.get(b) ?? 0) - (paths.get(a) ?? 0))
    .slice(0, Math.max(0, slots(options.parallel) - running.length));
  return {
    start: chosen.filter((id) => waiting.has(id)),
    retry: chosen.filter((id) => again.has(id)),
    skip: [...waiting].filter((id) => hopeless.has(id)),
    stop: [],
    over: running.length + chosen.length > 0 ? undefined : ending("ok", all),
  };
}

/** With the policy `retry`, including the first try. */
const maxTries = 2;

/** One piece of the work, as an agent planned it. */
export interface Item {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** Ids of the items that must be done before this one starts. */
  readonly needs: readonly string[];
}

export interface Child {
  /** The id of its item. */
  readonly id: string;
  readonly state: "waiting" | "running" | "done" | "failed" | "skipped";
  /** How often it was started. */
  readonly tries: number;
}

export interface FanOutOptions {
  readonly parallel: number;
  /** Start a level only when the level before it has ended. */
  readonly waves: boolean;
  /**
   * retry: once more, then as continue. continue: skip the items that need a failed one. stop: the first failure ends
   * all.
   */
  readonly policy: "retry" | "continue" | "stop";
}

/** What to do now, by id: the items with the longest chain of dependents first. */
interface NextChildren {
  readonly start: readonly string[];
  readonly retry: readonly string[];
  readonly skip: readonly string[];
  readonly stop: readonly string[];
  /** Set once nothing runs and nothing can be started. Items in `skip` already count as failed. */
  readonly over: FanOutEnd | undefined;
}

interface FanOutEnd {
  readonly word: "ok" | "error";
  readonly done: number;
  readonly failed: number;
  readonly reason: string;
}

type ItemsReading =
  | { readonly ok: true; readonly items: readonly Item[] }
  | { readonly ok: false; readonly problem: string };

/** Reads an agent's plan. A plan that could never be finished is refused with a reason that names the items. */
export function readItems(value: unknown): ItemsReading {
  const [problem] = answerProblems(itemsSchema, { items: value });
  if (problem !== undefined) return { ok: false, problem };
  const items = (value as readonly (Pick<Item, "id" | "title"> & Partial<Item>)[]).map(
    ({ id, title, description = "", needs = [] }): Item => ({ id, title, description, needs: [...new Set(needs)] }),
  );
  const wrong = doubled(items) ?? wrongNeed(items) ?? cycle(items);
  return wrong === undefined ? { ok: true, items } : { ok: false, problem: wrong };
}

const itemsSchema: AnswerSchema = {
  properties: {
    items: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        required: ["id", "title"],
        properties: {
          id: { type: "string", minLength: 1, maxLength: 100 },
          title: { type: "string", minLength: 1 },
          description: { type: "string" },
          needs: { type: "array", items: { type: "string" } },
        },
      },
    },
  },
};

function doubled(items: readonly Item[]): string | undefined {
  const seen = new Set<string>();
  for (const { id } of items) {
    if (seen.has(id)) return `Two items have the id ${id}.`;
    seen.add(id);
  }
  return undefined;
}

function wrongNeed(items: readonly Item[]): string | undefined {
  const ids = new Set(items.map(({ id }) => id));
  for (const { id, needs } of items) {
    if (needs.includes(id)) return `${id} needs itself.`;
    const unknown = needs.find((need) => !ids.has(need));
    if (unknown !== undefined) return `${id} needs ${unknown}, which is not among the items.`;
  }
  return undefined;
}

function cycle(items: readonly Item[]): string | undefined {
  const sorted = new Set(inOrder(items));
  const unsorted = new Map(items.filter((item) => !sorted.has(item)).map((item) => [item.id, item]));
  // Each of these needs another of them, so following the needs must lead into a cycle.
  const walk: string[] = [];
  let at = [...unsorted.keys()][0];
  while (at !== undefined && !walk.includes(at)) {
    walk.push(at);
    at = unsorted.get(at)?.needs.find((need) => unsorted.has(need));
  }
  if (at === undefined) return undefined;
  const round = [...walk.slice(walk.indexOf(at)), at];
  const steps = round.slice(1).map((need, index) => `${round[index]} needs ${need}`);
  // The beginning and the end of a long cycle are enough to find it.
  return `${(steps.length > 10 ? [...steps.slice(0, 9), "…", steps.at(-1)] : steps).join(", ")}.`;
}

/** Topological order, otherwise as in the plan. Items that are on a cycle or need one are left out. */
function inOrder(items: readonly Item[]): readonly Item[] {
  const missing = new Map(items.map((item) => [item, item.needs.length]));
  const dependents = Map.groupBy(
    items.flatMap((item) => item.needs.map((need) => ({ need, item }))),
    ({ need }) => need,
  );
  const order = items.filter(({ needs }) => needs.length === 0);
  for (const { id } of order) {
    for (const { item } of dependents.get(id) ?? []) {
      const count = (missing.get(item) ?? 0) - 1;
      missing.set(item, count);
      if (count === 0) order.push(item);
    }
  }
  return order;
}

function withDependents(order: readonly Item[], ids: readonly string[]): ReadonlySet<string> {
  const reached = new Set(ids);
  for (const { id, needs } of order) if (needs.some((need) => reached.has(need))) reached.add(id);
  return reached;
}

/** The length of the longest chain of dependents that begins with an item, itself included. */
function remainingPaths(order: readonly Item[]): ReadonlyMap<string, number> {
  const paths = new Map<string, number>();
  for (const { id, needs } of order.toReversed()) {
    const path = paths.get(id) ?? 1;
    paths.set(id, path);
    for (const need of needs) paths.set(need, Math.max(paths.get(need) ?? 1, path + 1));
  }
  return paths;
}

/** Returns whether an item is of the lowest level that still has an open item. */
function firstWaveOf(order: readonly Item[], isOpen: (id: string) => boolean): (id: string) => boolean {
  const levels = new Map<string, number>();
  let first = order.length;
  for (const { id, needs } of order) {
    const level = needs.reduce((highest, need) => Math.max(highest, (levels.get(need) ?? 0) + 1), 0);
    levels.set(id, level);
    if (isOpen(id)) first = Math.min(first, level);
  }
  return (id) => levels.get(id) === first;
}

/** An invalid number must not leave the children waiting for ever. */
function slots(parallel: number): number {
  return parallel >= 1 ? Math.floor(parallel) : 1;
}

function idsOf(children: readonly Child[], state?: Child["state"]): readonly string[] {
  return children.filter((child) => state === undefined || child.state === state).map(({ id }) => id);
}

function ending(word: "ok" | "error", all: readonly Child[]): FanOutEnd {
  const done = idsOf(all, "done").length;
  const failed = idsOf(all, "failed");
  const skipped = [...idsOf(all, "skipped"), ...idsOf(all, "waiting")];
  const parts = [`${done} of ${all.length} done.`];
  if (failed.length > 0) parts.push(`Failed: ${failed.join(", ")}.`);
  if (skipped.length > 0) parts.push(`Skipped: ${skipped.join(", ")}.`);
  return { word, done, failed: all.length - done, reason: parts.join(" ") };
}
