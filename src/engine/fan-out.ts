import { type AnswerSchema, answerProblems } from "../answers/read-answer.ts";
import { show } from "../answers/schema.ts";
import { readFile } from "./plan-files.ts";
import { type Item, type PlanOrder, planOrder, rank } from "./plan-order.ts";

export type { Item } from "./plan-order.ts";

/**
 * Decides what to do with the children of a fan-out now. Pure: the caller must record what it did before it calls
 * again. The items must be valid, as `readItems` returns them; an item without a child is waiting. The order of a plan is
 * worked out once for each list of items, so give the same list each time.
 */
export function nextChildren(items: readonly Item[], children: readonly Child[], options: FanOutOptions): NextChildren {
  const plan = planOrder(items);
  const { states, counts } = statesOf(items, children, plan, options);
  const idsIn = (state: number) => items.filter((_, place) => states[place] === state).map(({ id }) => id);
  const [, busy = 0, , lost = 0, skips = 0] = counts;
  const isLost = lost + skips > 0;

  if (options.policy === "stop" && isLost) {
    const over = busy > 0 ? undefined : ending("error", idsIn);
    return { start: [], retry: [], skip: idsIn(waiting), stop: idsIn(running), over };
  }

  const hopeless = isLost ? withDependents(plan, states) : noPlaces;
  const free = slots(options.parallel) - busy;
  const { waves, blocked = noItems } = options;
  const chosen = free > 0 ? choose(items, plan, { states, hopeless, free, waves, blocked }) : [];
  const isBlocked = blocked.size > 0 && items.some(({ id }, at) => states[at] === waiting && blocked.has(id));
  const idsOf = (state: number) =>
    chosen.filter((place) => states[place] === state).map((place) => items[place]?.id ?? "");
  return {
    start: idsOf(waiting),
    retry: idsOf(again),
    skip: isLost ? items.filter((_, at) => states[at] === waiting && hopeless.has(at)).map(({ id }) => id) : [],
    stop: [],
    over: busy > 0 || chosen.length > 0 || isBlocked ? undefined : ending("ok", idsIn),
  };
}

/** With the policy `retry`, including the first try. */
const maxTries = 2;

const waiting = 0;
const running = 1;
const done = 2;
const failed = 3;
const skipped = 4;
/** Failed, and to be tried once more. */
const again = 5;
const codes: Readonly<Record<Child["state"], number>> = { waiting, running, done, failed, skipped };
const noItems: ReadonlySet<string> = new Set();
const noPlaces: ReadonlySet<number> = new Set();

// This and `choose` look at every child after each change; loops over numbers take a tenth of the time.
function statesOf(
  items: readonly Item[],
  children: readonly Child[],
  { places }: PlanOrder,
  { policy }: FanOutOptions,
): { readonly states: Uint8Array; readonly counts: Int32Array } {
  const states = new Uint8Array(items.length);
  for (let index = 0; index < children.length; index++) {
    const { id, state, tries } = children[index] as Child;
    // Children usually come in the order of the plan.
    const place = items[index]?.id === id ? index : places.get(id);
    if (place === undefined) continue;
    states[place] = state === "failed" && policy === "retry" && tries < maxTries ? again : codes[state];
  }
  const counts = new Int32Array(6);
  for (let place = 0; place < states.length; place++) {
    const state = states[place] as number;
    counts[state] = (counts[state] as number) + 1;
  }
  return { states, counts };
}

interface Choice {
  readonly states: Uint8Array;
  readonly hopeless: ReadonlySet<number>;
  /** Slots, at least one. */
  readonly free: number;
  readonly waves: boolean;
  readonly blocked: ReadonlySet<string>;
}

/**
 * The items to start now, the most urgent first. One that shares a file with a running child lets others go first, but
 * no slot stays free for that.
 */
