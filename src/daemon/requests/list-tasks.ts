import type { Routes } from "../../api/routes.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { StoredTask } from "../../ports/store.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { effectView, pullRequestView, taskView } from "../views.ts";
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
      ...(open === undefined ? {} : { isOpen: open === "true" }),
    };
    const page = await core.store.listTasks(filter, before === undefined ? { limit } : { before, limit });
    const tasks = await Promise.all(
      page.map(async (stored) => taskView(stored, await workflowOf(core, stored), core.agents)),
    );
    return { tasks, next: page.length < limit ? null : (page.at(-1)?.order ?? null) };
  };
}

export function getTask(core: Core): Handler<Routes["getTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const effects = await core.store.listEffects(stored.task.id);
    const record = await core.store.pullRequests.get(stored.task.id);
    return {
      task: taskView(stored, await workflowOf(core, stored), core.agents),
      effects: effects.map(effectView),
      pullRequest: record === undefined ? null : pullRequestView(record),
    };
  };
}

/** One task whose workflow does not load any more must not hide the others. */
function workflowOf({ workflows }: Core, { task }: StoredTask): Promise<Workflow | undefined> {
  return workflows.get(task.workflowHash).catch(() => undefined);
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
