import { sortRows } from "../api/patch-rows.ts";
import { filled, safeLine } from "./cells.ts";
import { age, clock, money, shortNumber } from "./figures.ts";
import { type Group, nameOf, type State, type TaskRow } from "./state.ts";
import type { Style } from "./style.ts";
import { rowOf, widthsOf } from "./task-row.ts";

/** A line of a list. */
export interface Entry {
  /** Stays the same while the line is about the same thing. */
  readonly key: string;
  /** The task that it is about; empty if it is about none. */
  readonly task: string;
  /** The command that helps, or shows more; empty if there is none. */
  readonly command: string;
  /** A heading, which the cursor passes over. */
  readonly isHead?: true;
  /** Exactly `width` columns. */
  draw(width: number, style: Style, state: State): string;
}

/** The lines of the present screen. `describe` says an event in words. */
export function entriesOf(state: State, describe?: Describe): readonly Entry[] {
  // A frame asks several times for the lines of one state.
  const known = made.get(state);
  if (known !== undefined && (state.screen !== "events" || describe === undefined)) return known;
  const entries = makeEntries(state, describe ?? (() => ""));
  made.set(state, entries);
  return entries;
}

const made = new WeakMap<State, readonly Entry[]>();

function makeEntries(state: State, describe: Describe): readonly Entry[] {
  switch (state.screen) {
    case "tasks":
      return taskEntries(state);
    case "agents":
      return agentEntries(state);
    case "events":
      return eventEntries(state, describe);
    case "problems":
      return problemEntries(state);
    case "merges":
      return mergeEntries(state);
    case "usage":
      return usageEntries(state);
  }
}

export type Describe = (event: State["events"][number]) => string;

const groupTitles: Readonly<Record<Group, string>> = {
  "needs-me": "Needs you",
  running: "Running",
  queued: "Queued",
  over: "Over",
};

/** The lines of the tasks, made anew only where the list is another: what their agents say comes when they are drawn. */
function taskEntries(state: State): readonly Entry[] {
  const parts = [state.tasks, state.filter, state.counts, state.isUnfolded];
  if (listed?.parts.every((part, i) => part === parts[i])) return listed.entries;
  const entries = makeTaskEntries(state);
  listed = { parts, entries };
  return entries;
}

let listed: { readonly parts: readonly unknown[]; readonly entries: readonly Entry[] } | undefined;

function makeTaskEntries(state: State): readonly Entry[] {
  const groups = groupsOf(state.tasks);
  const { filter } = state;
  return (Object.keys(groupTitles) as Group[]).flatMap((group) => {
    if (filter.group !== undefined && filter.group !== group) return [];
    const rows = filter.q === "" ? groups[group] : groups[group].filter((row) => matches(row, filter.q));
    const isNarrow = filter.q !== "" || filter.label !== undefined;
    const count = isNarrow ? rows.length : Math.max(rows.length, state.counts?.[group] ?? 0);
    if (count === 0) return [];
    const isFolded = group === "over" && !state.isUnfolded && filter.q === "" && filter.group === undefined;
    const head: Entry = {
      key: `group:${group}`,
      task: "",
      command: "",
      ...(group === "over" ? {} : { isHead: true as const }),
      draw: (width, style) => {
        const fold = group === "over" ? `${style.mark(isFolded ? "folded" : "unfolded")} ` : "";
        return filled(style.paint("title", `${fold}${groupTitles[group]} ${count}`), width);
      },
    };
    return isFolded ? [head] : [head, ...rows.map(taskEntry)];
  });
}

function taskEntry(row: TaskRow): Entry {
  return {
    key: row.id,
    task: row.id,
    command: row.ask?.command ?? "",
    draw: (width, style, state) => rowOf(row, state, widthsFor(state.tasks, width), style, width),
  };
}

/** As the daemon searches: all words, in any case. */
export function matches(row: TaskRow, q: string): boolean {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  let text = searchable.get(row);
  if (text === undefined) {
    text = [`${row.project}#${row.number}`, row.id, row.branch, row.summary, ...row.labels, row.status]
      .join("\n")
      .toLowerCase();
    searchable.set(row, text);
  }
  return words.every((word) => text.includes(word));
}
const searchable = new WeakMap<TaskRow, string>();

type Groups = Readonly<Record<Group, readonly TaskRow[]>>;
const grouped = new WeakMap<readonly TaskRow[], Groups>();

