import type { UsageRow } from "../../api/agent-wires.ts";
import type { Routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import type { Usage } from "../../ports/records.ts";
import { addUp } from "../agents/usage-book.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { agentsOf } from "./agents-of.ts";
import { findTask } from "./find-task.ts";

export function listUsage(core: Core): Handler<Routes["listUsage"]> {
  return async (asked) => {
    const { book } = agentsOf(core);
    const { by = "task", project, task, since } = asked.query;
    const about = task === undefined ? undefined : (await findTask(core, { ...asked, params: { task } })).task.id;
    const from = since === undefined ? 0 : Date.parse(since);
    if (Number.isNaN(from))
      throw new Fault("usage", `"${since}" is no date.`, { hint: "Write it as 2026-11-15 or 2026-11-15T08:00." });
    const meant = book
      .list()
      .filter((usage) => usage.at >= from)
      .filter((usage) => project === undefined || usage.project === project)
      .filter((usage) => about === undefined || usage.task === about);
    const groups = Map.groupBy(meant, (usage) => keyOf(usage, by));
    const rows = await Promise.all(
      [...groups].map(async ([key, all]) => row(key, await nameOf(core, key, by, all), all)),
    );
    return {
      rows: rows.sort(by === "day" ? inTime : byCost),
      total: row("total", "total", meant),
    };
  };
}

/** Days as they came; everything else with the dearest first. */
const inTime = (a: UsageRow, b: UsageRow) => a.key.localeCompare(b.key);
const byCost = (a: UsageRow, b: UsageRow) => b.cost - a.cost || b.outputTokens - a.outputTokens;

function row(key: string, name: string, all: readonly Usage[]): UsageRow {
  return { key, name, ...addUp(all) };
}

/** `coffee#12`, `coffee#12/worker#1`; whatever is no task is called by its key. */
async function nameOf({ store }: Core, key: string, by: string, [first]: readonly Usage[]): Promise<string> {
  if (first === undefined || (by !== "task" && by !== "run")) return key;
  const task = (await store.getTask(first.task))?.task;
  if (task === undefined) return key;
  const name = `${task.project}#${task.number}`;
  return by === "task" ? name : `${name}/${first.run}`;
}

function keyOf({ id, task, role = "", harness = "", model, project, at }: Usage, by: string): string {
  switch (by) {
    case "run":
      return id;
    case "role":
      return role;
    case "harness":
      return harness;
    case "model":
      return model || "unknown";
    case "project":
      return project;
    case "day":
      return dayOf(at);
    default:
      return task;
  }
}

/** Days are the person's. */
function dayOf(at: number): string {
  const day = new Date(at);
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
}
