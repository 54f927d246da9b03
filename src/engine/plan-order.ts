import { createOverlaps } from "./plan-files.ts";

/** One piece of the work, as an agent planned it. */
export interface Item {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** Ids of the items that must be done before this one starts. */
  readonly needs: readonly string[];
  /** Paths and globs of the repository that it is expected to change; empty where that is not known. */
  readonly files: readonly string[];
  /** The work in it, compared with the other items. */
  readonly size: Size;
}

export type Size = "S" | "M" | "L";

/** What a plan says about its order before any item runs. An item is a number here: its place in the plan. */
export interface PlanOrder {
  readonly places: ReadonlyMap<string, number>;
  readonly needs: readonly (readonly number[])[];
  readonly dependents: readonly (readonly number[])[];
  /** Topological, otherwise as in the plan. Items that are on a cycle or need one are missing. */
  readonly sorted: readonly number[];
  /** For each item, the length of the longest chain of needs before it. */
  readonly levels: readonly number[];
  /** For each item, the work of all others that share a file with it. */
  readonly crowds: readonly number[];
  /** The most urgent item first. */
  readonly ranked: readonly number[];
  /** The files of each item. A file is a number, too. */
  readonly files: readonly (readonly number[])[];
  /** The files that can share a path with this one; each may be a glob. */
  readonly overlaps: (file: number) => readonly number[];
  readonly fileCount: number;
}

// A cache: the engine asks for the order after each change of a child, and the plan stays the same.
const known = new WeakMap<readonly Item[], PlanOrder>();

export function planOrder(items: readonly Item[]): PlanOrder {
  const before = known.get(items);
  if (before !== undefined) return before;
  const order = workOut(items);
  known.set(items, order);
  return order;
}

function workOut(items: readonly Item[]): PlanOrder {
  const places = new Map(items.map(({ id }, place) => [id, place]));
  const needs = items.map((item) => item.needs.flatMap((need) => places.get(need) ?? []));
  const dependents: number[][] = items.map(() => []);
  for (const [place, each] of needs.entries()) for (const need of each) dependents[need]?.push(place);
  const sorted = sortedPlaces(needs, dependents);
  const levels = items.map(() => 0);
  for (const place of sorted)
    levels[place] = (needs[place] ?? []).reduce((level, need) => Math.max(level, (levels[need] ?? 0) + 1), 0);
  const names = [...new Set(items.flatMap(({ files }) => files))];
  const numbers = new Map(names.map((name, number) => [name, number]));
  const files = items.map((item) => item.files.flatMap((file) => numbers.get(file) ?? []));
  const overlaps = createOverlaps(names);
  const crowds = crowdsOf(items, files, overlaps, names.length);
  const parts = { places, needs, dependents, sorted, levels, crowds, files, overlaps, fileCount: names.length };
  return { ...parts, ranked: rank(items, parts, () => true) };
}

function sortedPlaces(needs: PlanOrder["needs"], dependents: PlanOrder["dependents"]): readonly number[] {
  const missing = needs.map((each) => each.length);
  const sorted = [...missing.keys()].filter((place) => missing[place] === 0);
  for (const done of sorted) {
    for (const place of dependents[done] ?? []) {
      const count = (missing[place] ?? 0) - 1;
      missing[place] = count;
      if (count === 0) sorted.push(place);
    }
  }
  return sorted;
}

function crowdsOf(
  items: readonly Item[],
  files: PlanOrder["files"],
  overlaps: PlanOrder["overlaps"],
  fileCount: number,
): readonly number[] {
  const users: number[][] = Array.from({ length: fileCount }, () => []);
  for (const [place, each] of files.entries()) for (const file of each) users[file]?.push(place);
  return files.map((each, place) => {
    const others = new Set(each.flatMap((file) => overlaps(file).flatMap((other) => users[other] ?? [])));
    others.delete(place);
    return [...others].reduce((sum, other) => sum + weightOf(items[other]), 0);
  });
}

/**
 * The relative duration of each size. If the true ratio is anywhere between 1 : 2 : 3 and 1 : 4 : 16, a plan takes at
 * most 0.3 % longer with these weights than with the true ones (measured with the plans of `bench/team.ts`).
 */
export const weights: Readonly<Record<Size, number>> = { S: 1, M: 3, L: 8 };

function weightOf(item: Item | undefined): number {
  return weights[item?.size ?? "M"];
}

/**
 * How much more urgent an item gets for each unit of work that shares a file with it. If such items start early, the
 * items that can run beside the others are left for later. In `bench/team.ts` a larger factor avoids no more conflicts,
 * and takes longer.
 */
const crowdFactor = 2;

/**
 * Sorts the items that `counts` accepts, the most urgent first. An item is urgent if the work of its longest chain of
 * dependents, itself included, is large, and if many other items need its files. Of equals the first in the plan wins.
 */
export function rank(
  items: readonly Item[],
  { sorted, dependents, crowds }: Pick<PlanOrder, "sorted" | "dependents" | "crowds">,
  counts: (place: number) => boolean,
): readonly number[] {
  const paths = items.map(() => 0);
  for (const place of sorted.toReversed()) {
    const after = (dependents[place] ?? []).reduce(
      (longest, next) => (counts(next) ? Math.max(longest, paths[next] ?? 0) : longest),
      0,
    );
    paths[place] = after + weightOf(items[place]);
  }
  const urgencies = paths.map((path, place) => path + crowdFactor * (crowds[place] ?? 0));
  return [...items.keys()].filter(counts).sort((a, b) => (urgencies[b] ?? 0) - (urgencies[a] ?? 0) || a - b);
}

/** The pairs of items that share a file although neither item waits for the other, with the first shared file. */
export function sharedFiles(
  items: readonly Item[],
): readonly { readonly one: string; readonly other: string; readonly file: string }[] {
  const { needs, sorted, files, overlaps } = planOrder(items);
  const before: ReadonlySet<number>[] = items.map(() => new Set());
  for (const place of sorted)
    before[place] = new Set((needs[place] ?? []).flatMap((need) => [need, ...(before[need] ?? [])]));
  return items.flatMap(({ id, files: names }, one) =>
    items.slice(one + 1).flatMap((item, next) => {
      const other = one + 1 + next;
      if (before[one]?.has(other) || before[other]?.has(one)) return [];
      const theirs = new Set(files[other]);
      const at = (files[one] ?? []).findIndex((file) => overlaps(file).some((each) => theirs.has(each)));
      return at < 0 ? [] : [{ one: id, other: item.id, file: names[at] ?? "" }];
    }),
  );
}
