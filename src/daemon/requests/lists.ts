import type { Routes } from "../../api/routes.ts";
import type { TaskSort } from "../../api/task-lists.ts";
import type { Need } from "../../engine/needs.ts";
import { type TaskGroup, taskGroups } from "../../engine/task-group.ts";
import { Fault } from "../../fault.ts";
import type { StoredTask } from "../../ports/store.ts";
import type { Core } from "../core.ts";
import type { Handler } from "../handlers.ts";
import { mustHave } from "../project.ts";
import { groupOfTask, isOver } from "../task-groups.ts";
import type { IndexedTask } from "../task-index.ts";
import { rowOf } from "../task-rows.ts";
import { wholeNumber } from "../whole-number.ts";

type ListQuery = NonNullable<Parameters<Handler<Routes["listTasks"]>>[0]["query"]>;

const defaultPage = 100;
const maxTasks = 1_000;

export function listTasks(core: Core): Handler<Routes["listTasks"]> {
  return async ({ query }) => {
    const limit = wholeNumber("limit", query.limit, 1, maxTasks) ?? defaultPage;
    const { sort = "newest", open, group, needs: onlyNeeding } = query;
    const searched = [group, query.label, query.q, query.ids];
    const isSearch = searched.some((each) => each !== undefined) || sort !== "newest";
    const isIndexed = isSearch || core.taskIndex.isReady();
    const found: { readonly stored: StoredTask; readonly needs: readonly Need[]; readonly cursor: number | string }[] =
      [];
    // One task more than is wanted tells whether there is a next page.
    for await (const { stored, cursor } of isIndexed ? sorted(core, query, sort) : newest(core, query, limit + 1)) {
      const needs = await core.needs.of(stored);
      const isMeant =
        (onlyNeeding === undefined || needs.length > 0) &&
        (open === undefined || (await isOver(core, stored)) === (open === "false")) &&
        (group === undefined || (await groupOfTask(core, stored, needs)) === group);
      if (isMeant) found.push({ stored, needs, cursor });
      if (found.length > limit) break;
    }
    const page = found.slice(0, limit);
    const tasks = await Promise.all(page.map(({ stored, needs }) => rowOf(core, stored, needs)));
    return { tasks, next: found.length > limit ? (page.at(-1)?.cursor ?? null) : null };
  };
}

interface Candidate {
  readonly stored: StoredTask;
  /** Continues the list behind the task. */
  readonly cursor: number | string;
}

/** The newest first, straight from the store: nobody has searched yet. */
async function* newest({ store }: Core, query: ListQuery, limit: number): AsyncGenerator<Candidate> {
  const { project, status, parent, open, needs } = query;
  const filter = {
    ...(project === undefined ? {} : { project }),
    ...(status === undefined ? {} : { status }),
    ...(parent === undefined ? {} : { parent }),
    // Among the tasks that are over are some that the store still keeps open.
    ...(needs !== undefined || open === "true" ? { isOpen: true } : {}),
  };
  // Filtering by need may drop most tasks of a page, so pages are as large as possible.
  const size = needs === undefined ? limit : maxTasks;
  for (let last = wholeNumber("before", query.before, 0); ; ) {
    const page = await store.listTasks(filter, last === undefined ? { limit: size } : { before: last, limit: size });
    for (const stored of page) yield { stored, cursor: stored.order };
    last = page.at(-1)?.order;
    if (page.length < size) return;
  }
}

