import type { Routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import type { StoredTask } from "../../ports/store.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { effectView, pullRequestView, viewOf } from "../views.ts";
import { findTask } from "./find-task.ts";

const usualPage = 100;
const mostTasks = 1_000;

export function listTasks(core: Core): Handler<Routes["listTasks"]> {
  return async ({ query }) => {
    const { project, status, parent, open } = query;
    const limit = wholeNumber("limit", query.limit, 1, mostTasks) ?? usualPage;
    const before = wholeNumber("before", query.before, 0);
    const filter = {
      ...(project === undefined ? {} : { project }),
      ...(status === undefined ? {} : { status }),
      ...(parent === undefined ? {} : { parent }),
      ...(query.needs !== undefined ? { isOpen: true } : open === undefined ? {} : { isOpen: open === "true" }),
    };
    const isMeant = async (stored: StoredTask) => query.needs === undefined || (await core.needs.of(stored)).length > 0;
    const found: StoredTask[] = [];
    // Those that need nobody are not looked at again: of many tasks few may be meant.
    const size = query.needs === undefined ? limit : mostTasks;
    for (let last = before; found.length < limit; ) {
      const page = await core.store.listTasks(
        filter,
        last === undefined ? { limit: size } : { before: last, limit: size },
      );
      for (const stored of page) if (found.length < limit && (await isMeant(stored))) found.push(stored);
      last = page.at(-1)?.order;
      if (page.length < size || found.length >= limit) break;
    }
    const tasks = await Promise.all(found.map((stored) => viewOf(core, stored)));
    return { tasks, next: found.length < limit ? null : (found.at(-1)?.order ?? null) };
  };
}

export function getTask(core: Core): Handler<Routes["getTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const effects = await core.store.listEffects(stored.task.id);
    const record = await core.store.pullRequests.get(stored.task.id);
    const workflow = await core.workflows.get(stored.task.workflowHash).catch(() => undefined);
    return {
      task: await viewOf(core, stored),
      effects: effects.map(effectView),
      pullRequest: record === undefined ? null : pullRequestView(record),
      ...(workflow === undefined ? {} : { states: Object.keys(workflow.states) }),
    };
  };
}

/** Numbers in a query are text. */
export function wholeNumber(
  name: string,
  value: string | undefined,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): number | undefined {
  if (value === undefined || value === "") return undefined;
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new Fault("request.invalid", `"${name}" must be a whole number from ${least} to ${most}, but is "${value}".`);
}
