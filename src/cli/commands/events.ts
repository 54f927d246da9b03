import type { UsageRow } from "../../api/agents.ts";
import type { Call, QueryOf } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import type { EventView } from "../../api/tasks.ts";
import { loadConfig } from "../../home/config.ts";
import { callSettings } from "../../home/notify-fields.ts";
import { homePlaces } from "../../home/places.ts";
import { readSince } from "../ask.ts";
import { createAbsence, createCall, followStream } from "../connect.ts";
import type { Context } from "../context.ts";
import { writeEvent } from "../describe-event.ts";
import { nameTask } from "../find.ts";
import { offerTasks } from "../offers.ts";
import { writeTable } from "../tables.ts";
import { count, given, writeCosts, writeDuration, writeJson, writeTokens } from "../text.ts";
import { command } from "./command.ts";
import { eventForm, flag, json, numberFlag, onlyProject, project, taskFlag, textFlag } from "./parameters.ts";

export const events = command({
  parameters: {
    flags: {
      project: { ...project, brief: "Only events of this project" },
      task: { ...textFlag("TASK", "Only events of this task"), proposeCompletions: offerTasks },
      agent: textFlag("A", "Only events by or about this role or run, such as worker or worker#2"),
      after: numberFlag("N", "Only events after this position", 0, Number.MAX_SAFE_INTEGER),
      follow: flag("Follow new events, from now on or since --after"),
      bell: flag(
        "With --follow, ring the terminal's bell: at the start if a task needs you, then whenever you are called",
      ),
      json,
    },
  },
  docs: {
    brief: "Show the events of all tasks, the oldest first",
    fullDescription: `Prints one line for each event: when, which task, what, who, and the details.

--json: { events: [${eventForm}], last }
with --follow: ${eventForm}, one on each line.
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such project or task`,
  },
  async func(flags) {
    const call = createCall(this);
    const { project, agent, after, follow, json } = flags;
    const named = flags.task === undefined ? undefined : await nameTask(call, flags.task);
    const task = named && (await call(routes.getTask, named)).task.id;
    const query = given({ project, task, agent });
    const tell = (event: EventView) => this.print(json ? writeJson(event, 0) : writeEvent(event, this, true));
    if (follow) {
      const ring = flags.bell ? await createBell(this, call, { project, task }) : () => {};
      return followEvents(this, { ...query, ...given({ after: after?.toString() }) }, (event) => {
        tell(event);
        ring(event);
      });
    }
    if (json) {
      const all = await allEvents(call, query, after ?? 0);
      return this.print(writeJson({ events: all, last: all.at(-1)?.position ?? after ?? 0 }));
    }
    let count = 0;
    for await (const page of listEvents(call, query, after ?? 0)) {
      count += page.length;
      for (const event of page) tell(event);
    }
    if (count === 0) this.say('There are no events yet. To create a task: signalbox task create "What is to be done"');
  },
});

/** Rings if a task already needs the person, and then for each new call. */
async function createBell(
  context: Context,
  call: Call,
  scope: { project?: string | undefined; task?: string | undefined },
) {
  const reasons = wantedReasons(context);
  const { project, task } = scope;
  const { tasks } = await call(routes.listTasks, { query: { ...given({ project }), needs: "true", limit: "500" } });
  const there = new Set<string>();
  for (const { id, needs } of task === undefined ? tasks : tasks.filter(({ id }) => id === task))
    for (const { reason } of needs) if (reasons.length === 0 || reasons.includes(reason)) there.add(`${id}:${reason}`);
  const began = Date.now();
  // Bypass the filter for control characters: the bell is intended.
  const ring = () => process.stderr.isTTY && process.stderr.write("\u0007");
  const many = new Set([...there].map((key) => key.split(":")[0])).size;
  if (many > 0) {
    context.say(`${count(many, "task")} ${many === 1 ? "needs" : "need"} you: signalbox task list --needs-me --all`);
    ring();
  }
  let lastCall: unknown;
  return ({ type, data, at, task }: EventView) => {
    // Events of one call ring once; needs from before the start have already rung.
    if (type !== "person.called" || data.call === lastCall || Date.parse(at) < began) return;
    if (there.delete(`${task}:${data.reason}`) && Date.parse(String(data.since)) <= began) return;
    lastCall = data.call;
    ring();
  };
}