function choose(
  items: readonly Item[],
  plan: PlanOrder,
  { states, hopeless, free, waves, blocked }: Choice,
): readonly number[] {
  const wave = waves ? firstWave(plan, (place) => states[place] !== done && !hopeless.has(place)) : undefined;
  const ranked = hopeless.size > 0 ? rank(items, plan, (place) => !hopeless.has(place)) : plan.ranked;
  const taken = new Uint8Array(plan.fileCount);
  const take = (place: number) => {
    for (const file of plan.files[place] ?? []) for (const other of plan.overlaps(file)) taken[other] = 1;
  };
  if (plan.fileCount > 0)
    for (let place = 0; place < states.length; place++) if (states[place] === running) take(place);
  const chosen: number[] = [];
  const sharers: number[] = [];
  for (const place of ranked) {
    const state = states[place];
    if ((state !== waiting && state !== again) || (wave !== undefined && plan.levels[place] !== wave)) continue;
    if (plan.needs[place]?.some((need) => states[need] !== done)) continue;
    if (state === waiting && blocked.has(items[place]?.id ?? "")) continue;
    if (plan.files[place]?.some((file) => taken[file] === 1)) {
      sharers.push(place);
      continue;
    }
    chosen.push(place);
    if (chosen.length === free) return chosen;
    take(place);
  }
  return [...chosen, ...sharers.slice(0, free - chosen.length)];
}

/** The lowest level that still has an open item. */
function firstWave({ levels }: PlanOrder, isOpen: (place: number) => boolean): number {
  return levels.reduce((first, level, place) => (level < first && isOpen(place) ? level : first), levels.length);
}

/** The items that failed or were skipped, and all that need them. */
function withDependents({ dependents }: PlanOrder, states: Uint8Array): ReadonlySet<number> {
  const reached = new Set<number>();
  for (const [place, state] of states.entries()) if (state === failed || state === skipped) reached.add(place);
  // A set is walked in the order of its growth, to its new end.
  for (const place of reached) for (const next of dependents[place] ?? []) reached.add(next);
  return reached;
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
  /** The items whose children may not start yet, whatever the plan says; none where it is missing. */
  readonly blocked?: ReadonlySet<string>;
}