/** Those that need a person: the one that waits longest first; others: the newest first. */
function groupsOf(tasks: readonly TaskRow[]): Groups {
  const known = grouped.get(tasks);
  if (known !== undefined) return known;
  const of = (group: Group) => tasks.filter((task) => task.group === group);
  const groups = {
    "needs-me": sortRows(of("needs-me"), "waiting"),
    running: sortRows(of("running"), "newest"),
    queued: sortRows(of("queued"), "newest"),
    over: sortRows(of("over"), "updated"),
  };
  grouped.set(tasks, groups);
  return groups;
}

const measured = new WeakMap<readonly TaskRow[], Map<number, ReturnType<typeof widthsOf>>>();

export function widthsFor(tasks: readonly TaskRow[], width: number) {
  const widths = measured.get(tasks) ?? new Map<number, ReturnType<typeof widthsOf>>();
  measured.set(tasks, widths);
  const found = widths.get(width) ?? widthsOf(tasks, width - 1);
  widths.set(width, found);
  return found;
}

const activityRoles = { asks: "ask", busy: "good", starting: "good", unknown: "bad" } as const;

function agentEntries({ runs, now, filter }: State): readonly Entry[] {
  const shown = [...runs.values()]
    .filter((run) => run.activity !== "ended" && (filter.project === undefined || run.project === filter.project))
    .sort((a, b) => a.startedAt.localeCompare(b.startedAt) || a.id.localeCompare(b.id));
  return shown.map((run) => ({
    key: run.id,
    task: run.task,
    command: `signalbox task peek ${run.task} --role ${run.key}`,
    draw: (width, style) => {
      const { activity } = run;
      const role = activity in activityRoles ? activityRoles[activity as keyof typeof activityRoles] : "quiet";
      const mark =
        activity === "asks" ? "needs-me" : activity === "busy" || activity === "starting" ? "running" : "queued";
      const cells = [
        style.paint(role, style.mark(mark)),
        style.paint("strong", filled(`${nameOf(run)}/${run.key}`, 22, "left", style.more)),
        style.paint(role, filled(activity, 8)),
        filled(age(run.since, now), 4, "right"),
        filled(safeLine([run.harness, run.model].filter(Boolean).join(" ")), 18, "left", style.more),
        filled(shortNumber(run.usage.inputTokens + run.usage.outputTokens), 6, "right"),
        filled(money(run.usage.cost, run.usage.cost === null ? 1 : 0), 7, "right"),
        safeLine(run.raised || run.error || run.what || run.summary),
      ];
      return filled(` ${cells.join("  ")}`, width, "left", style.more);
    },
  }));
}

const loudEvents: ReadonlySet<string> = new Set([
  "task.held",
  "effect.failed",
  "agent.raised",
  "message.undelivered",
  "merge.failed",
]);

function eventEntries({ events, filter, tasks }: State, describe: Describe): readonly Entry[] {
  const names = new Map(tasks.map((task) => [task.id, nameOf(task)]));
  const shown = filter.project === undefined ? events : events.filter(({ project }) => project === filter.project);
  return shown.toReversed().map((event) => ({
    key: String(event.position),
    task: event.task,
    command: event.task === "" ? "signalbox events" : `signalbox task history ${event.task}`,
    draw: (width, style) => {
      const role = loudEvents.has(event.type) ? "bad" : event.type === "person.called" ? "ask" : "accent";
      const cells = [
        style.paint("quiet", clock(event.at)),
        style.paint("strong", filled(names.get(event.task) ?? (event.task || "home"), 14, "left", style.more)),
        style.paint(role, filled(event.type, 18, "left", style.more)),
        filled(safeLine(event.by), 9, "left", style.more),
        safeLine(describe(event)),
      ];
      return filled(` ${cells.join("  ")}`, width, "left", style.more);
    },
  }));
}

/** What of a task's needs is no plain question or approval. */
const calm: ReadonlySet<string> = new Set(["question", "approval"]);

function problemEntries({ tasks, troubles, filter }: State): readonly Entry[] {
  const own = troubles.map(
    ({ text, command }, at): Entry => ({
      key: `home:${at}:${text}`,
      task: "",
      command,
      draw: (width, style) => problemLine("home", "", text, command, width, style),
    }),
  );
  const ofTasks = tasks
    .filter((task) => filter.project === undefined || task.project === filter.project)
    .flatMap((task) =>
      task.needs
        .filter(({ reason }) => !calm.has(reason))
        .map(
          (need, at): Entry => ({
            key: `${task.id}:${need.reason}:${at}`,
            task: task.id,
            command: need.command,
            draw: (width, style) => problemLine(nameOf(task), need.reason, need.brief, need.command, width, style),
          }),
        ),
    );
  return [...own, ...ofTasks];
}