/** In the order of `sort`, and the newest first where that is equal; only tasks that the index can tell are meant. */
async function* sorted(core: Core, query: ListQuery, sort: TaskSort): AsyncGenerator<Candidate> {
  const { project, status, parent, label, group, needs, open } = query;
  const ids = query.ids === undefined ? undefined : new Set(query.ids.split(","));
  const words = (query.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const onlyOpen = needs !== undefined || open === "true" || (group !== undefined && group !== "over");
  const isMeant = (task: IndexedTask) =>
    (ids === undefined || ids.has(task.id)) &&
    (project === undefined || task.project === project) &&
    (status === undefined || task.status === status) &&
    (parent === undefined || task.parent === parent) &&
    (label === undefined || task.labels.includes(label)) &&
    (!onlyOpen || task.open !== undefined) &&
    words.every((word) => task.text.includes(word));
  const keyOf = await sortKeys(core, sort);
  const from = readCursor(query.before, sort);
  const isBehind = (place: Place) => from === undefined || inOrder(from, place) < 0;
  const all = await core.taskIndex.all();
  const places = function* () {
    for (const task of all) if (isMeant(task)) yield { task, key: keyOf(task) };
  };
  // All come with the newest first, so that a page of those needs no look at the others.
  const wanted = sort === "newest" ? places() : [...places()].sort((one, other) => other.key - one.key);
  for (const { task, key } of wanted) {
    const { id, order } = task;
    if (!isBehind({ key, order })) continue;
    // A task that has changed since, or was deleted, is read again.
    const stored = task.open ?? (await core.store.getTask(id));
    if (stored !== undefined) yield { stored, cursor: sort === "newest" ? order : `${sort}:${key}:${order}` };
  }
}

/** A task's place in a list: the larger key first, then the newer task. No two tasks have the same order. */
interface Place {
  readonly key: number;
  readonly order: number;
}

function inOrder(one: Place, other: Place): number {
  return other.key - one.key || other.order - one.order;
}

/** What a list is sorted by, so that the largest comes first. */
async function sortKeys(core: Core, sort: TaskSort): Promise<(task: IndexedTask) => number> {
  switch (sort) {
    case "newest":
      return () => 0;
    case "updated":
      return ({ updatedAt }) => updatedAt;
    case "priority":
      return ({ priority }) => priority;
    case "cost": {
      const used = core.agents?.book.byTask();
      return ({ id }) => {
        const { cost = 0, runs = 0, unknown = 0 } = used?.get(id) ?? {};
        return runs > 0 && unknown === runs ? -1 : cost;
      };
    }
    case "waiting": {
      const needs = await core.needs.all();
      return ({ id }) => {
        const since = (needs.get(id) ?? []).map((need) => need.since);
        return since.length === 0 ? -Number.MAX_SAFE_INTEGER : -Math.min(...since);
      };
    }
  }
}

function readCursor(before: string | undefined, sort: TaskSort): Place | undefined {
  if (before === undefined || before === "") return undefined;
  if (sort === "newest") return { key: 0, order: wholeNumber("before", before, 0) ?? 0 };
  const [, of, key, order] = /^(\w+):(-?\d[\d.e+-]*):(\d+)$/.exec(before) ?? [];
  if (of === sort && Number.isFinite(Number(key)) && Number.isSafeInteger(Number(order)))
    return { key: Number(key), order: Number(order) };
  throw new Fault("request.invalid", `"before" must be the "next" of a page sorted by "${sort}", but is "${before}".`, {
    hint: "Leave it out for the first page.",
  });
}

export function countTasks(core: Core): Handler<Routes["countTasks"]> {
  return async ({ query }) => {
    const names =
      query.project === undefined
        ? (await core.store.listProjects()).map(({ name }) => name)
        : [(await mustHave(core, query.project)).name];
    const counts = new Map(names.map((name) => [name, blank()]));
    const needs = await core.needs.all();
    for (const { open } of await core.taskIndex.all()) {
      const own = open && counts.get(open.task.project);
      if (own) own[await groupOfTask(core, open, needs.get(open.task.id) ?? [])]++;
    }
    const closed = await core.taskIndex.closed();
    for (const [name, own] of counts) own.over += closed.get(name) ?? 0;
    const all = blank();
    for (const own of counts.values()) for (const group of taskGroups) all[group] += own[group];
    return { all, projects: [...counts].map(([project, own]) => ({ project, ...own })) };
  };
}

function blank(): Record<TaskGroup, number> {
  return { "needs-me": 0, running: 0, queued: 0, over: 0 };
}
