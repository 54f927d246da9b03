import type { TimelineTask } from "../../api/overview.ts";
import type { Routes } from "../../api/routes.ts";
import { isPersonsTurn } from "../../engine/persons-turn.ts";
import { Fault } from "../../fault.ts";
import type { Run, StartedRun } from "../../ports/records.ts";
import type { StoredTask } from "../../ports/store.ts";
import { workOf } from "../agents/turns.ts";
import type { Core } from "../core.ts";
import type { Handler } from "../handlers.ts";
import { mustHave } from "../project.ts";
import { type Life, type LifeEvent, type LifeRun, stretchesOf } from "../timeline.ts";
import { isoTime } from "../views.ts";
import { wholeNumber } from "../whole-number.ts";

const defaultWindow = 24 * 3_600_000;
const defaultTasks = 200;
const maxTasks = 500;
/** Of a task with more history, the newest part is shown. */
const maxEvents = 5_000;

/** What each task did when: those that are open, and those that have changed in the window. */
export function listTimeline(core: Core): Handler<Routes["listTimeline"]> {
  return async ({ query }) => {
    if (query.project !== undefined) await mustHave(core, query.project);
    const now = core.clock.now();
    const from = query.since === undefined ? now - defaultWindow : timeOf(query.since);
    const limit = wholeNumber("limit", query.limit, 1, maxTasks) ?? defaultTasks;
    const meant = [...(await core.taskIndex.all())]
      .filter(({ project }) => query.project === undefined || project === query.project)
      .filter(({ open, updatedAt }) => open !== undefined || updatedAt >= from)
      .sort((a, b) => b.updatedAt - a.updatedAt || b.order - a.order);
    const tasks: TimelineTask[] = [];
    for (const { id, open } of meant.slice(0, limit)) {
      // An open task is in the index as it is; one that was deleted meanwhile is left out.
      const stored = open ?? (await core.store.getTask(id));
      if (stored !== undefined) tasks.push(await timelineOf(core, stored, from, now));
    }
    return { since: isoTime(from), until: isoTime(now), tasks, more: Math.max(0, meant.length - limit) };
  };
}

function timeOf(since: string): number {
  const at = Date.parse(since);
  if (!Number.isNaN(at)) return at;
  throw new Fault("request.invalid", `"${since}" is not a date.`, {
    hint: "Write it as 2026-11-15 or 2026-11-15T08:00.",
  });
}

async function timelineOf(core: Core, stored: StoredTask, from: number, now: number): Promise<TimelineTask> {
  const { task, createdAt } = stored;
  const { id, project, number, summary, status, workflowHash } = task;
  const [events, runs, needs, workflow] = await Promise.all([
    eventsOf(core, id),
    core.store.runs.list({ task: id }),
    core.needs.of(stored),
    core.workflows.get(workflowHash).catch(() => undefined),
  ]);
  const life: Life = {
    ...{ createdAt, events, needSince: needs.map(({ since }) => since).toSorted((a, b) => a - b)[0] },
    runs: runs.flatMap((run) => (run.started === undefined ? [] : [lifeRun(core, run, run.started)])),
    kindOf(name) {
      const state = workflow?.states[name];
      if (state === undefined) return "other";
      if (state.terminal) return "end";
      if (isPersonsTurn(state)) return "human";
      return state.wait.kind === "slot" ? "slot" : "other";
    },
  };
  const stretches = stretchesOf(life, now).filter(({ until }) => until >= from);
  return {
    ...{ id, project, number, summary, status, createdAt: isoTime(createdAt), needsPerson: needs.length > 0 },
    outcome: workflow?.states[status]?.outcome ?? null,
    stretches: stretches.map((each) => ({
      ...{ kind: each.kind, state: each.state, runs: [...each.runs], unknown: each.unknown },
      ...{ from: isoTime(each.from), until: isoTime(each.until), dollars: each.cost ?? null },
    })),
  };
}

function lifeRun({ agents }: Core, run: Run, { at, askedAt }: StartedRun): LifeRun {
  const work = workOf(run);
  // A run that was woken has another start, but its first turn began at the first one.
  const startedAt = Math.min(at, work[0]?.from ?? at);
  return { key: run.key, askedAt: askedAt ?? run.at, startedAt, work, cost: agents?.book.of(run.id)?.cost };
}

/** The task's events, the oldest first, without those that a time line has no use for. */
async function eventsOf({ store }: Core, task: string): Promise<readonly LifeEvent[]> {
  const found: LifeEvent[] = [];
  let before = Number.MAX_SAFE_INTEGER;
  for (let read = 0; read < maxEvents; ) {
    const page = await store.listEventsBefore({ task }, before, 1_000);
    for (const { event, at } of page) if (types.has(event.type)) found.push({ type: event.type, data: event.data, at });
    read += page.length;
    before = page.at(-1)?.position ?? 0;
    if (page.length === 0) break;
  }
  return found.reverse();
}

const types: ReadonlySet<string> = new Set([
  ...["task.created", "task.moved", "task.held", "task.continued", "task.attended", "task.working", "task.worked"],
  ...["dialogue.asked", "dialogue.answered", "message.delivered", "message.undelivered"],
  ...["agent.raised", "agent.slept", "agent.woken", "agent.ended"],
  ...["merge.asked", "merge.waits", "merge.landed", "merge.failed"],
]);