/** What to do now, by id: the items with the longest chain of dependents first. */
export interface NextChildren {
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

export type ItemsReading =
  | { readonly ok: true; readonly items: readonly Item[] }
  | { readonly ok: false; readonly problem: string };

/**
 * Reads a plan, as an agent answered or a person edited it. `name` is what the plan calls its list. A plan that could never
 * be finished is refused with a sentence that names the items and says what to change.
 */
export function readItems(value: unknown, name = "items"): ItemsReading {
  const problem = sizeProblem(value) ?? answerProblems({ properties: { [name]: listSchema } }, { [name]: value })[0];
  if (problem !== undefined) return { ok: false, problem };
  const written = (value as readonly WrittenItem[]).map(
    ({ id, title, description = "", needs = [], files = [], size = "M" }): Item => {
      return { id, title, description, needs: [...new Set(needs)], files, size };
    },
  );
  const wrong = wrongId(written) ?? doubled(written) ?? wrongNeed(written) ?? cycle(written) ?? wrongFile(written);
  if (wrong !== undefined) return { ok: false, problem: wrong };
  return { ok: true, items: written.map((item) => ({ ...item, files: [...new Set(item.files.flatMap(fileIn))] })) };
}

type WrittenItem = Pick<Item, "id" | "title"> & Partial<Item>;

const maxItems = 500;

const listSchema: AnswerSchema = {
  type: "array",
  items: {
    type: "object",
    required: ["id", "title"],
    properties: {
      id: { type: "string", minLength: 1 },
      title: { type: "string", minLength: 1 },
      description: { type: "string" },
      needs: { type: "array", items: { type: "string" } },
      files: { type: "array", maxItems: 200, items: { type: "string", maxLength: 500 } },
      size: { enum: ["S", "M", "L"] },
    },
  },
};

/** The fields of an item. */
export const itemFields: readonly string[] = Object.keys(listSchema.items?.properties ?? {});

function sizeProblem(value: unknown): string | undefined {
  if (!Array.isArray(value)) return undefined;
  if (value.length === 0) return "The plan is empty. Give it at least one item, with an id and a title.";
  if (value.length <= maxItems) return undefined;
  return `The plan has ${value.length} items, but may have at most ${maxItems}. Join small ones.`;
}

const maxId = 64;

/** Ids are shown in lines and typed in commands, so they have no spaces, line breaks or control characters. */
function wrongId(items: readonly Item[]): string | undefined {
  const wrong = items.find(({ id }) => id.length > maxId || !/^[A-Za-z0-9._-]+$/.test(id));
  if (wrong === undefined) return undefined;
  return `The id ${shown(wrong.id)} cannot be used. Use up to ${maxId} letters, digits, ".", "_" and "-", such as "login-form".`;
}

function doubled(items: readonly Item[]): string | undefined {
  const seen = new Set<string>();
  for (const { id } of items) {
    if (seen.has(id)) return `Two items have the id ${shown(id)}. Give each item an id of its own.`;
    seen.add(id);
  }
  return undefined;
}

function wrongNeed(items: readonly Item[]): string | undefined {
  const ids = new Set(items.map(({ id }) => id));
  for (const { id, needs } of items) {
    if (needs.includes(id)) return `${shown(id)} needs itself. Remove ${shown(id)} from its needs.`;
    const unknown = needs.find((need) => !ids.has(need));
    if (unknown === undefined) continue;
    return `${shown(id)} needs ${shown(unknown)}, which is not among the items. Add such an item, or remove that need.`;
  }
  return undefined;
}

function cycle(items: readonly Item[]): string | undefined {
  const { sorted, needs } = planOrder(items);
  const isSorted = new Set(sorted);
  // Each of the others needs another of them, so following the needs must lead into a cycle.
  const walk: number[] = [];
  let at = [...items.keys()].find((place) => !isSorted.has(place));
  while (at !== undefined && !walk.includes(at)) {
    walk.push(at);
    at = needs[at]?.find((need) => !isSorted.has(need));
  }
  if (at === undefined) return undefined;
  const round = [...walk.slice(walk.indexOf(at)), at].map((place) => shown(items[place]?.id ?? ""));
  const steps = round.slice(1).map((need, index) => `${round[index]} needs ${need}`);
  // The beginning and the end of a long cycle are enough to find it.
  const named = (steps.length > 10 ? [...steps.slice(0, 9), "…", steps.at(-1)] : steps).join(", ");
  return `${named}. Remove one of these needs, because items that wait for each other never start.`;
}

function wrongFile(items: readonly Item[]): string | undefined {
  for (const { id, files } of items) {
    for (const file of files) {
      const read = readFile(file);
      if (!read.ok) return `${shown(id)} names the file ${show(file)}, ${read.problem}`;
    }
  }
  return undefined;
}

function fileIn(written: string): readonly string[] {
  const read = readFile(written);
  return read.ok ? [read.file] : [];
}

/** An id as it is, or in quotes where it would not be seen as one word. */
function shown(id: string): string {
  return /^[\w.:/#-]+$/.test(id) ? id : show(id);
}

/** An invalid number must not leave the children waiting for ever. */
function slots(parallel: number): number {
  return parallel >= 1 ? Math.floor(parallel) : 1;
}

function ending(word: "ok" | "error", idsIn: (state: number) => readonly string[]): FanOutEnd {
  const finished = idsIn(done).length;
  const lost = idsIn(failed);
  const left = [...idsIn(skipped), ...idsIn(waiting)];
  const all = finished + lost.length + left.length;
  const parts = [`${finished} of ${all} done.`];
  if (lost.length > 0) parts.push(`Failed: ${lost.join(", ")}.`);
  if (left.length > 0) parts.push(`Skipped: ${left.join(", ")}.`);
  return { word, done: finished, failed: all - finished, reason: parts.join(" ") };
}