function problemLine(name: string, reason: string, text: string, command: string, width: number, style: Style): string {
  const head = ` ${style.paint("bad", style.mark("bad"))} ${style.paint("strong", filled(name, 14, "left", style.more))} ${style.paint("bad", filled(reason, 10))} `;
  const room = Math.max(0, width - 29);
  const shown = command === "" ? "" : ` ${style.mark("arrow")} ${safeLine(command)}`;
  const forText = Math.max(Math.min(20, room), room - shown.length);
  return filled(
    `${head}${filled(safeLine(text), forText, "left", style.more)}${style.paint("accent", shown)}`,
    width,
    "left",
    style.more,
  );
}

function mergeEntries({ merges, now, filter }: State): readonly Entry[] {
  if (merges === undefined) return [];
  const isMeant = ({ project }: { project: string }) => filter.project === undefined || project === filter.project;
  const head = (key: string, title: string): Entry => ({
    ...{ key, task: "", command: "", isHead: true },
    draw: (width, style) => filled(style.paint("title", title), width, "left", style.more),
  });
  const waiting = merges.queues.filter(isMeant).flatMap(({ project, target, entries }) => [
    head(`queue:${project}:${target}`, `Into ${safeLine(target)} of ${project}`),
    ...entries.map(
      (entry): Entry => ({
        ...{ key: `queued:${entry.task}`, task: entry.task, command: `signalbox task explain ${entry.task}` },
        draw: (width, style) => {
          const role = entry.state === "waits" ? "ask" : entry.state === "lined-up" ? "quiet" : "good";
          const said = safeLine([entry.reason, ...entry.files].filter(Boolean).join(" · ") || entry.summary);
          const name = style.paint("strong", filled(`${project}#${entry.number}`, 16, "left", style.more));
          return filled(
            ` ${style.paint(role, filled(entry.state, 9))} ${filled(age(entry.at, now), 4, "right")}  ${name}  ${said}`,
            width,
            "left",
            style.more,
          );
        },
      }),
    ),
  ]);
  const ended = merges.ended.filter(isMeant);
  if (ended.length === 0) return waiting;
  return [
    ...waiting,
    head("ended", "Ended"),
    ...ended.map(
      (merge): Entry => ({
        ...{ key: `ended:${merge.task}:${merge.endedAt}`, task: merge.task },
        command:
          merge.state === "merged"
            ? `signalbox task merge ${merge.task} --undo`
            : `signalbox task explain ${merge.task}`,
        draw: (width, style) => {
          const isMerged = merge.state === "merged";
          const role = isMerged ? "good" : merge.state === "undone" ? "quiet" : "bad";
          const name = style.paint("strong", filled(nameOf(merge), 16, "left", style.more));
          const said = safeLine(
            [merge.reason, ...merge.files].filter(Boolean).join(" · ") || `into ${merge.target}: ${merge.summary}`,
          );
          const state = style.paint(role, `${style.mark(isMerged ? "over" : "bad")} ${filled(merge.state, 8)}`);
          return filled(
            ` ${state} ${filled(age(merge.endedAt, now), 4, "right")}  ${name}  ${said}`,
            width,
            "left",
            style.more,
          );
        },
      }),
    ),
  ];
}

function usageEntries({ usage }: State): readonly Entry[] {
  if (usage === undefined) return [];
  const cells = (
    row: {
      name: string;
      runs: number;
      inputTokens: number;
      cachedTokens: number;
      outputTokens: number;
      cost: number;
      unknown: number;
    },
    style: Style,
  ) =>
    [
      filled(safeLine(row.name), 26, "left", style.more),
      filled(String(row.runs), 6, "right"),
      ...[row.inputTokens, row.cachedTokens, row.outputTokens].map((each) => filled(shortNumber(each), 8, "right")),
      filled(money(row.unknown >= row.runs && row.runs > 0 ? null : row.cost, row.unknown), 10, "right"),
    ].join("  ");
  return [
    {
      ...{ key: "head", task: "", command: "", isHead: true },
      draw: (width, style) =>
        filled(
          style.paint(
            "quiet",
            `  ${filled(`BY ${usage.by.toUpperCase()}`, 26)}    RUNS     INPUT    CACHED    OUTPUT        COST`,
          ),
          width,
        ),
    },
    ...usage.rows.map(
      (row): Entry => ({
        ...{ key: row.key, task: usage.by === "task" ? row.key : "", command: `signalbox usage --by ${usage.by}` },
        draw: (width, style) => filled(`  ${cells(row, style)}`, width, "left", style.more),
      }),
    ),
    {
      ...{ key: "total", task: "", command: "signalbox usage" },
      draw: (width, style) =>
        filled(
          style.paint("strong", `  ${cells({ ...usage.total, name: "total" }, style)}`),
          width,
          "left",
          style.more,
        ),
    },
  ];
}
