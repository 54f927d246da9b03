import type { UsageRow } from "../../api/agents.ts";
import type { Routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import type { Usage } from "../../ports/records.ts";
import { addUp } from "../agents/usage.ts";
import { findTask } from "../authorise.ts";
import type { Core } from "../core.ts";
import type { Handler } from "../handlers.ts";
import { allTasks, shownTask } from "../project.ts";
import { budgetView } from "../views.ts";
import { agentsOf } from "./tasks.ts";

/** What usage can be grouped by, each with the key of a run's usage. */
const keys = {
  run: ({ id }) => id,
  task: ({ task }) => task,
  role: ({ role = "" }) => role,
  agent: ({ agent = "" }) => agent,
  harness: ({ harness = "" }) => harness,
  model: ({ model }) => model || "unknown",
  project: ({ project }) => project,
  day: ({ at }) => dayOf(at),
} satisfies Readonly<Record<string, (usage: Usage) => string>>;
type By = keyof typeof keys;

export function listUsage(core: Core): Handler<Routes["listUsage"]> {
  return async (asked) => {
    const { book } = agentsOf(core);
    const { project, task, since } = asked.query;
    const by = keysIn(asked.query.by ?? "task");
    const about = task === undefined ? undefined : (await findTask(core, { ...asked, params: { task } })).task.id;
    const from = since === undefined ? 0 : Date.parse(since);
    if (Number.isNaN(from))
      throw new Fault("usage", `"${since}" is not a date.`, { hint: "Write it as 2026-11-15 or 2026-11-15T08:00." });
    const matching = book
      .list()
      .filter((usage) => usage.at >= from)
      .filter((usage) => project === undefined || usage.project === project)
      .filter((usage) => about === undefined || usage.task === about);
    const groups = Map.groupBy(matching, (usage) => by.map((each) => keys[each](usage)).join(separator));
    const rows = await Promise.all([...groups.values()].map((all) => rowOf(core, by, all)));
    return {
      rows: rows.sort(by.includes("day") ? inTime : byCost),
      total: { key: "total", name: "total", ...addUp(matching) },
      ...(asked.query.budgets === "true" ? { budgets: await openBudgets(core, project, about) } : {}),
    };
  };
}

/** No id, name or day contains it. */
const separator = "\n";

/** One key, or two different ones. */
function keysIn(by: string): readonly By[] {
  const named = by.split(",");
  const isRight = named.every((each) => Object.hasOwn(keys, each)) && new Set(named).size === named.length;
  if (isRight && named.length <= 2) return named as readonly By[];
  throw new Fault(
    "request.invalid",
    `"by" must be one of ${Object.keys(keys).join(", ")}, or two of them with a comma.`,
    {
      hint: "For example: by=project,day",
    },
  );
}

/** Days in order; everything else by cost, highest first. */
const inTime = (a: UsageRow, b: UsageRow) =>
  (a.keys?.day ?? "").localeCompare(b.keys?.day ?? "") || a.key.localeCompare(b.key);
const byCost = (a: UsageRow, b: UsageRow) => b.cost - a.cost || b.outputTokens - a.outputTokens;

async function rowOf(core: Core, by: readonly By[], all: readonly Usage[]): Promise<UsageRow> {
  const [first] = all;
  const own = first === undefined ? [] : by.map((each) => [each, keys[each](first)] as const);
  const names = await Promise.all(own.map(([each, key]) => nameOf(core, key, each, first)));
  const key = own.map(([, key]) => key).join(" ");
  return { key, name: names.join(" "), keys: Object.fromEntries(own), ...addUp(all) };
}

/** `coffee#12`, `coffee#12/worker#1`; groups other than tasks and runs are named by their key. */
async function nameOf({ store }: Core, key: string, by: By, first: Usage | undefined): Promise<string> {
  if (first === undefined || (by !== "task" && by !== "run")) return key;
  const task = (await store.getTask(first.task))?.task;
  if (task === undefined) return key;
  const name = shownTask(task);
  return by === "task" ? name : `${name}/${first.run}`;
}

/** Days are in the local time zone. */
function dayOf(at: number): string {
  const day = new Date(at);
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
}

/** More budgets than a person watches. */
const maxBudgets = 200;

/** The budgets of open tasks, each once, with what is left. Those with the least left come first. */
async function openBudgets(core: Core, project: string | undefined, task: string | undefined) {
  const open = await allTasks(core.store, { isOpen: true, ...(project === undefined ? {} : { project }) });
  const found = [];
  for (const { task: each } of open) {
    if (task !== undefined && each.id !== task) continue;
    const accounts = (await core.agents?.budgets.accountsOf(each)) ?? [];
    // A budget of a parent is in the row of the parent, unless one task was asked for.
    const own = accounts.filter(({ owner }) => task !== undefined || owner.id === each.id);
    found.push(...own.map((account) => ({ task: account.owner.id, ...budgetView(account) })));
  }
  return found.sort((a, b) => a.left / a.limit - b.left / b.limit).slice(0, maxBudgets);
}
