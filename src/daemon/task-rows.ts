import type { TaskRow } from "../api/task-lists.ts";
import { briefNeed, type Need } from "../engine/needs.ts";
import type { StoredTask } from "../ports/store.ts";
import { oneLine } from "../text.ts";
import type { Agents } from "./agents/agents.ts";
import { runRecordId } from "./agents/run-order.ts";
import { sayingOf } from "./agents/run-signs.ts";
import { groupOfTask } from "./task-groups.ts";
import { isoTime, viewOf } from "./views.ts";

type RowPorts = Parameters<typeof viewOf>[0] & Parameters<typeof groupOfTask>[0];

const maxLine = 300;

/** A task as lists show it. No git runs for it, and no history is read. */
export async function rowOf(core: RowPorts, stored: StoredTask, needs: readonly Need[]): Promise<TaskRow> {
  const { store, agents } = core;
  const { id } = stored.task;
  const [view, group, size, pullRequest] = await Promise.all([
    viewOf(core, stored, needs),
    groupOfTask(core, stored, needs),
    store.workSizes.get(id),
    store.pullRequests.get(id),
  ]);
  return {
    ...view,
    group,
    since: isoTime(stored.enteredAt),
    ask: askOf(needs),
    doing: doingOf(agents, stored),
    cost: costOf(agents, id),
    lines: size === undefined ? null : { added: size.added, removed: size.removed },
    commits: size?.commits ?? null,
    checks: pullRequest?.checks ?? null,
  };
}

function askOf([first]: readonly Need[]): TaskRow["ask"] {
  if (first === undefined) return null;
  const { reason, command, since } = first;
  return { reason, text: oneLine(briefNeed(first), maxLine), command, since: isoTime(since) };
}

/** What its busiest agent does, or why its agent waits. */
function doingOf(agents: Agents | undefined, { task }: StoredTask): string {
  const runs = Object.values(task.runs).flatMap(({ key }) => {
    const watch = agents?.watchOf(runRecordId(task.id, key));
    return watch === undefined || watch.isOver ? [] : [{ key, signs: watch.signs, what: sayingOf(watch.signs) }];
  });
  const speaking = runs.filter(({ what }) => what !== "");
  const speaker = speaking.find(({ signs }) => signs.activity === "busy") ?? speaking[0];
  if (speaker === undefined) return oneLine(agents?.dispatch.whyWaiting(task.id) ?? "", maxLine);
  return oneLine(runs.length > 1 ? `${speaker.key}: ${speaker.what}` : speaker.what, maxLine);
}

function costOf(agents: Agents | undefined, task: string): TaskRow["cost"] {
  const used = agents?.book.byTask().get(task);
  if (used === undefined) return { dollars: 0, tokens: 0, unknown: 0 };
  const { cost, runs, unknown, inputTokens, outputTokens } = used;
  return { dollars: unknown === runs ? null : cost, tokens: inputTokens + outputTokens, unknown };
}