/** The reasons to call the person for; empty means all, also if the configuration cannot be read. */
function wantedReasons({ home }: Context): readonly string[] {
  try {
    return callSettings(loadConfig(homePlaces(home).config, "user").config).reasons;
  } catch {
    return [];
  }
}

export const usage = command({
  parameters: {
    flags: {
      by: {
        kind: "enum",
        values: ["run", "task", "role", "harness", "model", "project", "day"],
        brief: "How usage is grouped",
        default: "task",
      },
      since: textFlag("WHEN", "Only runs that began after this: 2026-11-15, 2026-11-15T08:00, 90m, 24h or 7d"),
      project: onlyProject,
      task: taskFlag("TASK", "Only usage of this task"),
      json,
    },
  },
  docs: {
    brief: "Show the usage of agents: tokens, money and time",
    fullDescription: `A cost that the harness does not report is unknown: it is shown as ?, or as $1.20 + ? if only some runs report theirs. Limits are set with keys such as signalbox config set budget.task

--json: { rows: [{ key, name, runs, inputTokens, outputTokens, cachedTokens, cost, unknown, duration }], total }. unknown counts runs without a reported cost, duration is in milliseconds, without the time in which a session rested
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such project or task`,
  },
  async func(flags) {
    const { by, project } = flags;
    const since = flags.since === undefined ? undefined : readSince(flags.since, Date.now());
    const call = createCall(this);
    const named = flags.task === undefined ? undefined : await nameTask(call, flags.task);
    const task = named && (await call(routes.getTask, named)).task.id;
    const answer = await call(routes.listUsage, { query: { by, ...given({ since, project, task }) } });
    if (flags.json) return this.print(writeJson(answer));
    const { rows, total } = answer;
    if (rows.length === 0)
      return this.say('No matching usage yet. To start an agent: signalbox task create "What is to be done"');
    const right = { align: "right" } as const;
    const table = [
      { title: by.toUpperCase(), paint: this.paint.bold },
      { title: "RUNS", ...right },
      { title: "INPUT", ...right },
      { title: "CACHED", ...right },
      { title: "OUTPUT", ...right },
      { title: "COST", ...right },
      { title: "TIME", ...right },
    ];
    this.print(writeTable(table, [...rows, ...(rows.length > 1 ? [total] : [])].map(cells), this.tableWidth));
    if (total.unknown > 0) this.say("\n? is usage that a harness did not report; it is not zero.");
  },
});

function cells(row: UsageRow): readonly string[] {
  const { name, runs, inputTokens, cachedTokens, outputTokens, duration } = row;
  const tokens = [inputTokens, cachedTokens, outputTokens].map(writeTokens);
  return [name, String(runs), ...tokens, writeCosts(row), writeDuration(duration)];
}

/** Passes events on as they happen, until the person interrupts. */
export async function followEvents(
  context: Context,
  query: EventQuery & { readonly after?: string },
  onEvent: (event: EventView) => void,
): Promise<void> {
  const ending = new AbortController();
  const end = () => ending.abort();
  process.once("SIGINT", end);
  process.once("SIGTERM", end);
  try {
    if (context.isTerminal) context.say("New events are shown here. Ctrl-C stops.");
    const absence = createAbsence(context.say);
    await followStream(context, { ...query }, onEvent, ending.signal, {
      onConnected: absence.isOver,
      onLost: absence.goesOn,
    });
  } finally {
    process.off("SIGINT", end);
    process.off("SIGTERM", end);
  }
}

type EventQuery = Pick<QueryOf<typeof routes.listEvents>, "project" | "task" | "agent">;

const pageSize = "1000";

/** The events after a position, page by page. */
async function* listEvents(call: Call, query: EventQuery, after: number): AsyncGenerator<readonly EventView[]> {
  for (let from = after; ; ) {
    const { events, last } = await call(routes.listEvents, {
      query: { ...query, after: String(from), limit: pageSize },
    });
    if (events.length === 0) return;
    yield events;
    from = Math.max(last, events.at(-1)?.position ?? 0);
  }
}

export async function allEvents(call: Call, query: EventQuery, after: number): Promise<readonly EventView[]> {
  const all: EventView[] = [];
  for await (const page of listEvents(call, query, after)) all.push(...page);
  return all;
}
